"""Networks, and networks with points at which they are differentiable by construction."""

from __future__ import annotations

from typing import Any, Literal

import torch

from rankcheck.instances.matrices import low_rank, positive, semi_orthogonal
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import Number
from rankcheck.networks.network import Network, leaky

Slopes = Literal["any", "nonnegative", "negative", "relu"]
Range = tuple[int, int]

#: The structures of a drawn network, the simplest first.
STRUCTURES = ("dense", "without biases", "a layer of low rank", "a zero layer", "a dead unit")
#: The largest absolute value of a drawn slope: near 1, and dyadic.
STEEPEST = 63 / 64
#: A point where a hidden pre-activation is smaller than this counts as on a region's boundary.
CLEARANCE = 2.0**-16


def slope(source: Source, slopes: Slopes = "any") -> Any:
    """A slope a in (−1, 1); half of the time zero (ReLU), unless `slopes` is "negative"."""
    low = 0.0 if slopes == "nonnegative" else -STEEPEST
    high = -(2.0**-10) if slopes == "negative" else STEEPEST
    if slopes == "relu" or (slopes != "negative" and source.integer(0, 1) == 0):
        return 0.0
    return source.tensor(low=low, high=high)


def slope_in_range(source: Source, *, low: float = -STEEPEST, high: float = STEEPEST) -> Any:
    """A slope of shape `(*batch)` in [low, high]; unlike `slope`, never the number 0.0."""
    return source.tensor(low=low, high=high)


def draw_widths(
    source: Source,
    depth: Range,
    width: Range,
    inputs: int | None = None,
    outputs: int | None = None,
) -> list[int]:
    """The widths n_0, ..., n_L of a network of drawn depth L; `inputs`, `outputs` fix n_0, n_L."""
    layers = source.integer(*depth)
    widths = [source.integer(*width) for _ in range(layers + 1)]
    widths[0] = inputs or widths[0]
    widths[-1] = outputs or widths[-1]
    return widths


def with_dead_unit(w: Any, b: Any) -> tuple[Any, Any]:
    """The layer with the first unit dead: weights 0 and bias −1."""
    alive = torch.arange(w.shape[-2], device=w.device) > 0
    return torch.where(alive.unsqueeze(-1), w, 0 * w), torch.where(alive, b, 0 * b - 1)


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

    The structure is drawn as well (`STRUCTURES`), so that zero layers, dead units, layers of low
    rank and networks without biases occur.

    Args:
        inputs, outputs: fix the outer widths.
        bound: entries lie in [-bound, bound].
    """
    widths = draw_widths(source, depth, width, inputs, outputs)
    structure = source.choice(STRUCTURES)
    special = source.integer(0, len(widths) - 2) if structure.startswith("a ") else -1
    weights, shifts = [], []
    for index, (n, m) in enumerate(zip(widths[1:], widths[:-1], strict=True)):
        if index == special and structure == "a layer of low rank":
            w = low_rank(source, n, m, source.integer(1, min(n, m)), bound=bound**0.5)
        else:
            w = source.tensor(n, m, low=-bound, high=bound)
        b = w.new_zeros((*source.batch, n))
        if biases and structure != "without biases":
            b = source.tensor(n, low=-bound, high=bound)
        if index == special and structure == "a zero layer":
            w = 0 * w
        if index == special and structure == "a dead unit":
            w, b = with_dead_unit(w, b)
        weights.append(w)
        shifts.append(b)
    return Network(tuple(weights), tuple(shifts), slope(source, slopes))


def clear_of_boundaries(source: Source, net: Network, x: Any) -> Network:
    """The network with biases moved so that x lies inside a linear region.

    1 is added to the bias of a hidden unit whose pre-activation at x is smaller than `CLEARANCE`,
    so no instance is rejected. With N points, shape `(*batch, N, n_0)`, the bias of a unit is moved
    by 1, 1/2, 1/4 and 1/8 until the unit is clear of all points; instances where this does not
    suffice are rejected.
    """
    many = x.ndim == len(source.batch) + 2
    alpha, biases = x, []
    steepness = net.slope
    if not isinstance(steepness, Number):
        steepness = steepness.reshape(*steepness.shape, *([1] * (2 if many else 1)))
    for w, b in zip(net.weights[:-1], net.biases[:-1], strict=True):
        for step in (1.0, 0.5, 0.25, 0.125) if many else (1.0,):
            z = _affine(w, b, alpha, many).abs()
            near = (z.amin(-2) if many else z) < CLEARANCE
            b = torch.where(near, b + step, b)
        biases.append(b)
        alpha = leaky(_affine(w, b, alpha, many), steepness)
    moved = Network(net.weights, (*biases, net.biases[-1]), net.slope)
    require_differentiable(source, moved, x)
    return moved


def require_differentiable(source: Source, net: Network, x: Any) -> None:
    """Reject the instances whose network has a unit at its kink at one of the points."""
    if net.depth > 1:
        clear = net.boundary_distance(x) > 0
        source.require(clear, "the network is differentiable at its points")


def _affine(w: Any, b: Any, x: Any, many: bool) -> Any:
    if many:
        return x @ w.mT + b.unsqueeze(-2)
    return (w @ x.unsqueeze(-1)).squeeze(-1) + b


@instances
def networks_at_points(
    source: Source,
    *,
    depth: Range = (1, 5),
    width: Range = (1, 4),
    slopes: Slopes = "any",
    biases: bool = True,
) -> tuple[Network, Any]:
    """A network and a point x, shape `(*batch, n_0)`, at which it is differentiable."""
    net = network(source, depth=depth, width=width, slopes=slopes, biases=biases)
    x = source.tensor(net.widths[0])
    return clear_of_boundaries(source, net, x), x


@instances
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
    """A network and N points, shape `(*batch, N, n_0)`, differentiable at each by default."""
    net = network(source, depth=depth, width=width, slopes=slopes, biases=biases)
    x = source.tensor(source.integer(*points), net.widths[0])
    return (clear_of_boundaries(source, net, x) if differentiable else net), x


@instances
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
def steep_networks(source: Source) -> tuple[Network, Any]:
    """Slopes in [3/2, 4], outside of (−1, 1): a network and a point where it is differentiable."""
    net, x = networks_at_points(depth=(2, 4), slopes="relu")(source)
    steepness = slope_in_range(source, low=1.5, high=4.0)
    return Network.unchecked_slope(net.weights, net.biases, steepness), x
