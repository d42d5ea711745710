"""Example, Lemma, of `separation`: the density of μ_d near 0, and polynomials against a sine."""

from fractions import Fraction

import torch

from rankcheck import Erratum, bound, eq, leq, linalg, paper, separation
from rankcheck.instances import Source, instances

from ._helpers import distance


@instances
def points_near_the_middle(source: Source, *, low: int = 2):
    """d from low to 1000, in half of the draws at most 8, and u in [−1, 1] for t = u/√d."""
    return source.integer(low, source.choice((8, 1000))), source.tensor(low=-1.0, high=1.0)


@instances
def tight_cases(source: Source):
    """A high dimension, and t = 0 or t = 1/√d."""
    return source.integer(100, 1000), source.choice((0, 1)) + 0 * source.tensor()


@instances
def circle_at_its_middle(source: Source):
    """d = 2 and t = 0."""
    return 2, 0 * source.tensor()


@instances
def ends_in_high_dimensions(source: Source):
    """d from 500 to 1000 and t = ±1/√d."""
    return source.integer(500, 1000), source.choice((1, -1)) + 0 * source.tensor()


@instances
def circles(source: Source):
    """d = 2 and |t| ≤ 0.36, where (1 − t²)^{−1/2} < e^{1/2}."""
    return 2, source.tensor(low=-0.5, high=0.5)


@instances
def points_too_far(source: Source):
    """t between 0.9 and 0.99, d from 8 to 50."""
    d = source.integer(8, 50)
    return d, source.tensor(low=0.9, high=0.99) * linalg.square_root(d, source.tensor())


@bound(
    "separation.density-lower-bound",
    paper("separation", "slide: Example, proof of the Lemma"),
    instances=points_near_the_middle(),
    tight=tight_cases(),
    needs={"|t| <= 1/√d": points_too_far()},
    mutants={
        "e^{−0.49} for 1/e": {"exponent": Fraction(49, 100)},
        "√(d/2 − 0.74) for √(d/2 − 1/2)": {"above": Fraction(37, 50)},
        "√(7d/(4π)) for √(d/(4π))": {"constant": 7},
        "four times √d/(2eπ)": {"times": 4},
    },
    loose={
        "at least 1/e": "the least value of the power decreases to e^{−1/2}",
        "Γ from above": "the ratio is about 1 − 1/(4d)",
        "the printed constant": "Γ(d/2)/Γ((d−1)/2) is near √(d/2), and the proof only needs "
        "√(d/(4π))",
        "the density": "√2 e times the bound at d = 2, and more in other dimensions; "
        "separation.density-lower-bound-sharp has the constants",
    },
    errata=Erratum(
        printed=r"“$\int f(x) d\mu_d(x) \ge (\sqrt{d}/(2e\pi)) \int_{-1/\sqrt{d}}^{1/\sqrt{d}} "
        r"f(x) dx \ge (1/(2e\pi)) \int_{-1}^1 f(t/\sqrt{d})\, dt$”",
        right=r"For $f \ge 0$, such as the square for which it is used; the second ≥ is an "
        "equation.",
        survives="All of it.",
    ),
)
def test_density_lower_bound(d, u, *, exponent=1, above=Fraction(1, 2), constant=1, times=1):
    r"""The density of $\mu_d$ is at least $\sqrt d/(2e\pi)$ on $|t| \le 1/\sqrt d$, in every dimension.

    For $|t| \le 1/\sqrt d$ and every $d \ge 2$ (so $d_0 = 2$ on the slide): $1 - t^2 \ge
    e^{-2t^2}$, $(1-t^2)^{(d-3)/2} \ge e^{-1}$, $\sqrt{d/2 - 1/2} \ge \Gamma(d/2)/\Gamma((d-1)/2)
    \ge \sqrt{d/2 - 3/4} \ge \sqrt{d/(4\pi)}$, and $\frac{d\mu_d}{dt} \ge \frac{\sqrt d}{2e\pi}$.

    Checked for $d$ up to 1000. The step $(1-t^2)^{(d-3)/2} \ge e^{-(d-3)/d}$ of the slide needs
    $d \ge 3$: separation.density-step.
    """
    t = u / linalg.square_root(d, u)
    power = linalg.power(1 - t * t, Fraction(d - 3, 2))
    # Γ(d/2)/Γ((d−1)/2) is √π times the density at 0, which has a form with rational numbers and π.
    gamma = torch.sqrt(linalg.pi(u)) * separation.density(d, torch.zeros_like(t))
    lower = torch.sqrt(linalg.scalar(Fraction(2 * d - 3, 4), u))
    upper = torch.sqrt(linalg.scalar(Fraction(d, 2) - above, u))
    least = times * separation.density_lower_bound(d, u)
    return (
        leq(torch.exp(-2 * t * t), 1 - t * t, label="1 − t²"),
        leq(torch.exp(-linalg.scalar(exponent, t)), power, terms=2**14, label="at least 1/e"),
        leq(gamma, upper, terms=2**12, label="Γ from above"),
        leq(lower, gamma, terms=2**12, label="Γ from below"),
        leq(torch.sqrt(constant * d / (4 * linalg.pi(u))), gamma, label="the printed constant"),
        leq(least, separation.density(d, t), label="the density"),
    )


