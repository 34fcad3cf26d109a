"""Estimation from randomized reports: pure NumPy and SciPy, usable from a notebook.

Numbers in, numbers out. Nothing here imports Django, reads a clock or a generator, prints or logs.
"""
