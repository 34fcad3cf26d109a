"""Verification of the audit log's chain."""

from collections.abc import Iterator

from survey.models.log import FIRST, Entry


class BrokenChain(Exception):
    """The first entry that is wrong, and why."""


def verified_entries(noted: str = "") -> Iterator[Entry]:
    """Yield every entry in order; BrokenChain if one is wrong or a head noted earlier is gone."""
    previous, found = FIRST, not noted
    entries = Entry.objects.order_by("number").iterator(chunk_size=1000)
    for number, entry in enumerate(entries, 1):
        if entry.number != number:
            raise BrokenChain(f"Entry {number} is missing; {entry.number} is in its place.")
        if entry.previous != previous:
            raise BrokenChain(f"Entry {number} does not follow the one before it.")
        if entry.hash != entry.own_hash():
            raise BrokenChain(f"Entry {number} has been changed.")
        previous = entry.hash
        found = found or previous == noted
        yield entry
    if not found:
        raise BrokenChain(f"{noted} is not in the log: its end is missing or it was rewritten.")
