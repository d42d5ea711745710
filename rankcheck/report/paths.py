"""The text of paths: coordinates, arrows, crosses, rings, and grids of cells by level."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby

__all__ = ["LEVELS", "Grid", "arrow", "coordinate", "cross", "levels", "ring"]

Point = tuple[float, float]
Grid = Sequence[Sequence[float]]

#: Shades of a colour, from none at all to the whole.
LEVELS = 10
#: The length of the head of an arrow, and the radius of a cross and of a ring, in units.
_HEAD, _RADIUS = 7.0, 4.0


def coordinate(value: float) -> str:
    """A coordinate with at most one decimal.

    Raises:
        ValueError: if it is not finite.

    >>> coordinate(12.04), coordinate(-0.01), coordinate(7.26)
    ('12', '0', '7.3')
    """
    if not math.isfinite(value):
        raise ValueError(f"received the coordinate {value}; a chart shows finite numbers")
    return f"{round(value, 1) + 0.0:g}" if abs(value) < 1e5 else f"{value:.0f}"


def pair(x: float, y: float) -> str:
    """Two coordinates."""
    return f"{coordinate(x)} {coordinate(y)}"


def arrow(start: Point, end: Point) -> str:
    """A line with a head of two short lines; nothing where both ends are the same.

    >>> arrow((0, 0), (20, 0))
    'M0 0L20 0M13 -3.5L20 0L13 3.5'
    """
    (x, y), (u, v) = start, end
    first, last, length = pair(x, y), pair(u, v), math.hypot(u - x, v - y)
    if length < 0.1:
        return ""
    head = min(_HEAD, length) / length
    along, across = ((u - x) * head, (v - y) * head), ((v - y) * head / 2, (x - u) * head / 2)
    sides = [(u - along[0] + s * across[0], v - along[1] + s * across[1]) for s in (1, -1)]
    return f"M{first}L{last}M{pair(*sides[0])}L{last}L{pair(*sides[1])}"


def cross(x: float, y: float) -> str:
    """A cross at a place."""
    r, d = _RADIUS, 2 * _RADIUS
    return f"M{pair(x - r, y - r)}l{d:g} {d:g}m0 {-d:g}l{-d:g} {d:g}"


def ring(x: float, y: float) -> str:
    """A circle about a place."""
    r, d = _RADIUS, 2 * _RADIUS
    return f"M{pair(x - r, y)}a{r:g} {r:g} 0 1 0 {d:g} 0a{r:g} {r:g} 0 1 0 {-d:g} 0"


def levels(grids: Iterable[tuple[Point, Grid]]) -> dict[int, str]:
    """By level from 1 to `LEVELS`, the cells of grids that have it, as strokes of width 1.

    A unit is a cell: each grid comes with the centre of the left edge of its first cell, from where
    rows go down. A value in [0, 1] has the nearest level; level 0 is not drawn.

    Raises:
        ValueError: if a value lies outside.

    >>> levels([((0, 0), [[1, 1, 0, 0.5], [0, 0, 1, 0]])])
    {10: 'M0 0h2m0 1h1', 5: 'M3 0h1'}
    """
    text: dict[int, str] = {}
    at: dict[int, Point] = {}
    for (left, top), rows in grids:
        for number, row in enumerate(rows):
            for value in row:
                if not 0 <= value <= 1:
                    raise ValueError(f"received the value {value} of a cell; it lies in [0, 1]")
            begin = 0
            for level, run in groupby(round(value * LEVELS) for value in row):
                count = sum(1 for _ in run)
                if level:
                    x, y = round(left + begin, 1), round(top + number, 1)
                    u, v = at.get(level, (0.0, 0.0))
                    move = "m" if level in at else "M"
                    text[level] = f"{text.get(level, '')}{move}{pair(x - u, y - v)}h{count}"
                    at[level] = (x + count, y)
                begin += count
    return text
