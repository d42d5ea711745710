"""Section 3.1 of `bottleneck`: local minima of each rank, for the cost and for its first two terms."""

from fractions import Fraction

from rankcheck import costs, eq, identity, linalg, paper
from rankcheck.instances import Source, instances, orthogonal, positive, semi_orthogonal, triangular

#: A bound on the rounding error of the singular values, for these instances.
NOISE = 2.0**-36


@instances
def maps_and_a_new_direction(source: Source):
    """A of rank k, unit vectors orthogonal to its image and its row space, ε in [2⁻¹⁰, 1], a depth."""
    k, L = source.integer(1, 3), source.integer(1, 12)
    out, into = (semi_orthogonal(source, k + 1, k + 1) for _ in range(2))
    R = orthogonal(source, k) @ triangular(source, k, low=0.25, high=4.0, above=2.0)
    A = out[..., :k] @ R @ into[..., :k].mT
    return A, out[..., k], into[..., k], positive(source, low=2.0**-10, high=1.0), L


def costs_of_two_terms(A, L, noise):
    """L rank A + 2 log|A|_+."""
    return L * linalg.rank(A, noise) + 2 * linalg.log_pseudo_determinant(A, noise)


@identity(
    "bottleneck.minima-of-each-rank",
    paper("bottleneck", "§3.1, minima of each rank"),
    instances=maps_and_a_new_direction(),
    mutants={
        "the two-term sum for the cost": {"cost": costs_of_two_terms},
        "the exponent of one layer more": {"more": 1},
    },
)
def test_minima_of_each_rank(A, u, v, e, L, *, cost=costs.linear_cost, more=0):
    r"""A new singular value raises the cost of a linear map, and lowers its two-term approximation.

    For $A$ of rank $k$, unit vectors $u \perp \operatorname{Im} A$ and $v \perp \operatorname{Im} A^T$, and
    $\varepsilon > 0$,
    $$R(A + \varepsilon u v^T; L) = R(A; L) + L\,\varepsilon^{2/L},$$
    while $L \operatorname{rank} A + 2 \log|A|_+$ changes by $L + 2 \log \varepsilon$, which is negative for
    $\varepsilon < e^{-L/2}$ and tends to $-\infty$.

    So for $L \ge 3$ the cost is a cusp at the matrices of rank $k$, in the directions that raise the rank, and a
    minimum of loss plus cost among them is a local minimum in these directions. The sum of the first two terms,
    with which the source argues for one local minimum for each rank, has no local minimum of a rank below
    the largest: the argument is about the cost, or about functions of a fixed rank. Only these directions are
    checked, and linear maps.
    """
    B = A + e[..., None, None] * u.unsqueeze(-1) * v.unsqueeze(-2)
    size = 1 + L * A.shape[-1] + costs.linear_cost(A, L, NOISE)
    rise = linalg.power(e, Fraction(2, L + more)) * L
    log_rise = 2 * e.log() + L
    two = costs_of_two_terms(B, L, NOISE) - costs_of_two_terms(A, L, NOISE)
    return (
        eq(cost(B, L, NOISE) - cost(A, L, NOISE), rise, scale=size, label="the cost"),
        eq(two, log_rise, scale=size, label="two terms"),
    )
