"""Loops around stars of rays: all layers but the last are drawn, and the last closes the loop."""

from __future__ import annotations

from typing import Any

import torch

from rankcheck.instances.matrices import orthogonal
from rankcheck.instances.networks import Range, Slopes, slope
from rankcheck.instances.source import Source, instances
from rankcheck.witnesses.loops import Loop, activate, close


def star(source: Source, width: int, rays: int, spine: int, kinked: int) -> tuple[Any, Any]:
    """Pre-activations (width × rays) and a spine (width × spine) that is zero at kinked units."""
    across = source.tensor(width, rays, low=-4.0, high=4.0)
    if spine == 0:
        return across, across[..., :0]
    along = source.tensor(width, spine, low=-4.0, high=4.0)
    linear = (torch.arange(width) >= kinked).unsqueeze(-1)
    return across, torch.where(linear, along, 0 * along)


def loop_around(
    source: Source, across: Any, along: Any, kinked: int, a: Any, *, length: Range = (1, 4)
) -> Loop:
    """A loop of drawn length and widths around the star of given pre-activations and spine."""
    rays, spine = across.shape[-1], along.shape[-1]
    layers = source.integer(*length)
    # The layer before the last has as many units as there are rays, or one more or less.
    widths = [source.integer(max(1, spine), 4) for _ in range(layers - 2)]
    if layers > 1:
        widths.append(source.integer(max(1, rays + spine - 1), rays + spine + 1))
    counts, weights = [], []
    u, v = activate(across, kinked, a), along
    start = u
    for n in widths:
        count = source.integer(0, n - spine)
        W = source.tensor(n, u.shape[-2], low=-2.0, high=2.0)
        if spine:
            blind = W - (W @ v) @ v.mT / positive_square(v)
            W = torch.where((torch.arange(n) < count).unsqueeze(-1), blind, W)
        weights.append(W)
        counts.append(count)
        u, v = activate(W @ u, count, a), W @ v
    weights.append(close(torch.cat((across, along), -1), torch.cat((u, v), -1)))
    return Loop(start, along, tuple(weights), (*counts, kinked), a)


def positive_square(v: Any) -> Any:
    """‖v‖² of a column, or 1 where it vanishes: (*batch, 1, 1)."""
    square = (v * v).sum((-2, -1), keepdim=True)
    return torch.where(square > 0, square, 1 + 0 * square)


@instances
def loops(
    source: Source,
    *,
    rays: Range = (2, 4),
    spine: int = 0,
    length: Range = (1, 4),
    slopes: Slopes = "any",
) -> Loop:
    """Loops around stars of rays, in at most one dimension more than there are rays and spine.

    Some loops do not close (:meth:`rankcheck.witnesses.loops.Loop.closes`): their last layer has
    fewer inputs than there are rays, or its inputs are linearly dependent.
    """
    m = source.integer(*rays)
    width = source.integer(max(1, spine), m + spine + 1)
    kinked = source.integer(0, width - spine)
    across, along = star(source, width, m, spine, kinked)
    return loop_around(source, across, along, kinked, slope(source, slopes), length=length)


def planar_loop(source: Source, across: Any, along: Any, a: Any, length: Range = (1, 4)) -> Loop:
    """A loop of orthogonal matrices without kinks: its cost is the dimension times its length."""
    n = across.shape[-2]
    turns = [orthogonal(source, n) for _ in range(source.integer(*length) - 1)]
    back = turns[0] if turns else None
    for Q in turns[1:]:
        back = Q @ back
    last = torch.eye(n, dtype=torch.float64) + 0 * across[..., :1] if back is None else back.mT
    return Loop(across, along, (*turns, last), (0,) * (len(turns) + 1), a)


@instances
def planar_loops(source: Source, *, spine: int = 0, slopes: Slopes = "any") -> Loop:
    """Planar loops around three or four rays in the plane or two on a line, and a spine."""
    rays = source.choice((3, 2, 4, 2))
    across, along = star(source, min(rays - 1, 2) + spine, rays, spine, 0)
    return planar_loop(source, across, along, slope(source, slopes))
