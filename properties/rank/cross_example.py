"""Example 1 of `rank`: a function of Jacobian rank 1 and bottleneck rank 2."""

import math
from fractions import Fraction

import torch

from rankcheck import (
    Erratum,
    Network,
    construction,
    eq,
    leq,
    linalg,
    paper,
    refuted,
    tolerances,
    witnesses,
)
from rankcheck.instances import Source, instances, network

from ._regions import proved_rank


@instances
def pairs_of_points(source: Source):
    """Two points of the plane."""
    return source.tensor(2), source.tensor(2)


@instances
def beside_an_axis(source: Source):
    """Two points with the same larger coordinate: f changes √2 times as much as the smaller one."""
    t = source.tensor(2, low=0.0, high=4.0)
    return tuple(torch.stack((torch.full_like(t, 8.0), t), 1))


def square(x):
    """‖x‖²."""
    return x @ x


def signs_forgotten(like=None):
    """The network with |x_0| clipped in place of x_0: the unit for x_0 < 0 reads |x_0|."""
    net = witnesses.cross_network(like)
    first = net.weights[0] * torch.tensor([[1.0], [-1.0], [1.0], [1.0]], dtype=torch.float64)
    return net.with_parameters((first, *net.weights[1:]), net.biases)


@construction(
    "rank.cross-example",
    paper("rank", "Example 1 (corrected)"),
    instances=pairs_of_points(),
    tight=beside_an_axis(),
    mutants={
        "the cases as printed": {"function": witnesses.cross_as_printed},
        "a sign forgotten": {"witness": signs_forgotten},
    },
    witness=witnesses.cross_network,
)
def test_cross_example(x, y, *, function=witnesses.cross, witness=witnesses.cross_network):
    r"""A continuous function of Jacobian rank 1 that is the identity on a cross.

    $f(x) = (\operatorname{sign}(x_0)\,m, \operatorname{sign}(x_1)\,m)$ with
    $m = \min(|x_0|, |x_1|)$ is the function of a network of depth 3, hence continuous and piecewise
    linear: $\|f(x) - f(y)\|^2 \le 2\|x - y\|^2$; it is the identity on the cross $|x_0| = |x_1|$; and
    its Jacobian has rank 1 in every linear region.

    The rank is checked in all regions of the network in $[-1, 1]^2$, in rational arithmetic, and
    $f$ is homogeneous. That $\operatorname{rank}_{BN} f = 2$ is rank.no-injection-of-the-cross.
    """
    net = witness(x)
    arm = torch.where(x < 0, -x[0].abs(), x[0].abs())
    regular = (x[0].abs() != x[1].abs()) & (x != 0).all()
    return (
        eq(net(x), function(x), scale=tolerances.network_scale(net, x), label="the network"),
        leq(square(function(x) - function(y)), 2 * square(x - y), label="continuity"),
        eq(function(arm), arm, label="the identity on the cross"),
        eq(linalg.rank(net.jacobian(x)), 1, where=regular, label="the rank at a point"),
        eq(proved_rank(witness(), (-1, 1)), 1, label="the rank everywhere"),
    )


@refuted(
    "rank.cross-example-as-printed",
    paper("rank", "Example 1"),
    instances=pairs_of_points(),
    errata=Erratum(
        printed=r"the piecewise linear function $f$: $R^2 \to R^2$ which maps $x = (x_0, x_1)$ to "
        r"$(x_0, \operatorname{sign}(x_1)|x_0|)$ if $|x_0| \ge |x_1|$ and to "
        r"$(\operatorname{sign}(x_0)|x_1|, x_1)$ if $|x_0| < |x_1|$. [...] One can easily check "
        "that this function is continuous",
        right=r"$(\operatorname{sign}(x_0)|x_1|, x_1)$ if $|x_0| \ge |x_1|$ and $(x_0, "
        r"\operatorname{sign}(x_1)|x_0|)$ if $|x_0| < |x_1|$: the two cases are swapped in print, "
        r"where $(x_0, \operatorname{sign}(x_1)|x_0|)$ for $|x_0| \ge |x_1|$ jumps from $(1, -1)$ "
        r"to $(1, 1)$ where $x_1$ changes sign. With $\min(|x_0|, |x_1|)$ in place of the maximum "
        "the function is continuous and is the example that the proposition needs.",
        survives="The second part of Proposition 1: rank.cross-example and "
        "rank.no-injection-of-the-cross prove it for the function with the cases swapped.",
        weight="formula",
    ),
    readings={
        r"another value of $\operatorname{sign}(0)$": "the two points of the counterexample lie off the axes, and the "
        "jump is there for every value on the axis",
        "continuous inside the linear regions, or on the cross": "a piecewise linear function, as "
        "defined before, is the function of a network and so continuous on all of the plane; the "
        "printed function jumps across the axes",
        "with <= for >= and > for <": "that is the corrected function; the printed signs say the "
        "opposite in both cases",
    },
    corrected_by="rank.cross-example",
)
def test_cross_example_as_printed(x, y):
    r"""The printed example of Jacobian rank 1 is continuous.

    $f(x) = (x_0, \operatorname{sign}(x_1)|x_0|)$ for $|x_0| \ge |x_1|$ and
    $(\operatorname{sign}(x_0)|x_1|, x_1)$ otherwise is continuous.

    Its linear pieces have operator norm $\sqrt 2$, so continuity means
    $\|f(x) - f(y)\|^2 \le 2\|x - y\|^2$ for all $x$, $y$. Points on the axes are left out, so that the
    value of $\operatorname{sign}(0)$ does not matter.
    """
    off_the_axes = (x != 0).all() & (y != 0).all()
    jump = square(witnesses.cross_as_printed(x) - witnesses.cross_as_printed(y))
    return leq(jump, 2 * square(x - y), where=off_the_axes)


