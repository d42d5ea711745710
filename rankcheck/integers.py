"""Integers of any size in relations, whose arrays hold 64 bits."""

from __future__ import annotations

__all__ = ["comparable"]

#: Integers below this in size are compared as they are.
LIMIT = 2**62


def comparable(a: int, b: int) -> tuple[int, int]:
    """Two integers of at most 63 bits in the same order: a and b themselves, if both are so small.

    Otherwise their difference, cut off at ±2^62, and 0: no digit that decides the order is lost.
    """
    if max(abs(a), abs(b)) < LIMIT:
        return a, b
    return max(-LIMIT, min(LIMIT, a - b)), 0
