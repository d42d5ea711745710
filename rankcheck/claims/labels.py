"""What the relations of a claim, and the entries of their sides, are called; long texts are cut."""

from collections.abc import Sequence

#: Texts of instances are cut off after so many characters; the certificate has them whole.
READABLE = 2000


def relation_name(label: str, number: int) -> str:
    """What a relation is called: its label, or `relation 1` for the first without one."""
    return label or f"relation {number + 1}"


def at_entry(index: Sequence[int], entries: int) -> str:
    """Which entry of the sides it is; empty if they have one.

    >>> at_entry((1, 2), 6), at_entry((3,), 4), at_entry((), 1)
    (' at entry (1, 2) of 6, counted from 0', ' at entry 3 of 4, counted from 0', '')
    """
    place = index[0] if len(index) == 1 else tuple(index)
    return f" at entry {place} of {entries}, counted from 0" if entries > 1 else ""


def readable(text: str, most: int = READABLE) -> str:
    """A text that is cut off where it is long."""
    return text if len(text) <= most else f"{text[:most]} … ({len(text)} characters)"
