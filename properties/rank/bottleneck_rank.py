"""Prop. 1 and Example 1 of `rank`: the bottleneck rank, its axioms, and where it is larger."""

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
from rankcheck.instances import Source, instances, integer_factors, network, slope

from ._regions import proved_rank


def factorised(source: Source, inputs: int, outputs: int, like: Network | None = None):
    """A function R^inputs → R^outputs through R^k, k drawn; of a drawn slope, or that of `like`."""
    k = source.integer(1, 3)
    g = network(source, depth=(1, 2), width=(1, 3), inputs=inputs, outputs=k, bound=2.0)
    h = network(source, depth=(1, 2), width=(1, 3), inputs=k, outputs=outputs, bound=2.0)
    a = g.slope if like is None else like.slope
    return witnesses.Factorisation(Network(h.weights, h.biases, a), Network(g.weights, g.biases, a))


@instances
def three_factorisations(source: Source):
    """f and e: R^p → R^q, g: R^n → R^p, each through a dimension of its own, and points."""
    n, p, q = source.integer(1, 3), source.integer(1, 3), source.integer(1, 3)
    f = factorised(source, p, q)
    g = factorised(source, n, p, f.inner)
    e = factorised(source, p, q, f.inner)
    return f, g, e, source.tensor(n), source.tensor(p)


def through_the_larger(f, g):
    """The composition, cut where the inner dimension is the larger of the two."""
    if f.dimension <= g.dimension:
        return witnesses.Factorisation(f.network().merged_after(g.outer), g.inner)
    return witnesses.Factorisation(f.outer, f.inner.merged_after(g.network()))


def inner_parts_only(f, e):
    """The sum with the outer part of f also for e: right only where the two agree."""
    other = witnesses.Factorisation(f.outer, e.inner) if f.dimension == e.dimension else f
    return witnesses.add(f, other)


@construction(
    "rank.bottleneck-rank-axioms",
    paper("rank", "Prop. 1, properties 1-3"),
    instances=three_factorisations(),
    mutants={
        "through the larger dimension": {"composed": through_the_larger},
        "the sum of a function with itself": {"summed": inner_parts_only},
    },
    witness=witnesses.factorisations,
)
def test_bottleneck_rank_axioms(f, g, e, x, y, *, composed=witnesses.compose, summed=witnesses.add):
    r"""Compositions factor through the smaller dimension, sums through the sum of the two.

    For $f$ through $\mathbb R^k$ and $g$ through $\mathbb R^m$, $f \circ g$ factors through
    $\mathbb R^{\min(k, m)}$; with $e$ through $\mathbb R^l$, $f + e$ factors through
    $\mathbb R^{k + l}$. So
    $\operatorname{rank}_{BN}(f \circ g) \le
    \min(\operatorname{rank}_{BN} f, \operatorname{rank}_{BN} g)$ and
    $\operatorname{rank}_{BN}(f + e) \le \operatorname{rank}_{BN} f + \operatorname{rank}_{BN} e$.

    Property 4 is rank.bottleneck-rank-of-affine-maps.
    """
    both, total = composed(f, g), summed(f, e)
    scale = tolerances.network_scale(both.network(), x)
    size = tolerances.network_scale(total.network(), y)
    return (
        eq(both.dimension, min(f.dimension, g.dimension), label="the dimension of a composition"),
        eq(both(x), f(g(x)), scale=scale, label="a composition"),
        eq(both.network()(x), f(g(x)), scale=scale, label="a composition, as one network"),
        eq(total.dimension, f.dimension + e.dimension, label="the dimension of a sum"),
        eq(total(y), f(y) + e(y), scale=size, label="a sum"),
        eq(total.network()(y), f(y) + e(y), scale=size, label="a sum, as one network"),
    )


@instances
def affine_maps(source: Source):
    """Factors of a matrix of known rank, an offset, a slope, and a point."""
    m, n = source.integer(1, 4), source.integer(1, 4)
    U, V = integer_factors(source, m, n, source.integer(1, min(m, n)))
    return U, V, source.tensor(m), slope(source), source.tensor(n)


@instances
def redundant_factors(source: Source):
    """The same with the first column of U twice, and half of the first row of V twice."""
    U, V, b, a, x = affine_maps()(source)
    return torch.cat((U[:, :1], U), 1), torch.cat((V[:1] / 2, V[:1] / 2, V[1:])), b, a, x


@construction(
    "rank.bottleneck-rank-of-affine-maps",
    paper("rank", "Prop. 1, property 4"),
    instances=affine_maps(),
    needs={"the factors have full rank": redundant_factors()},
    mutants={
        "the offset forgotten": {"witness": lambda U, V, b, a: witnesses.affine(U, V, 0 * b, a)}
    },
    witness=witnesses.affine,
)
def test_bottleneck_rank_of_affine_maps(U, V, b, slope, x, *, witness=witnesses.affine):
    r"""An affine map factors through the rank of its matrix.

    $x \mapsto Ax + b$ with $A = UV$ factors through $\mathbb R^{\operatorname{rank} A}$, and
    through no smaller space, because its Jacobian has that rank (rank.jacobian-below-bottleneck).
    """
    f, A = witness(U, V, b, slope), U @ V
    scale = tolerances.network_scale(f.network(), x)
    return (
        eq(linalg.rank(A), f.dimension, label="the dimension"),
        eq(f(x), A @ x + b, scale=scale, label="the function"),
    )


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

    def describe(self):
        return f"{super().describe()}, plus 4 times the number of the arm"


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
    return math.prod(W.norm() for W in g.weights)


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
