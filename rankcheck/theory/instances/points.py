"""Boxes, points in boxes, and sets of distinct points."""

from __future__ import annotations

import itertools
from typing import Any

import torch

from rankcheck.theory.instances.source import Source

#: The spacing of the lattice in `distinct_points`, whose points move by at most 1.
SPACING = 3.0


def box(source: Source, dimension: int) -> tuple[Any, Any]:
    """The corners low ≤ high of a box in [-4, 4]^d; a side may have length zero."""
    centre = source.tensor(dimension, low=-2.0, high=2.0)
    radius = source.tensor(dimension, low=0.0, high=2.0)
    return centre - radius, centre + radius


def point_in(source: Source, low: Any, high: Any) -> Any:
    """A point (d) of the box, the faces included."""
    return low + source.tensor(low.shape[-1], low=0.0, high=1.0) * (high - low)


def points_in(source: Source, low: Any, high: Any, count: int) -> Any:
    """Points (count, d) of the box, the faces included."""
    share = source.tensor(count, low.shape[-1], low=0.0, high=1.0)
    return low.unsqueeze(-2) + share * (high - low).unsqueeze(-2)


def distinct_points(source: Source, count: int, dimension: int) -> Any:
    """Points (count, dimension), any two at least 1 apart in some coordinate.

    Each is near its own point of a lattice, where many points agree in a coordinate. So it is not
    always a coordinate axis that separates all of them.
    """
    side = next(side for side in itertools.count(1) if side**dimension >= count)
    index = torch.arange(count, dtype=torch.float64)
    corners = torch.stack([index // side**axis % side for axis in range(dimension)], -1)
    moved = source.tensor(count, dimension, low=-1.0, high=1.0)
    return moved + SPACING * corners.to(moved.device)
