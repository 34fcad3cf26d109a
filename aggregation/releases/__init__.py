"""From the inbox to published estimates: collect, read, estimate, store; and what is due."""
