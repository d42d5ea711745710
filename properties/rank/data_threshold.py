"""After Prop. 5 of `rank`: the number of data from which the true rank is cheaper."""

from fractions import Fraction

from rankcheck import eq, identity, leq, linalg, paper
from rankcheck.instances import Source, instances


def threshold(level, c, k, L, *, shift=2):
    """N* = (level/c)^(kL/(2k − 2)), with the 2 that a mutant changes."""
    return linalg.power(level / c, Fraction(k * L, 2 * k - shift))


@instances
def numbers_of_data(source: Source):
    """Constants c > 0 and C ≥ 0, a rank k ≥ 2, a depth L, and a number N > 0 of data.

    N is a multiple of the threshold between 1/4 and 4, or drawn without regard to it: an integer up
    to 10⁶.
    """
    c, C = source.tensor(low=0.5, high=4.0), source.tensor(low=0.0, high=8.0)
    k, L = source.integer(2, 4), source.integer(1, 12)
    if source.integer(0, 1) == 0:
        return c, C, k, L, source.tensor(low=0.25, high=4.0) * threshold(k + C / L, c, k, L)
    return c, C, k, L, source.choice((1, 2, 3, 10, 100, 10**4, 10**6)) + 0 * c


@identity(
    "rank.data-threshold",
    paper("rank", "after Prop. 5"),
    instances=numbers_of_data(),
    mutants={"exponent kL/(2k − 1)": {"shift": 1}},
)
def test_data_threshold(c, C, k, L, N, *, shift=2):
    r"""The number of data beyond which the lower bound of rank-one fits exceeds the cost of the true rank.

    $c N^{\frac{2}{L}(1 - \frac{1}{k})} > k + \frac{C}{L} \iff
    N > N^* = \left(\frac{k + C/L}{c}\right)^{\frac{kL}{2k-2}}$, $k \ge 2$.

    Checked in both directions: the sides are equal at $N = N^*$; where $N > N^*$ the left side is the
    larger one, and where $N \le N^*$ it is not. The left side is the lower bound of Thm 2
    (rank.rank-one-fits-of-random-data), the right side the cost per layer of the true function
    (rank.true-rank-cost).
    """
    level = k + C / L
    least = threshold(level, c, k, L, shift=shift)
    exponent = Fraction(2 * (k - 1), L * k)
    cost = c * linalg.power(N, exponent)
    return (
        eq(c * linalg.power(least, exponent), level, terms=2**12, label="at the threshold"),
        leq(level, cost, where=least < N, terms=2**12, label="beyond it"),
        leq(cost, level, where=least >= N, terms=2**12, label="up to it"),
    )
