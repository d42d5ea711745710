"""After Prop. 5 of `rank`: the number of data from which the true rank is cheaper."""

from fractions import Fraction

from rankcheck import eq, identity, paper
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import power


@instances
def thresholds(source: Source):
    """Constants c > 0 and C ≥ 0, a rank k ≥ 2, a depth L, and a multiple t of the threshold."""
    return (
        source.tensor(low=0.5, high=4.0),
        source.tensor(low=0.0, high=8.0),
        source.integer(2, 4),
        source.integer(1, 12),
        source.tensor(low=0.25, high=4.0),
    )


@identity(
    "rank.data-threshold",
    paper("rank", "after Prop. 5"),
    instances=thresholds(),
    mutants={"exponent kL/(2k − 1)": {"shift": 1}},
)
def test_data_threshold(c, C, k, L, t, *, shift=2):
    r"""The number of data beyond which a rank-one fit costs more than the true rank.

    $c N^{\frac{2}{L}(1 - \frac{1}{k})} > k + \frac{C}{L} \iff
    N > N^* = \left(\frac{k + C/L}{c}\right)^{\frac{kL}{2k-2}}$, $k \ge 2$.

    Checked as $c (t N^*)^e = t^e (k + C/L)$ with $e = \frac{2}{L}(1 - \frac{1}{k}) > 0$ at multiples
    $t$ of the threshold: each side of the equivalence holds if and only if $t > 1$.
    """
    level = k + C / L
    threshold = power(level / c, Fraction(k * L, 2 * k - shift))
    exponent = Fraction(2 * (k - 1), L * k)
    return eq(c * power(t * threshold, exponent), power(t, exponent) * level, terms=2**12)
