"""Example - conclusion, of `separation`: the width that depth two needs for sin(πd³⟨x, x′⟩), as
derived and as printed, in integers, and against the width that is enough for depth three."""

import math
from fractions import Fraction
from functools import lru_cache

import torch

from rankcheck import Erratum, bound, eq, identity, leq, limit, paper, refuted
from rankcheck.instances.source import Source, instances
from rankcheck.separation.legendre import multiplicity
from rankcheck.separation.widths import (
    allowed_norms,
    allowed_norms_as_printed,
    depth_three_width,
    depth_two_width,
    guaranteed_error,
    slides_error_like,
)


@instances
def narrow_networks(source: Source):
    """d ≥ 9, where the bound is positive, and a share: the norms as a part of what it allows."""
    d = source.integer(9, source.choice((30, 100, 1000)))
    return d, source.tensor(low=0.0, high=1.0)


@instances
def widest_of_the_narrow(source: Source):
    """The share 1: as many neurons as the bound says, as a real number."""
    return source.integer(9, 1000), torch.ones_like(source.tensor())


@instances
def low_dimensions(source: Source):
    """d ≤ 8, where the output bias alone may be too large for the theorem."""
    return source.integer(2, 8), source.tensor(low=0.0, high=1.0)


def twice_as_many(d, like):
    """Twice the number of neurons."""
    return 2 * allowed_norms(d, like)


@bound(
    "separation.width-lower-bound",
    paper("separation", "slide: Example - conclusion"),
    instances=narrow_networks(),
    tight=widest_of_the_narrow(),
    needs={"d >= 9": low_dimensions()},
    mutants={"twice as many neurons": {"allowed": twice_as_many}},
    witness=allowed_norms,
)
def test_width_lower_bound(d, share, *, allowed=allowed_norms):
    r"""The width that depth two needs for sin(πd³⟨x, x′⟩).

    A network of depth two on $S^{d-1} \times S^{d-1}$ with weights and biases at most $2^d$ and
    $\|F - N\|^2 \le \frac{1}{50e^2\pi^2}$, $F = \sin(\pi d^3 \langle x, x' \rangle)$, has
    $r \ge \frac{\sqrt{N_{d,d^2}}/(10e\pi) - 2^{d+1}}{2 \cdot 4^d (1 + \sqrt{4d})}$ neurons.

    The network is a sum of $r + 1$ separable functions: neurons with norms of at most $4^d(1 +
    \sqrt{4d})$ (separation.neuron-norm) and a bias of at most $2^d$. Take $\|P_nF\| \ge \tau =
    \frac{1}{5e\pi}$ with $n = d^2$; separation.tail-of-the-example gives this even for the square.
    Then the main theorem guarantees an error of at least $\tau(\tau - 2(\sum \|g_j\| +
    2^d)/\sqrt{N_{d,n}})$ where this is positive.

    Checked: this is at least $\tau^2/2$ for every $\sum \|g_j\|$ that is a `share` of the largest
    allowed one, with equality at share 1.
    """
    norms = share * allowed(d, share)
    return leq(slides_error_like(share), guaranteed_error(d, norms))


