"""Prop. 1/6 of `rank`: the Jacobian rank is at most the bottleneck rank."""

from rankcheck import Network, bound, leq, paper, witnesses
from rankcheck.instances import (
    Source,
    instances,
    integer_bijection,
    integer_box,
    integer_factors,
    integer_network,
)

from ._regions import rank_over


@instances
def functions_through_a_bottleneck(source: Source):
    """f = h ∘ g through R^k, k, and a box, at whose centre most Jacobians are not zero."""
    k = source.integer(1, 3)
    n = source.integer(1, 3) if k == 1 else source.integer(k - 1, 3)
    box = integer_box(source, n)
    centre = (box[0] + box[1]) / 2
    width = (source.choice((1, k), weights=(1, 3)), 4)
    g = integer_network(source, depth=(1, 2), width=width, inputs=n, outputs=k, at=centre)
    h = integer_network(source, depth=(1, 2), width=width, inputs=k, slope=g.slope, at=g(centre))
    return witnesses.Factorisation(h, g), k, box


@instances
def of_full_rank(source: Source):
    """h a bijection of R^k and then an injective linear map, g a linear map onto R^k."""
    k = source.integer(1, 2)
    psi = integer_bijection(source, k, depth=(1, 2))
    U, V = integer_factors(source, k + source.integer(0, 2), k + source.integer(0, 1), k)
    onto, into = Network.linear((V,), psi.slope), Network.linear((U,), psi.slope)
    return (
        witnesses.Factorisation(into.merged_after(psi), onto),
        k,
        integer_box(source, V.shape[-1]),
    )


@instances
def through_one_dimension_more(source: Source):
    """The same functions through R^{k+1}, said to go through R^k."""
    f, k, box = of_full_rank()(source)
    return f, k - 1, box


@bound(
    "rank.jacobian-below-bottleneck",
    paper("rank", "Prop. 1/6"),
    instances=functions_through_a_bottleneck(),
    tight=of_full_rank(),
    needs={"f factors through R^k": through_one_dimension_more()},
    witness=witnesses.Factorisation,
    reach=lambda f, k, box: {"rank f": rank_over(f.network(), box)},
    effort=0.3,
)
def test_jacobian_below_bottleneck(f, k, box):
    r"""The Jacobian rank is at most the inner dimension of every factorisation.

    $\operatorname{rank}_J(f; \Omega) \le k$ for every $f = h \circ g$ through $\mathbb R^k$; so
    $\operatorname{rank}_J \le \operatorname{rank}_{BN}$.

    Checked over *all* linear regions of integer networks in a box $\Omega$.
    That the inequality can be strict is rank.cross-example.
    """
    return leq(rank_over(f.network(), box), k)
