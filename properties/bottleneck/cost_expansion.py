"""Section 3 of `bottleneck`: the cost of a linear map as the depth grows."""

from fractions import Fraction

from rankcheck import costs, leq, limit, linalg, paper
from rankcheck.instances import Source, instances, matrix, semi_orthogonal


@instances
def linear_maps_at_depths(source: Source):
    """A matrix of any structure, or with singular values within 1/32 of one, and a depth."""
    m, n = source.integer(1, 4), source.integer(1, 4)
    if source.integer(0, 1) == 0:
        return matrix(source, m, n), source.integer(1, 24)
    k = min(m, n)
    s = 1 + source.tensor(k, low=-1.0, high=1.0) / 32
    left, right = semi_orthogonal(source, m, k), semi_orthogonal(source, n, k)
    return left * s @ right.mT, source.integer(1, 24)


@limit(
    "bottleneck.cost-expansion",
    paper("bottleneck", "§3"),
    instances=linear_maps_at_depths(),
    mutants={
        "1.3 in place of 4/3 in the remainder": {"share": Fraction(39, 40)},
        "a quarter in place of a half of the second correction": {"second": Fraction(1, 2)},
    },
)
def test_cost_expansion(A, L, *, share=1, second=1):
    r"""The cost of L linear layers: rank, log-determinant, second correction, remainder.

    $$L \sum_i s_i^{2/L} = L \operatorname{rank} A + 2 \log |A|_+
      + \frac{1}{2L} \|\log_+ A^T A\|_F^2 + r, \qquad
      |r| \le \frac{4}{3 L^2} \sum_i |\log s_i|^3 \max(1, s_i^{2/L}).$$

    The bound on $r$ is Lagrange's, and sharp as $s_i \to 1$. As $L \to \infty$, a linear map that is
    represented by linear layers has $R^{(0)} = \operatorname{rank} A$, $R^{(1)} = 2 \log |A|_+$ and
    $R^{(2)} = \frac12 \|\log_+ A^T A\|_F^2$.
    """
    cost, expansion = costs.linear_cost(A, L), costs.cost_expansion(A, L)
    size = cost + expansion.abs() + costs.expansion_remainder(A, 1)
    left_out = costs.log_gram_squared(A) / (2 * L) * linalg.scalar(1 - second, cost)
    rest = (cost - expansion + left_out).abs()
    return leq(rest, costs.expansion_remainder(A, L) * linalg.scalar(share, cost), scale=size)
