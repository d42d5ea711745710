"""Example - conclusion, of `separation`: the tail of sin(πd³t) beyond degree d²."""

import math

import torch

from rankcheck import Erratum, bound, leq, paper, refuted
from rankcheck.instances.source import Source, instances
from rankcheck.instances.spheres import unit_vectors
from rankcheck.scalars import pi
from rankcheck.separation.legendre import orthonormal_table
from rankcheck.separation.oscillation import example_tail, sine_coefficients, sine_energy

from ._functions import sine


@instances
def approximating_polynomials(source: Source):
    """d ≥ 2, and the deviation of a polynomial of degree below d² from the best one."""
    d = source.integer(2, source.choice((6, 40)))
    return d, source.tensor(source.integer(1, min(d * d, 8)))


@instances
def best_polynomials(source: Source):
    """The deviation is 0."""
    d = source.integer(2, 40)
    return d, 0 * source.tensor(1)


def one_fifth(like):
    """1/(5eπ)."""
    return 1 / (5 * torch.exp(like.new_ones(())) * pi(like))


@bound(
    "separation.tail-of-the-example",
    paper("separation", "slide: Example - conclusion"),
    instances=approximating_polynomials(),
    tight=best_polynomials(),
    loose={
        "the bound": "the tail is 0.41892, 0.49526, 0.49985, 0.5000005 for d = 2 to 5, 18 to 21 times "
        "the bound"
    },
    witness=example_tail,
    no_batch="the basis has d² degrees, so an instance is one polynomial",
)
def test_tail_of_the_example(d, deviation):
    r"""The tail of sin(πd³t) beyond degree d² has a squared norm of at least 1/(5eπ).

    $\|P_n F\|^2 \ge \frac{1}{5e\pi}$ for $F = \sin(\pi d^3 \langle x, x' \rangle)$, $n = d^2$ and
    every $d \ge 2$. The left side is the least squared distance of $\sin(\pi d^3 t)$ to polynomials
    of degree below $n$ in $L^2(\mu_d)$.

    Checked for $d \le 40$, against polynomials with deviations of degree at most 7 from the best
    one. For $d \ge 25$ the bound follows from the lemma (separation.tail-from-the-lemma).
    """
    n = d * d
    alpha = sine_coefficients(d, d**6, n - 1, deviation)
    p = alpha + torch.cat((deviation, deviation.new_zeros(n - deviation.shape[-1])), -1)
    size = (deviation * deviation).sum(-1)
    distance = sine_energy(d, d**6, deviation) - (2 * alpha * p).sum(-1) + (p * p).sum(-1)
    tail = example_tail(d, deviation)
    return (
        leq(tail, distance, scale=1 + size, label="the best polynomial"),
        leq(one_fifth(deviation), tail, label="the bound"),
    )


@instances
def dimensions(source: Source, *, low: int, high: int):
    """One dimension."""
    return source.integer(low, high)


@bound(
    "separation.tail-from-the-lemma",
    paper("separation", "slide: Example - conclusion"),
    instances=dimensions(low=25, high=10**6),
    needs={"d >= 25": dimensions(low=2, high=24)},
    loose="the two integers are never equal; their ratio is 0.9992 at d = 25",
    no_batch="an instance is one integer: a batch would hold copies of it",
)
def test_tail_from_the_lemma(d):
    r"""The lemma gives the tail of the example in every dimension from 25 on.

    With $m = d^{5/2}$, $k = d^2 - 1$ and $d \ge 25$:
    $\frac{\lfloor m \rfloor - k}{4e\pi m} \ge \frac{1}{5e\pi}$, whether $d$ is a square or not. The
    left side is the bound of the lemma for real $m$ (separation.density-lower-bound and
    separation.sign-changes).

    Checked in integers, as $25\,(\lfloor m \rfloor - k)^2 \ge 16\,d^5$, for $d$ up to a million.
    """
    misses = math.isqrt(d**5) - d * d + 1
    return leq(16 * d**5, 25 * misses**2)


@instances
def points_on_both_spheres(source: Source):
    """d ≥ 2 and two unit vectors."""
    d = source.integer(2, 5)
    return d, unit_vectors(source, d), unit_vectors(source, d)


@refuted(
    "separation.tail-as-printed",
    paper("separation", "slide: Example - conclusion"),
    instances=points_on_both_spheres(),
    errata=Erratum(
        printed="TODO",
        right="Printed is P_nF ≥ 1/(5eπ); right is ‖P_nF‖² ≥ 1/(5eπ). P_nF itself is odd in ⟨x, x′⟩, so it "
        "vanishes at orthogonal vectors and takes both signs.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="separation.tail-of-the-example",
)
def test_tail_as_printed(d, x, other):
    r"""The tail of the example is at least 1/(5eπ), as worded in print.

    $P_n F \ge \frac{1}{5e\pi}$ for $F = \sin(\pi d^3 \langle x, x' \rangle)$ and $n = d^2$.
    """
    t = (x * other).sum(-1)
    alpha = sine_coefficients(d, d**6, d * d - 1, t)
    low = (alpha * orthonormal_table(d, d * d - 1, t)).sum(-1)
    return leq(one_fifth(t), sine(d)(t) - low, scale=d**3 * torch.ones_like(t))
