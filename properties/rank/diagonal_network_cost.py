"""§1 of `rank`: the least cost of a diagonal linear network is an ℓ_p quasi-norm."""

from fractions import Fraction

from rankcheck import bound, eq, identity, leq, linalg, paper
from rankcheck.instances import Source, instances, positive


@instances
def entrywise_factors(source: Source):
    """Vectors v_1..v_L of one length."""
    depth, n = source.integer(1, 6), source.integer(1, 5)
    return ([source.tensor(n, low=-4.0, high=4.0) for _ in range(depth)],)


@instances
def equal_factors(source: Source):
    """Factors of equal absolute value, entry by entry, with signs; some entries are zero."""
    depth, n = source.integer(1, 6), source.integer(1, 5)
    size = positive(source, n, high=2.0)
    signs = [source.choice((1, -1)) for _ in range(depth)]
    return ([sign * size for sign in signs],)


def product(factors):
    """v_1 ⊙ ··· ⊙ v_L."""
    result = factors[0]
    for factor in factors[1:]:
        result = result * factor
    return result


@bound(
    "rank.diagonal-network-cost",
    paper("rank", "§1"),
    instances=entrywise_factors(),
    tight=equal_factors(),
    mutants={"exponent 2.04/L": {"exponent": Fraction(51, 25)}},
)
def test_diagonal_network_cost(factors, *, exponent=2):
    r"""No entrywise factorisation into L factors is cheaper than L times the $\ell_p$ power.

    $L\,\|w\|_p^p \le \sum_\ell \|v_\ell\|^2$ with $p = 2/L$ for $w = v_1 \odot \cdots \odot v_L$: in
    each entry the arithmetic mean of the squares is at least their geometric mean.
    """
    L = len(factors)
    cost = sum((v * v).sum(-1) for v in factors)
    return leq(L * linalg.power(product(factors).abs(), Fraction(exponent, L)).sum(-1), cost)


@identity(
    "rank.equal-factors-cost",
    paper("rank", "§1"),
    instances=equal_factors(),
    needs={"the factors have equal absolute values": entrywise_factors()},
    mutants={"exponent 2/(L+1)": {"layers": 1}},
)
def test_equal_factors_cost(factors, *, layers=0):
    r"""Factors of equal absolute value attain the least cost.

    $\sum_\ell \|v_\ell\|^2 = L\,\|w\|_p^p$, $p = 2/L$, where $|v_1| = \cdots = |v_L|$.
    """
    L = len(factors)
    cost = sum((v * v).sum(-1) for v in factors)
    return eq(cost, L * linalg.power(product(factors).abs(), Fraction(2, L + layers)).sum(-1))
