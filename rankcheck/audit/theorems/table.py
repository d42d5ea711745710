"""Which claims are evaluated on a trained network, and why the other claims about networks are not.

A theorem of the table is true for every network and all data that meet its hypotheses. It is
evaluated *at points* (the bound is checked at each of them), at *pairs* of points, on the *data* as
a whole, or on the *network* alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from rankcheck.audit.theorems import effort, hypotheses
from rankcheck.audit.theorems.certify import POINTS, ROWS
from rankcheck.audit.theorems.effort import Effort, Widths
from rankcheck.audit.theorems.hypotheses import Condition, Situation

__all__ = ["LEFT_OUT", "TABLE", "Theorem"]

Pairs: TypeAlias = Callable[[Situation, int], Tensor]
"""Up to so many pairs of candidates, (n, 2), the most interesting first."""

#: Points that may be compared with one another in search of pairs.
COMPARED = 64
#: Numbers in the largest array of a statement about data.
NUMBERS = 2**23


def anything(widths: Widths, number: int) -> bool:
    """Ball arithmetic is fast enough at every number of points up to `POINTS`."""
    return number <= POINTS


def few_rows(widths: Widths, number: int) -> bool:
    """The matrix over inputs and outputs is small."""
    return widths[0] * widths[-1] <= ROWS


def few_outputs(widths: Widths, number: int) -> bool:
    """The matrix over points and outputs is small."""
    return number * widths[-1] <= ROWS // 2


def all_points(widths: Widths) -> int:
    """No more points than the budget allows."""
    return NUMBERS


def distances(widths: Widths) -> int:
    """So many points that the differences of all pairs fit."""
    return int((NUMBERS / max(widths)) ** 0.5)


def lean(widths: Widths) -> int:
    """The numbers that a body has for each point, with one Jacobian."""
    return 4 * max(widths) * min(widths[0], widths[-1])


def dense(widths: Widths) -> int:
    """The same with a masked matrix."""
    return 4 * max(widths) ** 2


def thin(widths: Widths) -> int:
    """The same with the Jacobians of all layers."""
    return 4 * sum(widths) * (widths[0] + widths[-1])


def square(widths: Widths) -> int:
    """The same with a projection for each layer."""
    return thin(widths) + 4 * sum(n * max(widths) for n in widths)


def kronecker(widths: Widths) -> int:
    """The same with a matrix over inputs and outputs."""
    return thin(widths) + 4 * (widths[0] * widths[-1]) ** 2


def different_jacobians(at: Situation, number: int) -> Tensor:
    """The pairs with the largest ‖Jf(x) − Jf(y)‖_F."""
    points = _compared(at)
    J = at.net.jacobian(_points(at, points)).flatten(-2)
    return _largest(torch.cdist(J, J), points, number)


def far_apart(at: Situation, number: int) -> Tensor:
    """The pairs with the largest min(‖Jf(x)‖, ‖Jf(y)‖)·‖f(x) − f(y)‖."""
    assert at.points is not None
    points = _compared(at)
    f, norms = at.net(_points(at, points)), at.points.norms[points]
    least = torch.minimum(norms.unsqueeze(0), norms.unsqueeze(1))
    return _largest(torch.cdist(f, f).cpu() * least, points, number)


def in_one_region(at: Situation, number: int) -> Tensor:
    """The pairs with one activation pattern that are furthest apart."""
    best = []
    for members in at.patterns.values():
        some = torch.tensor(members[:COMPARED])
        x = _points(at, some)
        gaps = torch.cdist(x, x)
        best += [
            (float(gaps[i, j]), int(some[i]), int(some[j]))
            for i, j in torch.triu_indices(len(some), len(some), 1).T.tolist()
        ]
    best = sorted(best, reverse=True)[:number]
    return torch.tensor([pair for _, *pair in best], dtype=torch.long).reshape(-1, 2)


def _compared(at: Situation) -> Tensor:
    assert at.points is not None
    return at.points.chosen(COMPARED)


def _points(at: Situation, indices: Tensor) -> Tensor:
    assert at.points is not None
    return at.points.x[indices.to(at.points.x.device)]


def _largest(values: Tensor, points: Tensor, number: int) -> Tensor:
    """The pairs i < j with the largest values."""
    i, j = torch.triu_indices(len(points), len(points), 1)
    order = values.cpu()[i, j].argsort(descending=True)[:number]
    return torch.stack((points[i[order]], points[j[order]]), -1)


@dataclass(frozen=True)
class Theorem:
    """A claim that applies to networks, and how it is evaluated.

    Attributes:
        claim: its id.
        on: at points, at pairs of points, on the data, or on the network alone.
        conditions: its hypotheses; the balance is that of `balanced`.
        effort: its operations at so many points.
        balanced: it is about balanced parameters. A network that is not balanced has the theorem
            evaluated on the balanced network with the same function.
        ranked: it depends on the numerical rank of Jf.
        rank: of the data, the points are taken whose Jf has the most frequent rank (`same`), or
            a rank of at least 1 (`positive`), or all of them.
        shared: the body takes one network without batch axes beside n points.
        numbers: how many numbers its arrays have for each point.
        most: the largest number of points of the data.
        directions: the body takes the directions of a domain beside a point; all of them are taken.
        pairs: which pairs of points are taken.
        provable: whether ball arithmetic is fast enough for so many points.
    """

    claim: str
    on: Literal["points", "pairs", "data", "network"]
    conditions: tuple[Condition, ...]
    effort: Effort
    balanced: bool = False
    ranked: bool = False
    rank: Literal["any", "positive", "same"] = "any"
    shared: bool = True
    numbers: Callable[[Widths], int] = thin
    most: Callable[[Widths], int] = all_points
    directions: bool = False
    pairs: Pairs = different_jacobians
    provable: Callable[[Widths, int], bool] = anything


KINKS, SLOPE = hypotheses.no_kinks, hypotheses.bounded_slope
RANK = hypotheses.positive_rank
BALANCE = hypotheses.balance

TABLE = (
    # At points
    Theorem(
        "rank.jacobian-bounds-cost",
        "points",
        (KINKS, SLOPE),
        effort.jacobians,
        ranked=True,
        numbers=lean,
    ),
    Theorem("rank.masked-weights", "points", (KINKS, SLOPE, hypotheses.hidden_layer), effort.masks),
    Theorem(
        "rank.small-second-singular-value",
        "points",
        (KINKS, SLOPE),
        effort.jacobians,
        numbers=lean,
    ),
    Theorem(
        "bottleneck.regularity-bound",
        "points",
        (KINKS, SLOPE),
        effort.jacobians,
        ranked=True,
        numbers=lean,
    ),
    Theorem(
        "bottleneck.second-correction-of-the-jacobian",
        "points",
        (KINKS, SLOPE),
        effort.jacobians,
        ranked=True,
        numbers=lean,
    ),
    Theorem(
        "bottleneck.offset-bound",
        "points",
        (KINKS, SLOPE),
        effort.projections,
        ranked=True,
        numbers=square,
        directions=True,
    ),
    Theorem("bottleneck.hidden-lipschitz", "points", (KINKS, SLOPE), effort.partial_jacobians),
    Theorem(
        "bottleneck.singular-values-near-one",
        "points",
        (KINKS, SLOPE, RANK),
        effort.spectra_of_weights,
        ranked=True,
        numbers=lean,
    ),
    *(
        Theorem(
            claim,
            "points",
            (KINKS, SLOPE, RANK),
            effort.one_sided,
            ranked=True,
            numbers=square,
        )
        for claim in (
            "bottleneck.weights-near-projections",
            "bottleneck.most-layers",
            "bottleneck.features-near-the-tangent-space",
        )
    ),
    Theorem(
        "bottleneck.chained-projections",
        "points",
        (KINKS, hypotheses.nonnegative_slope, RANK),
        effort.chained,
        ranked=True,
        numbers=square,
    ),
    Theorem(
        "bottleneck.ntk-derivative-every-slope",
        "points",
        (KINKS, SLOPE),
        effort.mixed_derivative,
        numbers=kronecker,
        provable=few_rows,
    ),
    Theorem(
        "bottleneck.bounded-activations",
        "points",
        (KINKS, SLOPE, BALANCE, RANK),
        effort.kernel_traces,
        balanced=True,
        ranked=True,
        shared=False,
    ),
    Theorem(
        "bottleneck.growing-norms",
        "points",
        (KINKS, SLOPE, BALANCE, hypotheses.hidden_layer, RANK),
        effort.growing,
        balanced=True,
        ranked=True,
        shared=False,
    ),
    # At pairs of points
    Theorem(
        "bottleneck.two-jacobians",
        "pairs",
        (KINKS, hypotheses.two_points, hypotheses.nonnegative_slope),
        effort.two_jacobians,
        ranked=True,
        pairs=different_jacobians,
    ),
    Theorem(
        "bottleneck.ntk-linear-in-depth",
        "pairs",
        (KINKS, hypotheses.two_points, SLOPE),
        effort.segments,
        pairs=far_apart,
    ),
    Theorem(
        "bottleneck.ntk-on-a-segment-sharp",
        "pairs",
        (KINKS, SLOPE, hypotheses.shared_pattern),
        effort.segments,
        pairs=in_one_region,
    ),
    # On the data
    Theorem(
        "bottleneck.preactivation-singular-values", "data", (KINKS,), effort.features_and_weights
    ),
    Theorem(
        "rank.one-dimensional-layers",
        "data",
        (KINKS, SLOPE, hypotheses.varying_outputs),
        effort.one_dimensional_layers,
        most=distances,
    ),
    Theorem(
        "rank.one-dimensional-representations",
        "data",
        (KINKS, SLOPE, hypotheses.varying_outputs),
        effort.covariances,
        most=distances,
    ),
    Theorem(
        "bottleneck.ntk-operator-norm",
        "data",
        (KINKS,),
        effort.kernel_matrix,
        provable=few_outputs,
    ),
    Theorem(
        "bottleneck.extended-activations",
        "data",
        (KINKS, SLOPE, BALANCE, RANK),
        effort.features_and_kernel,
        balanced=True,
        ranked=True,
        rank="positive",
    ),
    Theorem(
        "bottleneck.bounded-activations-of-data",
        "data",
        (KINKS, SLOPE, BALANCE, hypotheses.same_rank),
        effort.kernel_traces,
        balanced=True,
        ranked=True,
        rank="same",
    ),
    Theorem(
        "bottleneck.low-dimensional-features",
        "data",
        (KINKS, SLOPE, BALANCE, hypotheses.same_rank),
        effort.features_and_kernel,
        balanced=True,
        ranked=True,
        rank="same",
    ),
    # On the network alone
    Theorem("bottleneck.constant-cost", "network", (SLOPE,), effort.parameters),
    Theorem(
        "rank.constant-cost",
        "network",
        (SLOPE, hypotheses.depth_two, hypotheses.one_output),
        effort.parameters,
    ),
    Theorem(
        "rank.bounded-domain",
        "network",
        (hypotheses.relu, hypotheses.depth_two, hypotheses.one_input, hypotheses.one_output),
        effort.parameters,
    ),
    Theorem("rank.balanced-layer-norms", "network", (BALANCE,), effort.parameters, balanced=True),
)
"""The theorems in the order in which an audit lists them."""

_CHECK = (
    "a check of one of rankcheck's own functions on any network; it says nothing about this one"
)
_DOMAIN = "it is about a domain with given tangents or coordinates, which data are not"
_IDENTITY = "an identity of the formulas: both sides are the same for every network"

LEFT_OUT = {
    "bottleneck.cost-splits": _IDENTITY,
    "bottleneck.entering-the-orthant": _DOMAIN,
    "bottleneck.features-become-nonnegative": "it is about networks that invert the activation",
    "bottleneck.hessian-at-interpolation": "it takes the residuals of a loss; an audit has none",
    "bottleneck.identity-nonnegative": "it is about networks that are the identity on a domain",
    "bottleneck.identity-of-an-interval": "it is about two opposite points of one input",
    "bottleneck.lower-semicontinuity": "it compares two networks",
    "bottleneck.ntk-derivative": "bottleneck.ntk-derivative-every-slope is the same for ReLU",
    "bottleneck.ntk-on-a-segment": "bottleneck.ntk-on-a-segment-sharp has a larger constant",
    "bottleneck.ntk-trace": _CHECK,
    "bottleneck.projection-frames": _CHECK,
    "bottleneck.regularity-on-a-domain": "with all directions it is bottleneck.regularity-bound; "
    "the tangents of a domain are not given",
    "bottleneck.secant-cost": "it is about one input, and an interval that data do not give",
    "bottleneck.two-jacobians-limit": "bottleneck.two-jacobians is stronger at every depth",
    "bottleneck.two-tangent-planes": _DOMAIN,
    "linear.gradient-variance": _IDENTITY,
    "linear.narrow-networks": "it is about networks of width one, and their distance to |x|",
    "rank.absolute-value-networks": "it is about networks for the absolute value",
    "rank.balance-and-gradient": "it takes the targets of a loss; an audit has none",
    "rank.balanced-layers": _CHECK,
    "rank.continuous-across-boundaries": _CHECK,
    "rank.jacobian-bounds-cost-at-kinks": "points with a unit at its kink are left out; it takes a "
    "second network that computes the same function without",
    "rank.jacobian-rank-of-affine-maps": "it is about networks for affine maps",
    "rank.leaky-representation": "a construction: a network with another slope for the function",
    "rank.neuron-balancedness": _CHECK,
    "rank.output-dimension": _CHECK,
    "rank.padding": "a construction: zero units keep function and cost",
    "rank.piecewise-affine": _IDENTITY,
    "rank.rank-one-fits-of-random-data": "a statistical claim about random data",
    "rank.rank-one-wins": "it is about data that a bijection maps to their targets",
    "rank.regions-of-a-network": _CHECK,
    "rank.variance-of-a-fit": "it takes the targets of a loss; an audit has none",
    "rank.weak-balancedness": _IDENTITY,
    "separation.neuron-is-separable": _IDENTITY,
}
"""Claims that are true of networks and are not evaluated: the reason for each."""