@bound(
    "separation.density-step",
    paper("separation", "slide: Example, proof of the Lemma"),
    instances=points_near_the_middle(low=3),
    needs={"d >= 3": circles()},
)
def test_density_step(d, u):
    r"""The lower bound of the power of 1 − t² in the density, from dimension three on.

    $(1-t^2)^{(d-3)/2} \ge e^{-(d-3)/d}$ for $|t| \le 1/\sqrt d$ and $d \ge 3$, with equality for
    $d = 3$. It is false for $d = 2$ at $t = 0$, where the exponent is negative.
    """
    t = u / linalg.square_root(d, u)
    lower = torch.exp(linalg.scalar(Fraction(3 - d, d), u))
    return leq(lower, linalg.power(1 - t * t, Fraction(d - 3, 2)), terms=2**14)


@bound(
    "separation.density-lower-bound-sharp",
    paper("separation", "slide: Example, proof of the Lemma (sharpened)"),
    instances=points_near_the_middle(),
    tight=circle_at_its_middle(),
    needs={"|t| <= 1/√d": points_too_far()},
    mutants={"d^(13/25) for √d": {"exponent": Fraction(13, 25)}},
)
def test_density_lower_bound_sharp(d, u, *, exponent=Fraction(1, 2)):
    r"""The density of $\mu_d$ is at least $\sqrt d/(\sqrt2\,\pi)$ on $|t| \le 1/\sqrt d$, the best constant.

    $\frac{d\mu_d}{dt} \ge \frac{\sqrt d}{\sqrt2\,\pi}$ for $|t| \le 1/\sqrt d$ and every $d \ge 2$, with
    equality at $d = 2$, $t = 0$. That is $\sqrt2\,e = 3.84$ times the bound of the slide.

    Checked for $d$ up to 1000. Proof: docs/proofs/density-near-zero.md.
    """
    least = linalg.power(linalg.scalar(d, u), exponent) / (linalg.square_root(2, u) * linalg.pi(u))
    return leq(least, separation.density(d, u / linalg.square_root(d, u)))


@bound(
    "separation.density-from-dimension-three",
    paper("separation", "slide: Example, proof of the Lemma (sharpened)"),
    instances=points_near_the_middle(low=3),
    tight=ends_in_high_dimensions(),
    needs={"d >= 3": circles(), "|t| <= 1/√d": points_too_far()},
    mutants={"e^(−0.98) for 1/e": {"exponent": Fraction(49, 50)}},
    loose={
        "in the proof": "the ratio is about 1 − 1/d",
        "the density": "the ratio is about 1 − 1/(2d)",
    },
)
def test_density_from_dimension_three(d, u, *, exponent=1):
    r"""From dimension three on the density of $\mu_d$ is at least that of a Gaussian, near 0.

    $\frac{d\mu_d}{dt} \ge \sqrt{\frac{d}{2\pi e}}$ for $|t| \le 1/\sqrt d$ and $d \ge 3$: the
    density of the normal law of variance $1/d$ at one standard deviation. The constant is the best,
    in the limit of large $d$ at $|t| = 1/\sqrt d$. The proof rests on $(1 - \frac3{2d})(1 -
    \frac1d)^{d-3} \ge \frac1e$. The bound is false for $d = 2$ near $t = 0$.

    Checked for $d$ up to 1000. Proof: docs/proofs/density-near-zero.md.
    """
    e = torch.exp(linalg.scalar(exponent, u))
    first, second = (linalg.scalar(1 - share, u) for share in (Fraction(3, 2 * d), Fraction(1, d)))
    density = separation.density(d, u / linalg.square_root(d, u))
    least = torch.sqrt(d / (2 * linalg.pi(u) * e))
    return (
        leq(1 / e, first * linalg.power(second, d - 3), terms=2**14, label="in the proof"),
        leq(least, density, terms=2**14, label="the density"),
    )


@instances
def polynomials(source: Source):
    """d ≥ 2, m, a degree k < m, and the deviation of a polynomial of degree k from the best one."""
    d = source.integer(2, source.choice((4, 60)))
    m = source.integer(1, 16)
    k = source.integer(0, source.choice((0, m - 1)))
    return d, m, k, source.tensor(k + 1) * source.choice((0, 1))


