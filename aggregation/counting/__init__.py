"""Reports as bits, and what is counted in them. Pure: no Django."""
