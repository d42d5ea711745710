"""Loops around stars of rays: all layers but the last are drawn, and the last closes the loop.

`loops` draws them anywhere; most of these are far from the least cost. `bent_loops` and
`stopped_loops` draw them near planar loops of orthogonal matrices, which cost exactly the
bottleneck rank for each layer.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import torch

from rankcheck.theory.instances.matrices import away_from_zero, orthogonal, positive
from rankcheck.theory.instances.networks import Range, slope
from rankcheck.theory.instances.promises import Promise, inside, is_identity, promises
from rankcheck.theory.instances.source import Source, instances
from rankcheck.theory.witnesses.loops import Loop, activate, close


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
    """‖v‖² of a column, or 1 where it vanishes: (1, 1)."""
    square = (v * v).sum((-2, -1), keepdim=True)
    return torch.where(square > 0, square, 1 + 0 * square)


RAYS = Promise("their number is in the range", lambda o, f: inside(o.rays, f.rays.shape[-1]))
SPINE = Promise("the spine has so many columns", lambda o, f: f.spine.shape[-1] == o.spine)
LENGTH = Promise("the number of layers is in the range", lambda o, f: inside(o.length, f.length))


@instances
@promises(
    Promise(
        "the space has at most one dimension more than there are rays and columns of the spine",
        lambda o, f: f.rays.shape[-2] <= f.rays.shape[-1] + f.spine.shape[-1] + 1,
    ),
    rays=RAYS,
    spine=SPINE,
    length=LENGTH,
)
def loops(source: Source, *, rays: Range = (2, 4), spine: int = 0, length: Range = (1, 4)) -> Loop:
    """Loops around stars of rays, in at most one dimension more than there are rays and spine.

    Some loops do not close (:meth:`rankcheck.theory.witnesses.loops.Loop.closes`): their last layer
    has fewer inputs than there are rays, or its inputs are linearly dependent.
    """
    m = source.integer(*rays)
    width = source.integer(max(1, spine), m + spine + 1)
    kinked = source.integer(0, width - spine)
    across, along = star(source, width, m, spine, kinked)
    return loop_around(source, across, along, kinked, slope(source), length=length)


def planar_loop(source: Source, across: Any, along: Any, a: Any) -> Loop:
    """A loop of orthogonal matrices without kinks: its cost is the dimension times its length."""
    n = across.shape[-2]
    turns = [orthogonal(source, n) for _ in range(source.integer(1, 4) - 1)]
    back = turns[0] if turns else None
    for Q in turns[1:]:
        back = Q @ back
    last = torch.eye(n, dtype=torch.float64) + 0 * across[..., :1] if back is None else back.mT
    return Loop(across, along, (*turns, last), (0,) * (len(turns) + 1), a)


@instances
@promises(
    Promise("the loop closes", lambda o, f: f.closes()),
    Promise(
        "every layer is orthogonal, without kinks",
        lambda o, f: (
            not any(f.kinked)
            and torch.stack([is_identity(W.mT @ W).all(-1).all(-1) for W in f.weights]).all(0)
        ),
    ),
)
def planar_loops(source: Source) -> Loop:
    """Planar loops around three or four rays in the plane or two on a line."""
    rays = source.choice((3, 2, 4, 2))
    across, along = star(source, min(rays - 1, 2), rays, 0, 0)
    return planar_loop(source, across, along, slope(source))


def layers_near(source: Source, n: int, kinked: int, small: Any) -> Any:
    """An orthogonal matrix on the linear units, and entries of at most `small` elsewhere."""
    W = small * source.tensor(n, n, low=-1.0, high=1.0)
    turn = orthogonal(source, n - kinked)
    wide = torch.zeros(n, n - kinked, dtype=torch.float64)
    wide[kinked:] = torch.eye(n - kinked, dtype=torch.float64)
    return W + wide @ turn @ wide.mT


@instances
@promises(
    Promise(
        "each layer has as many kinked units as there are rays beyond two",
        lambda o, f: set(f.kinked) == {f.rays.shape[-1] - 2},
    ),
    rays=RAYS,
    spine=SPINE,
    length=LENGTH,
)
def bent_loops(
    source: Source, *, rays: Range = (3, 4), spine: int = 0, length: Range = (1, 4)
) -> Loop:
    """Loops near planar ones of least cost, around stars that are bent out of the plane.

    Besides the linear units of the plane (and the spine) there are as many kinked units as rays
    beyond two. They read the plane, and are read, with weights of at most a drawn share in
    [2⁻⁶, 1/4]. Linear layers differ from orthogonal ones by as much.
    """
    m, d = source.integer(*rays), 2 + spine
    a = slope(source)
    small = positive(source, 1, 1, low=2.0**-6, high=0.25)
    across, along = star(source, d, m, spine, 0)
    return bent_around(source, across, along, a, small, length=length)


def bent_around(
    source: Source, across: Any, along: Any, a: Any, small: Any, *, length: Range
) -> Loop:
    """The loop of :func:`bent_loops` around the star of given linear units and spine."""
    d, m, spine = across.shape[-2], across.shape[-1], along.shape[-1]
    q, n = m - 2, m + spine
    read = small * blind(source.tensor(q, d, low=-1.0, high=1.0), along)
    start = torch.cat((read @ across, across), -2)
    spine_at = torch.cat((0 * read[..., :spine], along), -2)
    u, v, weights = activate(start, q, a), spine_at, []
    for _ in range(source.integer(*length) - 1):
        W = layers_near(source, n, q, small)
        top = torch.arange(n, device=W.device).unsqueeze(-1) < q
        W = torch.where(top, blind(W, v), W)
        weights.append(W)
        u, v = activate(W @ u, q, a), W @ v
    weights.append(
        close(torch.cat((start, spine_at), -1), torch.cat((u, v), -1)),
    )
    rays_at = activate(start, q, a)
    return Loop(rays_at, spine_at, tuple(weights), (q,) * len(weights), a)


def blind(W: Any, v: Any) -> Any:
    """The rows of W without their parts along the column v; W itself if v has no column."""
    return W if v.shape[-1] == 0 else W - (W @ v) @ v.mT / positive_square(v)


@instances
@promises(
    Promise(
        "there are three arcs, the first with a stop, and two kinked units in each layer",
        lambda o, f: f.rays.shape[-1] == 3 and len(f.bent) == 1 and set(f.kinked) == {2},
    ),
    length=LENGTH,
)
def stopped_loops(source: Source, *, length: Range = (1, 4)) -> Loop:
    """Loops near planar ones with a kink on a ray: three arcs, of which the first bends at a stop.

    Two linear units show straight rays. One kinked unit has its kink in the centre, the other at
    the stop. They read, and are read, with weights of at most a drawn share in [2⁻⁶, 1/4]. The
    first ray is longer than the others, so that the kink at the stop does not meet them.
    """
    a = slope(source)
    t = source.choice((Fraction(1, 2), Fraction(1, 4), Fraction(3, 4)))
    small = positive(source, 1, 1, low=2.0**-6, high=0.25)
    long = 8 * away_from_zero(source, 2, 1, least=0.25, high=1.0)
    plane = torch.cat(
        (0 * long, long, source.tensor(2, 2, low=-1.0, high=1.0), float(t) * long), -1
    )

    def kinks(u: Any, linear: Any) -> tuple[Any, Any]:
        """Weights of the two kinked units, and their biases, on units u; the plane is `linear`."""
        ahead = linear[..., 1:2] - linear[..., :1]
        first = small * source.tensor(1, u.shape[-2], low=-1.0, high=1.0)
        drawn = 0.125 * source.tensor(1, 2, low=-1.0, high=1.0)
        second = small * (ahead.mT / positive_square(ahead) + drawn)
        if u.shape[-2] > 2:
            second = torch.cat((0 * first[..., :2], second), -1)
        at_centre = first @ u[..., :1]
        at_stop = second @ u[..., 4:5]
        return torch.cat((first, second), -2), -torch.cat((at_centre, at_stop), -2)

    W, b = kinks(plane, plane)
    start = torch.cat((W @ plane + b, plane), -2)
    points = u = activate(start, 2, a)
    weights, biases = [], []
    for _ in range(source.integer(*length) - 1):
        W = layers_near(source, 4, 2, small)
        read, b = kinks(u, u[..., 2:, :])
        top = torch.arange(4, device=W.device).unsqueeze(-1) < 2
        W = torch.where(top, torch.cat((read, 0 * read), -2), W)
        b = torch.cat((b, 0 * b), -2)
        weights.append(W)
        biases.append(b.squeeze(-1))
        u = activate(W @ u + b, 2, a)
    last = close(start[..., 1:] - start[..., :1], u[..., 1:] - u[..., :1])
    weights.append(last)
    biases.append((start[..., :1] - last @ u[..., :1]).squeeze(-1))
    return Loop(
        points[..., 1:4],
        points[..., :0],
        tuple(weights),
        (2,) * len(weights),
        a,
        tuple(biases),
        points[..., :1],
        points[..., 4:],
        ((0, t),),
    )
