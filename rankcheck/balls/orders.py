"""Orders of numbers: order statistics of balls, and the order of numbers that are all compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from flint import arb, fmpq

from rankcheck.balls.formal import Formal, Undecided, undefined
from rankcheck.balls.numbers import Number, unknown


def sorted_numbers(row: Sequence[Number], descending: bool = False) -> list[Number]:
    """Enclosures of the order statistics.

    The i-th smallest of reals x_j in [l_j, u_j] lies between the i-th smallest l and the i-th
    smallest u. A number with exactly these bounds is returned unchanged.
    """
    if all(isinstance(x, fmpq) for x in row):
        return sorted(row, reverse=descending)
    if any(isinstance(x, Formal) for x in row):
        return [row[i] for i in compared_order(row, descending)]
    if not all(isinstance(x, fmpq) or x.is_finite() for x in row):
        return [unknown() for _ in row]
    by_middle = sorted(row, key=middle)
    if not all(a <= b for a, b in pairwise(by_middle)):
        ends = [(arb(x).lower(), arb(x).upper()) for x in by_middle]
        lows, highs = sorted(low for low, _ in ends), sorted(high for _, high in ends)
        by_middle = [
            x if own_low == low and own_high == high else low.union(high)
            for x, (own_low, own_high), low, high in zip(by_middle, ends, lows, highs, strict=True)
        ]
    return by_middle[::-1] if descending else by_middle


def compared_order(row: Iterable[Number], descending: bool = False) -> list[int]:
    """The stable sorting permutation of numbers whose comparisons are all decided."""
    keys = [_Key(x) for x in row]
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=descending)


class _Key:
    """A number as a sort key, by comparisons alone; with what may be undefined it has none."""

    def __init__(self, number: Number) -> None:
        self.number = number

    def __lt__(self, other: _Key) -> bool:
        if undefined(self.number) or undefined(other.number):
            raise Undecided("no exact form: an order of numbers of which one may be undefined")
        return bool(self.number < other.number)


def middle(x: Number) -> arb:
    """The midpoint of x, as a sort key."""
    return arb(x).mid() if isinstance(x, fmpq) else x.mid()
