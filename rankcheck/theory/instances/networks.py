"""Networks, and networks with points at which they are differentiable by construction."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import torch

from rankcheck.theory import linalg
from rankcheck.theory.instances.kinks import (
    active_units,
    clear_of_boundaries,
    clear_without_biases,
    full_mostly,
    moved_units,
    require_differentiable,
)
from rankcheck.theory.instances.matrices import low_rank, positive, semi_orthogonal
from rankcheck.theory.instances.promises import (
    SLOPES,
    Promise,
    at_most,
    has_slope,
    inside,
    promises,
    same,
    within,
)
from rankcheck.theory.instances.source import Source, instances
from rankcheck.theory.networks.network import Network

Slopes = Literal["any", "nonnegative", "negative", "relu"]
Range = tuple[int, int]

#: The structures of a drawn network, the simplest first, with their weights. In the first five
#: the signal rarely survives: of a ReLU network of depth 4 one Jacobian in five is not zero.
STRUCTURES = {
    "dense": 2,
    "without biases": 1,
    "a layer of low rank": 1,
    "a zero layer": 1,
    "a dead unit": 1,
    "nonzero diagonals": 14,
    "near isometries": 36,
    "near isometries without biases": 6,
}
#: The structures that carry the signal from layer to layer; `active_units` belongs to them.
ALIVE = ("nonzero diagonals", "near isometries", "near isometries without biases")
#: The largest absolute value of a drawn slope: near 1, and dyadic.
STEEPEST = 63 / 64
#: Without biases a zero layer, or a unit without weights, is at its kink everywhere.
ALWAYS_AT_A_KINK = ("a zero layer", "a dead unit")


def slope(source: Source, slopes: Slopes = "any") -> Any:
    """A slope a in (−1, 1); half of the time zero (ReLU), unless `slopes` is "negative"."""
    low = 0.0 if slopes == "nonnegative" else -STEEPEST
    high = -(2.0**-10) if slopes == "negative" else STEEPEST
    if slopes == "relu" or (slopes != "negative" and source.integer(0, 1) == 0):
        return 0.0
    return source.tensor(low=low, high=high)


def slope_in_range(source: Source, *, low: float = -STEEPEST, high: float = STEEPEST) -> Any:
    """A slope in [low, high]; unlike `slope`, never the number 0.0."""
    return source.tensor(low=low, high=high)


def draw_widths(
    source: Source,
    depth: Range,
    width: Range,
    inputs: int | None = None,
    outputs: int | None = None,
) -> list[int]:
    """The widths n_0, ..., n_L of a network of drawn depth L; `inputs`, `outputs` fix n_0, n_L.

    They are drawn in two steps: a least width w with weight 1/(w + 1), and widths that are uniform
    between w and the end of the range. The first step is carried along as the law of w given the
    widths so far, so it draws no integer.
    """
    layers = source.integer(*depth)
    low, high = width
    least = {w: 1 / (w + 1) for w in range(low, high + 1)}
    widths = []
    for _ in range(layers + 1):
        least = {w: p / (high - w + 1) for w, p in least.items()}
        weights = [sum(p for w, p in least.items() if w <= n) for n in range(low, high + 1)]
        widths.append(source.integer(low, high, weights))
        least = {w: p for w, p in least.items() if w <= widths[-1]}
    widths[0] = inputs or widths[0]
    widths[-1] = outputs or widths[-1]
    return widths


def with_dead_unit(w: Any, b: Any) -> tuple[Any, Any]:
    """The layer with the first unit dead: weights 0 and bias −1."""
    alive = torch.arange(w.shape[-2], device=w.device) > 0
    return torch.where(alive.unsqueeze(-1), w, 0 * w), torch.where(alive, b, 0 * b - 1)


def near_isometry(entries: Any) -> Any:
    """Q + T/16, for entries T (n, m) with |T| ≤ 4: Q has orthonormal columns or rows.

    Q is the first part of the identity, reflected along the first column of T (its first row, if
    n < m) unless that is zero.
    """
    n, m = entries.shape[-2:]
    T = entries if n >= m else entries.mT
    v = T[..., :1]
    square = (v * v).sum(-2, keepdim=True)
    part = linalg.eye(max(n, m), like=T)[:, : min(n, m)]
    Q = part - 2 * v @ (v.mT @ part) / torch.where(square == 0, square.new_ones(()), square)
    near = Q + T / 16
    return near if n >= m else near.mT


def nonzero_diagonal(entries: Any) -> Any:
    """The matrix with 1 in place of the diagonal entries that are smaller than 1/8."""
    diagonal = linalg.eye(max(entries.shape[-2:]), like=entries) == 1
    diagonal = diagonal[: entries.shape[-2], : entries.shape[-1]]
    small = diagonal & (entries.abs() < 0.125)
    return torch.where(small, entries.new_ones(()), entries)


def network(
    source: Source,
    *,
    depth: Range = (1, 5),
    width: Range = (1, 4),
    inputs: int | None = None,
    outputs: int | None = None,
    slopes: Slopes = "any",
    biases: bool = True,
    bound: float = 4.0,
) -> Network:
    """A network of drawn depth and widths.

    The structure is drawn as well (`STRUCTURES`). In most of them each layer has full rank in
    general, except for one, whose rank is drawn; zero layers, dead units and networks without
    biases occur. For a network with points, at which its Jacobian is to have some rank, draw
    `network_at_points`.

    Args:
        inputs, outputs: fix the outer widths.
        biases: False for a network all of whose biases are zero.
        bound: drawn entries lie in [-bound, bound], bound at most 4. Weights near isometries have
            singular values of at most 4 (for widths up to 4).
    """
    return _network(source, depth, width, inputs, outputs, slopes, biases, bound)[0]


def _network(
    source: Source,
    depth: Range,
    width: Range,
    inputs: int | None,
    outputs: int | None,
    slopes: Slopes,
    biases: bool,
    bound: float,
    structures: Mapping[str, int] = STRUCTURES,
) -> tuple[Network, bool]:
    """The network, and whether it has one of the structures `ALIVE`."""
    widths = draw_widths(source, depth, width, inputs, outputs)
    structure = source.choice(tuple(structures), tuple(structures.values()))
    alive = structure in ALIVE
    low = alive or structure == "a layer of low rank"
    special = source.integer(0, len(widths) - 2) if alive or structure.startswith("a ") else -1
    near = "near" in structure
    gain = source.tensor(low=0.5, high=2.0) if near else None
    weights, shifts = [], []
    for index, (m, n) in enumerate(pairwise(widths)):
        full = min(n, m)
        rank = full
        if index == special and low:
            rank = full_mostly(source, full) if alive else source.integer(1, full)
        if near:
            w = near_isometry(source.tensor(n, rank if rank < full else m, low=-bound, high=bound))
            if rank < full:
                w = w @ near_isometry(source.tensor(rank, m, low=-bound, high=bound))
            w = gain * w
        elif index == special and low and (rank < full or not alive):
            w = low_rank(source, n, m, rank, bound=bound**0.5)
        else:
            w = source.tensor(n, m, low=-bound, high=bound)
            if alive:
                w = nonzero_diagonal(w)
        b = w.new_zeros(n)
        if biases and not structure.endswith("without biases"):
            b = source.tensor(n, low=-bound, high=bound)
        if index == special and structure == "a zero layer":
            w = 0 * w
        if index == special and structure == "a dead unit":
            w, dead = with_dead_unit(w, b)
            b = dead if biases else b
        weights.append(w)
        shifts.append(b)
    return Network(tuple(weights), tuple(shifts), slope(source, slopes)), alive


def network_at_points(
    source: Source,
    points: int | None = None,
    *,
    depth: Range = (1, 5),
    width: Range = (1, 4),
    slopes: Slopes = "any",
    biases: bool = True,
    bound: float = 4.0,
) -> tuple[Network, Any]:
    """A network and a point x, shape `(n_0)`, or `points` of them, `(N, n_0)`.

    Given the depth and the least width w, the ranks 1, ..., w of Jf at x (at the first point) are
    all frequent, and rank 0 is rare. The network is differentiable at its points: they are cleared
    of its kinks by its biases (`clear_of_boundaries`), or by its weights, if it has no biases
    (`clear_without_biases`).
    """
    kinds = _structures(biases, differentiable=True)
    net, alive = _network(source, depth, width, None, None, slopes, biases, bound, kinds)
    return _with_points(source, net, alive, points, biases, clear=True)


def _structures(biases: bool, differentiable: bool) -> dict[str, int]:
    """The structures with their weights; those that may be differentiable, if they are to be."""
    left_out = ALWAYS_AT_A_KINK if differentiable and not biases else ()
    return {name: weight for name, weight in STRUCTURES.items() if name not in left_out}


def _with_points(
    source: Source, net: Network, alive: bool, points: int | None, biases: bool, clear: bool
) -> tuple[Network, Any]:
    """The network and its point or points, and whether the signs of units are drawn: `alive`."""
    x = source.tensor(*(() if points is None else (points,)), net.widths[0])
    active = active_units(source, net.widths) if alive else ()
    if not clear:
        return moved_units(net, x, active, clear=False), x
    if not biases:
        return clear_without_biases(source, net, x, active)
    return clear_of_boundaries(source, net, x, active), x


# Promises of generators whose instances begin with a network and its points

DEPTH = Promise("the depth is in the range", lambda o, net, *_: inside(o.depth, net.depth))
WIDTH = Promise("all widths are in the range", lambda o, net, *_: inside(o.width, *net.widths))
SLOPE = Promise(SLOPES, lambda o, net, *_: has_slope(o.slopes, net.slope))
POINTS = Promise("their number is in the range", lambda o, _, x: inside(o.points, x.shape[-2]))
BIASES = Promise("if False, every bias is zero", lambda o, net, _: o.biases or _without_biases(net))
DIFFERENTIABLE = Promise(
    "no hidden unit is at its kink at a point", lambda o, net, x: net.is_differentiable_at(x)
)


def _without_biases(net: Network) -> Any:
    return torch.cat([b == 0 for b in net.biases], -1)


@instances
@promises(DIFFERENTIABLE, depth=DEPTH, width=WIDTH, slopes=SLOPE, biases=BIASES)
def networks_at_points(
    source: Source,
    *,
    depth: Range = (1, 5),
    width: Range = (1, 4),
    slopes: Slopes = "any",
    biases: bool = True,
) -> tuple[Network, Any]:
    """A network and a point x, shape `(n_0)`, at which it is differentiable.

    Given the depth and the least width w, rank Jf(x) = 1, ..., w are all frequent.
    """
    return network_at_points(source, depth=depth, width=width, slopes=slopes, biases=biases)


@instances
@promises(
    depth=DEPTH,
    width=WIDTH,
    points=POINTS,
    slopes=SLOPE,
    biases=BIASES,
    differentiable=Promise(
        f"unless False, {DIFFERENTIABLE.says}",
        lambda o, *drawn: not o.differentiable or DIFFERENTIABLE.holds(o, *drawn),
    ),
)
def networks_with_inputs(
    source: Source,
    *,
    depth: Range = (1, 5),
    width: Range = (1, 4),
    points: Range = (1, 5),
    slopes: Slopes = "any",
    biases: bool = True,
    differentiable: bool = True,
) -> tuple[Network, Any]:
    """A network and N points, shape `(N, n_0)`, differentiable at each by default."""
    kinds = _structures(biases, differentiable)
    net, alive = _network(source, depth, width, None, None, slopes, biases, 4.0, kinds)
    return _with_points(source, net, alive, source.integer(*points), biases, differentiable)


def _singular_values(net: Network) -> Any:
    """Those of all layers, one after another."""
    return torch.cat([linalg.singular_values(w) for w in net.weights], -1)


def _lie_in(ends: tuple[float, float], s: Any) -> Any:
    return at_most(ends[0], s[..., :1]) & (within(ends, s) | at_most(s, 0))


def _agree(s: Any) -> Any:
    return same(s, s[..., :1]) | at_most(s, 0)


@instances
@promises(
    Promise("no bias", lambda o, net, _: _without_biases(net)),
    Promise(
        "every pre-activation at x is positive",
        lambda o, net, x: (
            torch.cat([z > 0 for z in net.preactivations(x)[:-1]], -1) if net.depth > 1 else True
        ),
    ),
    Promise(
        r"‖θ‖² = L‖Jf(x)‖^{2/L} in the Schatten norm S^{2/L}",
        lambda o, net, x: same(
            net.cost(), net.depth * linalg.schatten_power(net.jacobian(x), Fraction(2, net.depth))
        ),
    ),
    depth=DEPTH,
    width=Promise(
        "the hidden widths are some k in the range, and the outer ones k or k + 1",
        lambda o, net, _: (
            all(
                inside(o.width, k) and inside((k, k + 1), net.widths[0], net.widths[-1])
                for k in net.widths[1:-1]
            )
            and inside((o.width[0], o.width[1] + 1), *net.widths)
        ),
    ),
    slopes=SLOPE,
    scale=Promise(
        "the t_i, the singular values of each layer but zeros, lie in the range",
        lambda o, net, _: _lie_in(o.scale, _singular_values(net)),
    ),
    equal=Promise(
        "if True, the t_i are equal",
        lambda o, net, _: not o.equal or _agree(_singular_values(net)),
    ),
)
def balanced_linear_networks(
    source: Source,
    *,
    depth: Range = (1, 6),
    width: Range = (1, 3),
    slopes: Slopes = "any",
    scale: tuple[float, float] = (0.125, 2.0),
    equal: bool = False,
) -> tuple[Network, Any]:
    r"""Networks of least cost for their linear map: $\|\theta\|^2 = L\|Jf\|_{S^{2/L}}^{2/L}$.

    $W_1 = T Q_0^T$, $W_\ell = T$, $W_L = Q_L T$ with $T$ diagonal and positive, $Q_0, Q_L$ with
    orthonormal columns, no biases, and $x = Q_0 y$ with $y > 0$: every pre-activation is positive,
    so the slope does not matter. The singular values of $Jf$ are $t_i^L$ with $t_i$ in `scale`, all
    equal if `equal`.
    """
    layers, k = source.integer(*depth), source.integer(*width)
    inputs, outputs = source.integer(k, k + 1), source.integer(k, k + 1)
    t = positive(source, 1 if equal else k, low=scale[0], high=scale[1])
    scales = torch.diag_embed(t.expand(*source.batch, k))
    into, out = semi_orthogonal(source, inputs, k), semi_orthogonal(source, outputs, k)
    weights = [scales] * layers
    weights[0] = weights[0] @ into.mT
    weights[-1] = out @ weights[-1]
    biases = [w.new_zeros(w.shape[:-1]) for w in weights]
    y = positive(source, k)
    x = (into @ y.unsqueeze(-1)).squeeze(-1)
    return Network(tuple(weights), tuple(biases), slope(source, slopes)), x


@instances
@promises(
    DIFFERENTIABLE,
    Promise("the slope lies in [3/2, 4]", lambda o, net, _: within((1.5, 4.0), net.slope)),
)
def steep_networks(source: Source) -> tuple[Network, Any]:
    """Slopes in [3/2, 4], outside of (−1, 1): a network and a point where it is differentiable."""
    net, x = networks_at_points(depth=(2, 4), slopes="relu")(source)
    steepness = slope_in_range(source, low=1.5, high=4.0)
    steep = Network.unchecked_slope(net.weights, net.biases, steepness)
    require_differentiable(source, steep, x)  # the kinks were cleared for the slope 0
    return steep, x
