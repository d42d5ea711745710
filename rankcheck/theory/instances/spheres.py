"""Unit vectors, and pairs of them where the networks of the depth separation have large errors.

Stereographic points are rational in what is drawn, so on balls their length is exactly one.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from rankcheck.theory.instances.matrices import signs
from rankcheck.theory.instances.source import Source
from rankcheck.theory.separation.legendre import stereographic
from rankcheck.theory.witnesses.inner_product import pair_with_sum

#: The positions of a pair x, x'; the last two put x + x' on a grid.
POSITIONS = ("independent", "aligned", "opposite", "knots", "middles")
OFF_GRID = POSITIONS[:3]
#: Two vectors count as parallel when the squared sine of their angle is at most this.
PARALLEL = 2.0**-12


def unit_vectors(source: Source, *shape: int) -> Any:
    """Points of S^{d-1}, shape (*shape) with d the last axis.

    The points of S^0 are 1 and −1. If d >= 2, the pole (0, ..., 1) is never among them.

    Raises:
        ValueError: unless d >= 1.
    """
    if not shape or shape[-1] < 1:
        raise ValueError(f"received shape {shape}; unit vectors have a last axis of at least 1")
    if shape[-1] == 1:
        return signs(source, *shape)
    return stereographic(source.tensor(*shape[:-1], shape[-1] - 1, low=-3.0, high=3.0))


def unit_pair(source: Source, d: int, cells: int) -> tuple[Any, Any]:
    """Two unit vectors x, x' (d) in a drawn position.

    In the last two positions every x_i + x'_i is a multiple of h = 2/cells, or such a multiple plus
    h/2: the knots and the middles of the cells of the network for the inner product. On S^0, where
    the sums are −2, 0 and 2, these positions are left out.
    """
    position = source.choice(POSITIONS if d > 1 else OFF_GRID)
    if position == "knots":
        return pair_on_grid(source, d, cells, middles=False)
    if position == "middles":
        return pair_on_grid(source, d, cells, middles=True)
    x = unit_vectors(source, d)
    if position == "independent":
        return x, unit_vectors(source, d)
    return x, (x if position == "aligned" else -x)


def pair_on_grid(source: Source, d: int, cells: int, *, middles: bool) -> tuple[Any, Any]:
    """Unit vectors whose sum has entries that are multiples of h = 2/cells, plus h/2 for `middles`.

    Needs cells >= d, so that the sum is not longer than 2.

    Raises:
        ValueError: unless d >= 2.
    """
    if d < 2:
        raise ValueError(f"received d = {d}; on S^0 the sum of two points is -2, 0 or 2")
    steps = source.tensor(d, low=-1.0, high=1.0) * cells / (2 * (math.isqrt(d - 1) + 1))
    total = (torch.floor(steps) + (0.5 if middles else 0.0)) * 2 / cells
    across = source.tensor(d, low=-2.0, high=2.0)
    square = (total * total).sum(-1, keepdim=True)
    size = (across * across).sum(-1, keepdim=True)
    rest = size * square - (across * total).sum(-1, keepdim=True) ** 2
    lost = (rest <= PARALLEL * size * square) & ((square > 0) | (size == 0))
    return pair_with_sum(total, torch.where(lost, _orthogonal(total), across))


def _orthogonal(s: Any) -> Any:
    """A vector orthogonal to s and not zero: (-s_2, s_1, 0, ...), or the first unit vector."""
    first, second, rest = s[..., :1], s[..., 1:2], s[..., 2:]
    flat = (first == 0) & (second == 0)
    return torch.cat((torch.where(flat, 0 * second + 1, -second), first, 0 * rest), -1)
