"""Ranks of functions: those with symmetries have a small one, and on a circle the two notions differ."""

from fractions import Fraction

import torch

from rankcheck import construction, eq, leq, linalg, paper, tolerances, witnesses
from rankcheck.instances import Source, clear_of_boundaries, instances, network, orthogonal


@instances
def functions_along_a_subspace(source: Source, *, invariant=True):
    """A network that ignores d directions, a basis E of the others, a point, and a step along the d."""
    net = network(source, depth=(1, 3), width=(1, 4), inputs=source.integer(1, 4))
    n = net.widths[0]
    d = source.integer(1, n)
    Q = orthogonal(source, n)
    across, along = Q[:, : n - d], Q[:, n - d :]
    x, t = source.tensor(n), source.tensor(d)
    if invariant:
        first = net.weights[0] @ across @ across.mT
        net = net.with_parameters((first, *net.weights[1:]), net.biases)
    return clear_of_boundaries(source, net, x), across, x, along @ t


def by_the_quotient(net, across, x):
    """h(g(x)) with g = Eᵀ, which is injective on orbits, and h = f∘E."""
    folded = net.with_parameters((net.weights[0] @ across, *net.weights[1:]), net.biases)
    return folded(across.mT @ x)


@construction(
    "bottleneck.rank-of-invariant-functions",
    paper("bottleneck", "§5, for translations"),
    instances=functions_along_a_subspace(),
    needs={"f is invariant": functions_along_a_subspace(invariant=False)},
    mutants={"a quotient of dimension 0": {"factor": lambda net, across, x: net(0 * x)}},
    loose={"the rank": "a network may have a smaller rank than its symmetries say"},
    audit="left out: it is about functions that translations do not change",
)
def test_rank_of_invariant_functions(net, across, x, step, *, factor=by_the_quotient):
    r"""A function that translations along d directions do not change factors through the others.

    Let $G$ be the translations along a subspace of $\mathbb R^n$ of dimension $d$ and $f$ a network with
    $f(x + v) = f(x)$ for these $v$. With an orthonormal basis $E$ of the complement, the orbit space is embedded
    by $g(x) = E^T x$, and $f = (f \circ E) \circ g$, so the bottleneck rank of $f$ is at most
    $n - d = \dim \mathbb R^n / G$; and so is the rank of its Jacobian.

    In general $f$ is constant on orbits, hence a function of the quotient map, and both factors are
    continuous where the embedding is proper. The bottleneck rank, however, is defined with piecewise linear
    factors, and the quotient by rotations has none that are; bottleneck.symmetry-learning-rank has the example
    of the source, whose factors are polynomials.
    """
    scale = tolerances.network_scale(net, x.abs() + step.abs())
    ranks = linalg.rank(net.jacobian(x), net.jacobian_noise(x))
    return (
        eq(net(x + step), net(x), scale=scale, label="the symmetry"),
        eq(factor(net, across, x), net(x), scale=scale, label="the factors"),
        leq(ranks, across.shape[1], label="the rank"),
    )


@instances
def functions_on_the_circle(source: Source):
    """A continuous piecewise-linear g: R² → R, and a point of the circle by its parameter."""
    g = network(source, depth=(1, 3), width=(1, 4), inputs=2, outputs=1)
    return g, source.tensor(low=-1.0, high=1.0)


#: How often the arc is halved.
STEPS = 24


def an_arc_anywhere(g, steps):
    """An equally short arc without bisection: the difference need not change its sign over it."""
    zero = g.biases[-1].new_zeros(())
    return zero, linalg.scalar(Fraction(2) ** (1 - steps), zero)


@construction(
    "bottleneck.circle",
    paper("bottleneck", "§3.3.1"),
    instances=functions_on_the_circle(),
    mutants={"without bisection": {"bracket": an_arc_anywhere}},
    loose={"the change of sign": "the right side is zero, which no factor tightens"},
    witness=witnesses.antipodal_bracket,
    effort=0.5,
)
def test_circle(g, m, *, bracket=witnesses.antipodal_bracket):
    r"""The identity of the circle has Jacobian rank one, and no map to the line takes it apart.

    Restricted to a tangent of the unit circle, the identity is the projection onto a line, so
    $\operatorname{rank}_J(id) = 1$. Each continuous $g: \mathbb R^2 \to \mathbb R$ takes two
    antipodes, at distance 2, to one value, so no $h \circ g$ through $\mathbb R^1$ is the identity
    and $\operatorname{rank}_{BN}(id) = 2$.

    Checked is the step of this for drawn piecewise-linear $g$: $g(x) - g(-x)$ changes its sign over an
    arc of parameters of length $2^{-23}$, so that by continuity it vanishes there. That rank two
    suffices is the identity itself, through $\mathbb R^2$.
    """
    t = witnesses.tangent(m)
    projection = torch.outer(t, t)
    low, high = bracket(g, STEPS)
    start, end = witnesses.antipodal_difference(g, low), witnesses.antipodal_difference(g, high)
    x = witnesses.point(low)
    scale = tolerances.network_scale(g, x)[0]
    return (
        eq(linalg.rank(projection), 1, label="the tangent"),
        eq(projection @ t, t, label="the tangent is kept"),
        leq(start * end, 0, scale=scale * (start.abs() + end.abs()), label="the change of sign"),
        eq(high - low, Fraction(2) ** (1 - STEPS), label="the arc"),
        eq(2 * x @ (2 * x), 4, label="two points"),
    )
