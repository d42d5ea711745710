"""Prop. 1 of `rank`: the bottleneck rank of compositions, sums and affine maps."""

import torch

from rankcheck import Network, construction, eq, linalg, paper, tolerances, witnesses
from rankcheck.instances import Source, instances, integer_factors, network, slope


def factorised(source: Source, inputs: int, outputs: int, like: Network | None = None):
    """A function R^inputs → R^outputs through R^k, k drawn; its slope is drawn, or that of `like`."""
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
    return witnesses.add(
        f, witnesses.Factorisation(f.outer, e.inner) if f.dimension == e.dimension else f
    )


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
