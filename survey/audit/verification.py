"""Walk the chain of the audit log."""

from collections.abc import Iterator

from survey.models.log import FIRST, Entry


class Broken(Exception):
    """The first entry that is not what it was, and why."""


def verified(noted: str = "") -> Iterator[Entry]:
    """Every entry in its order; Broken at the first that is wrong, or if a noted head is gone."""
    previous, found = FIRST, not noted
    entries = Entry.objects.order_by("number").iterator(chunk_size=1000)
    for number, entry in enumerate(entries, 1):
        if entry.number != number:
            raise Broken(f"Entry {number} is missing; {entry.number} comes in its place.")
        if entry.previous != previous:
            raise Broken(f"Entry {number} does not follow the one before it.")
        if entry.hash != entry.own_hash():
            raise Broken(f"Entry {number} is not what was written.")
        previous = entry.hash
        found = found or previous == noted
        yield entry
    if not found:
        raise Broken(f"{noted} is not in the log: its end is gone, or all was written anew.")
