"""Check that a running installation keeps its promises, from outside and from inside.

A check is a function that raises `Failed`, with what is wrong and how to fix it. No check leaves
anything behind.
"""