class Stepped(Network):
    """g plus four times the number of the arm: injective on the cross, and not continuous."""

    def __call__(self, x):
        return super().__call__(x) + 4 * (x[..., :1] < 0) + 8 * (x[..., 1:] < 0)


@instances
def functions_to_the_line(source: Source):
    """g: R² → R, piecewise linear and continuous."""
    return network(source, depth=(1, 3), width=(1, 4), inputs=2, outputs=1)


@instances
def with_steps(source: Source):
    """g ∈ [0, 2] on the cross, plus 4 times the number of the arm: different on different arms."""
    w = source.tensor(1, 2, low=0.5, high=1.0)
    return Stepped.linear((w, torch.ones_like(w[:, :1])))


def lipschitz(g):
    """A Lipschitz constant of a network, the product of the norms of its layers."""
    squares = map(linalg.frobenius_squared, g.weights)
    return math.prod(linalg.power(square, Fraction(1, 2)) for square in squares)


def on_one_arm(g, like, steps):
    """A search that stays on the arm on which it begins."""
    found = witnesses.equal_values(g, like, steps)
    return witnesses.EqualValues(found.point, 0 * found.point, found.point)


@construction(
    "rank.no-injection-of-the-cross",
    paper("rank", "Example 1"),
    instances=functions_to_the_line(),
    needs={"g is continuous": with_steps()},
    mutants={"one arm only": {"search": on_one_arm}},
    loose={"the same value": "a product of norms is far above the slope along the arm"},
    witness=witnesses.equal_values,
)
def test_no_injection_of_the_cross(g, *, search=witnesses.equal_values):
    r"""Every continuous g: R² → R takes one value at two distant points of the cross.

    For every continuous $g: \mathbb R^2 \to \mathbb R$ there are two points of the cross
    $|x_0| = |x_1| \le 1$ with the same value of $g$ and at least 1 apart in the maximum norm. So no
    $f = h \circ g$ through $\mathbb R$ is the identity on the cross, and the function of
    rank.cross-example has $\operatorname{rank}_{BN} = 2$.

    The first point is the end of an arm. On another arm two points at most $2^{-40}$ apart are found
    whose values enclose that of the first; the intermediate value theorem gives the second point
    between them. Also checked: the value at one of the two is within twice their distance times a
    Lipschitz constant of $g$.
    """
    found = search(g, g.biases[-1][0], 40)
    points = torch.stack((found.point, found.low, found.high))
    point, low, high = g(points)
    scale = tolerances.network_scale(g, found.point) + tolerances.network_scale(g, found.high)
    gap = (found.point - found.low).abs().amax()
    width = (found.high - found.low).abs().amax()
    near = lipschitz(g) * 2 * width
    return (
        leq(torch.minimum(low, high), point, scale=scale, label="the value from below"),
        leq(point, torch.maximum(low, high), scale=scale, label="the value from above"),
        leq((low - point).abs(), near, scale=scale, label="the same value"),
        leq(1, gap, label="the distance"),
        leq(width, Fraction(1, 2**40), label="the enclosure"),
        eq(points[:, 0].abs(), points[:, 1].abs(), label="on the cross"),
    )
