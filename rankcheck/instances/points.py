"""Point sets with distinct points, by construction."""

from __future__ import annotations

import itertools
from typing import Any

import torch

from rankcheck.instances.source import Source

#: Points of the lattice are so far apart, and moved by at most 1 in each coordinate.
SPACING = 3.0


def distinct_points(source: Source, count: int, dimension: int) -> Any:
    """Points (*batch, count, dimension), any two at least 1 apart in some coordinate.

    Each is near a point of a lattice of its own, so that before they are moved many have the same
    coordinates: a direction that separates all of them has to be looked for.
    """
    side = next(side for side in itertools.count(1) if side**dimension >= count)
    index = torch.arange(count, dtype=torch.float64)
    corners = torch.stack([index // side**axis % side for axis in range(dimension)], -1)
    moved = source.tensor(count, dimension, low=-1.0, high=1.0)
    return moved + SPACING * corners.to(moved.device)