@refuted(
    "separation.width-lower-bound-as-printed",
    paper("separation", "slide: Example - conclusion"),
    instances=narrow_networks(),
    errata=Erratum(
        printed="TODO",
        right="Printed is 2^{d+1} as a summand of the denominator; right is to subtract it from √N/(10eπ) "
        "in the numerator. At d = 10 the printed width is 6.3·10⁻⁴, and the main theorem gives 4.9·10⁻⁴. "
        "From d = 30 on the two agree to 12 digits. Only the derivation is refuted: no network is known "
        "that is narrower than print allows.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="separation.width-lower-bound",
)
def test_width_lower_bound_as_printed(d, share):
    r"""The width that depth two needs, with the printed denominator.

    The main theorem gives a width of at least $\frac{\sqrt{N_{d,d^2}}}{20e\pi 2^{2d}(1 + \sqrt{4d})
    + 2^{d+1}}$: for neurons whose norms sum to a `share` of what that width allows, it guarantees
    an error of at least $\frac{1}{50e^2\pi^2}$.
    """
    norms = share * allowed_norms_as_printed(d, share)
    return leq(slides_error_like(share), guaranteed_error(d, norms))


@instances
def dimensions(source: Source, *, low: int, edges: tuple[int, ...]):
    """A dimension of up to 1000, or one of the edges, where the statement changes."""
    return source.choice((*edges, source.integer(low, 1000)))


@lru_cache(maxsize=256)
def e_times_pi(bits: int) -> tuple[Fraction, Fraction]:
    """Rational numbers below and above eπ, from the series of e and Machin's formula."""
    one = 1 << (bits + 16)
    e, term, k = 0, one, 0
    while term:
        e, k = e + term, k + 1
        term //= k
    pi = 4 * (4 * _arctan_inverse(5, one) - _arctan_inverse(239, one))
    slack = 16 * (bits + 64)
    return Fraction((e - slack) * (pi - slack), one**2), Fraction(
        (e + slack) * (pi + slack), one**2
    )


def _arctan_inverse(x: int, one: int) -> int:
    """arctan(1/x) in units of 1/one, with an error below two units a term."""
    power, total, k = one // x, 0, 1
    while power:
        total += (power // k) if k % 4 == 1 else -(power // k)
        power, k = power // (x * x), k + 2
    return total


def width_in_integers(d: int) -> int:
    """The least r ≥ 0 with √N/(10eπ) − 2^{d+1} ≤ 2·4^d (1 + √(4d)) r, from integers alone.

    Integer square roots and rational numbers on either side of eπ give a lower and an upper bound
    of the quotient.

    Raises:
        ValueError: if the two bounds do not have the same ceiling.
    """
    number = multiplicity(d, d * d)
    bits = number.bit_length() + 64
    unit = 1 << bits
    root, small = math.isqrt(number * unit**2), math.isqrt(4 * d * unit**2)
    below, above = e_times_pi(bits)
    ends = []
    for slack, constant in ((0, above), (1, below)):
        top = Fraction(root + slack, unit) / (10 * constant) - 2 ** (d + 1)
        bottom = 2 * 4**d * (1 + Fraction(small + (1 - slack), unit))
        ends.append(math.ceil(top / bottom))
    if ends[0] != ends[1]:
        raise ValueError(f"the width at d = {d} lies between {ends[0]} and {ends[1]}")
    return max(0, ends[0])


@identity(
    "separation.width-in-integers",
    paper("separation", "slide: Example - conclusion"),
    instances=dimensions(low=2, edges=(8, 9, 18, 19)),
    no_batch="an instance is one integer: a batch would hold copies of it",
)
def test_width_in_integers(d):
    r"""The least width of depth two as an exact integer, and the d from which it exceeds 1.

    $\lceil (\sqrt{N_{d,d^2}}/(10e\pi) - 2^{d+1})/(2 \cdot 4^d (1 + \sqrt{4d})) \rceil$ from balls
    with more bits than $N_{d,d^2}$ has equals the same from integers alone, for $d$ up to 1000. It
    is 0 up to $d = 8$ and 1 up to $d = 18$. From $d = 19$ on, where it is 2, the bound is not
    trivial.
    """
    width = depth_two_width(d)
    known = int(d >= 9) + int(d >= 19)
    return (
        eq(width, width_in_integers(d), label="the integer"),
        eq(min(width, 2), known, label="where it says something"),
    )


@bound(
    "separation.width-crossover",
    paper("separation", "slide: Example - conclusion"),
    instances=dimensions(low=2, edges=(43, 44)),
    mutants={"from 43 on": {"first": 43}, "from 45 on": {"first": 45}},
    loose="the two widths are not equal in any dimension",
    witness=depth_two_width,
    no_batch="an instance is one integer: a batch would hold copies of it",
)
def test_width_crossover(d, *, first=44):
    r"""Depth two must be wider than depth three from dimension 44 on.

    At the error $\varepsilon = \frac{1}{50e^2\pi^2}$ the width that depth two needs exceeds the
    width $16\pi d^5/\varepsilon$ that is enough for depth three if and only if $d \ge 44$; from
    $d = 100$ on by at least forty orders of magnitude.

    Checked for $d \le 1000$, with $\le$ between integers.
    """
    two, three = depth_two_width(d), math.ceil(depth_three_width(d))
    relation = leq(three, two) if d >= first else leq(two, three)
    gap = leq(10**40 * three, two, label="at d = 100")
    return (relation, gap) if d >= 100 else relation


@limit(
    "separation.width-growth",
    paper("separation", "slide: Example - conclusion"),
    instances=dimensions(low=73, edges=(73, 1000)),
    needs={"d >= 73": dimensions(low=2, edges=(72,))},
    loose="the exponent of d^d tends to 1/2, and is 0.369 at d = 1000",
    no_batch="an instance is one integer: a batch would hold copies of it",
)
def test_width_growth(d):
    r"""The width of depth two grows like a power of d^d.

    $d^{d/4} \le r \le d^{d/2}$ for the least width $r$ of depth two and $d \ge 73$, so
    $r = 2^{\Omega(d \log d)}$.

    Checked in integers, as $r^4 \ge d^d$ and $r^2 \le d^d$, for $d \le 1000$. Not checked is the
    limit, by Stirling's formula: $\log_2 r = \frac d2 \log_2 d + O(d)$.
    """
    width = depth_two_width(d)
    return (
        leq(d**d, width**4, label="from below"),
        leq(width**2, d**d, label="from above"),
    )
