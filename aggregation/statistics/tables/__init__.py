"""What tables of reports say about answers that go together.

Notebooks import these names from ``joint``, ``regression`` and ``weights``.
"""