@bound(
    "separation.polynomial-lower-bound",
    paper("separation", "slide: Example, Lemma"),
    instances=polynomials(),
    mutants={
        "twenty times as much": {"times": 20},
        "five times the sharper bound": {"factor": 5},
        "nothing for the degrees up to k": {"golden": 0},
    },
    loose={
        "the bound": "one constant for all dimensions; the best polynomial errs by much more",
        "any dimension": "signs give half of what the sine has on an interval of one standard deviation",
        "from dimension three": "the ratio tends to 1 as m grows at a fixed degree",
    },
    witness=separation.sine_coefficients,
)
def test_polynomial_lower_bound(d, m, k, deviation, *, times=1, factor=1, golden=None):
    r"""Every polynomial of degree k < m is far from sin(π√d m t), in every dimension.

    For $s(t) = \sin(\pi\sqrt d\,m\,t)$, a whole number $m$, and every polynomial $p$ of degree
    $k < m$: $\int (s - p)^2\,d\mu_d \ge \frac{m-k}{4e\pi m}$ for every $d \ge 2$ (so
    $d_0 = 2$ on the slide).

    Sharper: $\frac{m-k}{2\sqrt2\,\pi m}$ in every dimension, by the same proof with the best constant of
    the density (separation.density-lower-bound-sharp); and from $d = 3$ on, for real $m > 0$ and every
    degree $k$, $\frac12 \bigl(1 - \frac{1}{\sqrt{2\pi}\,\pi m} - \frac{1 + \sqrt5}{2 \pi^2 m^2} K\bigr)$ with $K =
    (l + 1)(l + 2)$, $l$ the largest odd integer up to $k$ ($K = 0$ for $k = 0$), which is at least $\frac13$
    for whole $m > k$. Proof: docs/proofs/polynomials-against-a-sine.md, Corollary 4.

    Checked for $d \le 60$, $m \le 16$. The distance is computed in the Legendre basis, where the
    coefficients of $s$ are Bessel functions. It is least at the projection, where it is the energy
    of $s$ beyond degree $k$.
    """
    q, size = d * m * m, deviation @ deviation
    value, scale = distance(d, q, deviation), 1 + size
    tail = separation.sine_tail(d, q, k + 1, deviation)
    lemma = times * separation.distance_lower_bound(m, k, deviation)
    share = linalg.scalar(Fraction(m - k, 2 * m), value)
    any_dimension = factor * share / (linalg.square_root(2, value) * linalg.pi(value))
    sharper = separation.sine_against_degree(m, k, deviation, golden)
    return (
        eq(value, tail + size, scale=scale, label="the best polynomial"),
        leq(lemma, value, scale=scale, label="the bound"),
        leq(any_dimension, value, scale=scale, label="any dimension"),
        leq(sharper, value, scale=scale, where=d >= 3, label="from dimension three"),
    )


@instances
def polynomials_on_the_interval(source: Source):
    """A frequency m ≥ 1 in fourths, a degree k < m, and a deviation from the best polynomial."""
    m = Fraction(source.integer(4, 48), 4)
    k = source.integer(0, source.choice((0, int(m) - 1)))
    return m, k, source.tensor(k + 1) * source.choice((0, 1))


@bound(
    "separation.sign-changes",
    paper("separation", "slide: Example, proof of the Lemma"),
    instances=polynomials_on_the_interval(),
    mutants={"three times as much": {"times": 3}},
    loose="the best polynomial errs by at least twice the bound (m = 1, k = 0)",
    witness=separation.sine_coefficients,
)
def test_sign_changes(m, k, deviation, *, times=1):
    r"""A polynomial of degree k has the wrong sign on m − k half periods of a sine.

    $\int_{-1}^1 (\sin(\pi m x) - p(x))^2\,dx \ge \frac{\lfloor m \rfloor - k}{2m}$ for real
    $m \ge 1$ and every polynomial $p$ of degree $k < m$. The slide has whole $m$ only.

    Checked is the integral, not the signs; $dx$ on $[-1, 1]$ is twice $\mu_3$.
    """
    value = 2 * distance(3, m * m, deviation)
    lower = separation.sign_change_lower_bound(m, k, deviation)
    return leq(times * lower, value, scale=1 + deviation @ deviation)


@instances
def constants_against_sines(source: Source):
    """A whole frequency m, the degree 0, and no deviation from the best constant, 0."""
    return Fraction(source.integer(1, 12)), 0, 0 * source.tensor(1)


@bound(
    "separation.sign-changes-doubled",
    paper("rankcheck", "docs/proofs/polynomials-against-a-sine.md, Corollary 2"),
    instances=polynomials_on_the_interval(),
    tight=constants_against_sines(),
    mutants={"one per cent more": {"times": Fraction(101, 50)}},
)
def test_sign_changes_doubled(m, k, deviation, *, times=2):
    r"""The bound for polynomials against a sine is twice as large as signs give.

    $\int_{-1}^1 (\sin(\pi m x) - p(x))^2\,dx \ge \frac{\lfloor m \rfloor - k}{m}$ for real
    $m \ge 1$ and every polynomial $p$ of degree $k < m$, with equality for $k = 0$ and whole $m$.

    separation.sign-changes, the step of the slides, has half of it. The integral is at least
    $1 - \frac{\sin 2\pi m}{2\pi m} - \sum_{n \le k} \frac{2n+1}{2} c_n^2$ with $c_n = \int P_n \sin(\pi m x)$,
    spherical Bessel functions of $\pi m$, for which separation.sine-on-the-sphere has a bound. Proof:
    docs/proofs/polynomials-against-a-sine.md.
    """
    value = 2 * distance(3, m * m, deviation)
    lower = times.numerator * separation.sign_change_lower_bound(m, k, deviation)
    return leq(lower / times.denominator, value, scale=1 + deviation @ deviation)
