"""Not on the slides: a bound for polynomials against a sine that keeps nearly all of the sine."""

from fractions import Fraction

from rankcheck import bound, leq, paper, separation
from rankcheck.instances import Source, instances

from ._sines import distance


@instances
def polynomials(source: Source, *, low: int = 3, high: int = 60):
    """d, q with ω = π√q, and the deviation of a polynomial of degree k ≤ 15 from the best one."""
    d = source.integer(low, source.choice((low, high)))
    q = Fraction(source.integer(1, source.choice((16, 4096))), 16)
    k = source.integer(0, source.choice((1, 15)))
    return d, q, source.tensor(k + 1) * source.choice((0, 1))


@instances
def constants(source: Source):
    """The same with the degree 0, and no deviation from the best constant, 0."""
    return source.integer(3, 60), Fraction(source.integer(1, 64), 4), 0 * source.tensor(1)


@instances
def lines_on_the_circle(source: Source):
    """d = 2, where the formula takes nothing away, and the best polynomial of degree 1."""
    return 2, Fraction(source.integer(1, 64), 16), 0 * source.tensor(2)


def with_one(d, q, k, like):
    """1 in place of (1 + √5)/2."""
    return with_constant(1, d, q, k, like)


def with_constant(constant, d, q, k, like):
    """Another constant in place of (1 + √5)/2."""
    whole = separation.sine_energy(d, q, like)
    golden = (1 + 5**0.5) / 2
    return whole - (whole - separation.sine_distance_bound(d, q, k, like)) * constant / golden


@bound(
    "separation.sine-on-the-sphere",
    paper("rankcheck", "docs/proofs/polynomials-against-a-sine.md, Theorem 3"),
    instances=polynomials(),
    tight=constants(),
    needs={"d >= 3": lines_on_the_circle()},
    mutants={"1 for (1 + √5)/2": {"lower": with_one}},
    witness=separation.sine_distance_bound,
)
def test_sine_on_the_sphere(d, q, deviation, *, lower=separation.sine_distance_bound):
    r"""Polynomials of low degree hold little of a sine: an explicit bound in every dimension from three on.

    For $s(t) = \sin \omega t$, $\omega > 0$, $d \ge 3$ and every polynomial $p$ of degree $k$: $\int (s -
    p)^2\,d\mu_d \ge \|s\|^2 - \frac{1 + \sqrt5}4 \cdot \frac{(d - 2) K}{\omega^2}$ with $K = (l + 1)(l + 2)$, $l$ the
    largest odd integer up to $k$, and $K = 0$ for $k = 0$, where it is an equality for $p = 0$.

    $d = 3$ is the interval $[-1, 1]$ with $dx/2$. From there the bound follows for larger $d$, as
    $\mu_d$ is a mixture of uniform laws. Best known in place of $\frac{1 + \sqrt5}2 = 1.618$ could be
    1.1302. Proof: docs/proofs/polynomials-against-a-sine.md.

    Checked for $d \le 60$, $k \le 15$, $\omega \le 16\pi$.
    """
    size = (deviation * deviation).sum(-1)
    k = deviation.shape[-1] - 1
    return leq(lower(d, q, k, deviation), distance(d, q, deviation), scale=1 + size)
