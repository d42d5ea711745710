"""Example - conclusion, of `separation`: the width of depth two, as derived and as printed."""

import math
from fractions import Fraction
from functools import lru_cache

import torch

from rankcheck import Erratum, bound, eq, identity, leq, linalg, paper, separation
from rankcheck.instances import Source, instances, positive

from ._helpers import neurons_and_constant


def parameters(source: Source, size, d: int, r: int):
    """w, w' (r, d), b, output weights (r) and the output bias, with entries of at most B in size.

    In half of the instances w = w' has entries ±B, and all output weights are B or all −B.
    """

    def entries(*shape: int):
        return source.tensor(*shape, low=-1.0, high=1.0)

    def signs(values):
        return torch.where(values >= 0, 1.0, -1.0)

    aligned = entries() >= 0
    w, other, output = entries(r, d), entries(r, d), entries(r)
    w, other = (torch.where(aligned, signs(w), values) for values in (w, other))
    output = torch.where(aligned, signs(output[0]), output)
    return [size * values for values in (w, other, entries(r), output, entries())]


def networks(source: Source, size):
    """d, n ≥ 1, coefficients of F, B, and the parameters of a network with entries of at most B.

    F is 100rB² h_n and some of its neighbours, or the example sin(πd³⟨x, x'⟩) with n = d².
    """
    d, r = source.integer(2, 4), source.integer(1, 4)
    if source.choice(("drawn", "example")) == "drawn":
        n = source.integer(1, 3)
        low, high = (size * source.tensor(k) for k in (n, source.choice((0, 2))))
        top = 100 * r * size * size
        alpha = torch.cat((low * source.choice((0, 1)), top.unsqueeze(0), high))
    else:
        n = d * d
        alpha = separation.sine_coefficients(d, d**6, n + 6, size)
    return d, n, alpha, size, *parameters(source, size, d, r)


@instances
def bounded_networks(source: Source):
    """Networks of depth two with weights and biases of at most B."""
    return networks(source, positive(source, high=16.0))


@instances
def networks_with_larger_weights(source: Source):
    """The same with an eighth of the B."""
    d, n, alpha, size, *rest = networks(source, positive(source, high=16.0))
    return d, n, alpha, size / 8, *rest


@bound(
    "separation.width-lower-bound",
    paper("separation", "slide: Example - conclusion"),
    instances=bounded_networks(),
    needs={"all weights are at most B": networks_with_larger_weights()},
    mutants={
        "30 times as wide, as derived": {"derived": 30},
        "20 times as wide, as printed": {"printed": 20},
        "four times as wide, sharper": {"sharper": 4},
    },
    loose={
        "as derived on the slides": "the maximum of a neuron is far above its part in degree n, and a "
        "constant is no help",
        "as printed": "the maximum of a neuron is far above its part in degree n",
        "sharper": "|z|/2 has a mean, and parts beside the diagonal",
    },
    witness=separation.width_from_the_norm,
    no_ball="coefficients of neurons by quadrature, in floats",
)
def test_width_lower_bound(
    d, n, alpha, size, w, other, b, output, last, *, derived=1, printed=1, sharper=1
):
    r"""A network of depth two near an inner-product function is wide, or has large weights.

    Let $N$ be a network of depth two with $r$ hidden neurons on $S^{d-1} \times S^{d-1}$, all weights
    and biases at most $B$ in size, $F$ an inner-product function, $n \ge 1$, $\tau = \|P_nF\|$ and
    $\delta = \|F - N\| \le \tau$. Then
    $r \ge \frac{\sqrt{N_{d,n}} (\tau^2 - \delta^2)/(2\tau) - B}{B^2 (1 + \sqrt{4d})}$, as derived on
    the slides; $r \ge \frac{\sqrt{N_{d,n}}}{2\tau B^2(1 + \sqrt{4d})/(\tau^2 - \delta^2) + 2B}$, the
    printed form (they take $\tau = \frac1{5e\pi}$ and $\delta^2 = \tau^2/2$); and
    $r \ge \frac{2 \sqrt{N_{d,n}} (\tau - \delta)}{\sqrt3 B^2}$, from the theorem in norm.

    Checked for networks of up to four neurons in $d = 2, 3, 4$, for drawn $F$ and for $F = \sin(\pi
    d^3 \langle x, x' \rangle)$ with $n = d^2$. The error counts harmonics up to the degree of $F$
    only, which can only raise the bounds. Slide 2 asks about every network of polynomial width;
    what is proved is for weights of at most $B$. Proof: docs/proofs/width-of-depth-two.md.
    """
    beta, _, v, u = neurons_and_constant(d, len(alpha) - 1, w, other, b)
    beta = torch.cat((output, last.unsqueeze(0)))[:, None, None] * beta
    distance = separation.distance_squared(d, alpha, beta, v, u).clamp(min=0).sqrt()
    tail = separation.tail_norm(alpha, n)
    near = torch.minimum(distance, tail)
    norms = separation.separable_norms(beta).sum() + (alpha @ alpha).sqrt()
    # What cancels in the distance, as a width.
    scale = linalg.square_root(separation.multiplicity(d, n), size) * (norms / size) ** 2 / tail

    def enough(width, times, label):
        least = times * width(d, n, tail, near, size)
        return leq(least, len(b), scale=scale, terms=2**12, label=label)

    return (
        enough(separation.width_as_on_the_slides, derived, "as derived on the slides"),
        enough(separation.width_as_printed, printed, "as printed"),
        enough(separation.width_from_the_norm, sharper, "sharper"),
    )


@instances
def dimensions_and_shares(source: Source, *, low: int = 2):
    """A dimension of up to 1000, and the number of neurons as a share of the printed width."""
    d = source.integer(low, source.choice((30, 100, 1000)))
    return d, source.tensor(low=0.0, high=1.0)


@instances
def printed_widths(source: Source):
    """As many neurons as the printed width, as a real number; up to d = 10 both widths round to 1."""
    return source.integer(2, 1000, (20,) * 9 + (1,) * 990), torch.ones_like(source.tensor())


def with_nineteen(d, like):
    """19eπ in place of the printed 20eπ."""
    return separation.printed_norms(d, like) * 20 / 19


@bound(
    "separation.printed-width",
    paper("separation", "slide: Example - conclusion"),
    instances=dimensions_and_shares(),
    tight=printed_widths(),
    mutants={"19eπ for 20eπ": {"norms": with_nineteen}, "4000 ε² in place of ε²": {"times": 4000}},
    loose={"‖F − N‖": "print has the constants of ‖F − N‖², and ε² is ε/3646"},
    witness=separation.printed_norms,
    errata=Erratum(
        printed=r"$\sqrt{N_{d,d^2}} / (20e\pi 2^{2d}(1 + \sqrt{4d}) + 2^{d+1})$",
        right="The derivation subtracts $2^{d+1}$, for the output bias, from "
        r"$\sqrt{N_{d,d^2}}/(10e\pi)$ in the numerator of a fraction with the denominator "
        r"$2\cdot2^{2d}(1 + \sqrt{4d})$. In the denominator it only makes the width smaller, and "
        "the bias can be left out altogether.",
        survives=r"The printed width holds as it stands, for $\|F - N\|$ and for $\|F - N\|^2$.",
    ),
)
def test_printed_width(d, share, *, norms=separation.printed_norms, times=1):
    r"""The printed width is needed for sin(πd³⟨x, x′⟩), whether the error is squared or not.

    A network of depth two with weights and biases of at most $2^d$ and fewer neurons than
    $\frac{\sqrt{N_{d,d^2}}}{20e\pi 2^{2d}(1 + \sqrt{4d}) + 2^{d+1}}$ has $\|F - N\|^2 >
    \varepsilon = \frac{1}{50e^2\pi^2}$, so $\|F - N\| > \varepsilon$, for $F = \sin(\pi d^3 \langle
    x, x' \rangle)$ and every $d \ge 2$. The second is what slide 2 calls no $\varepsilon$-
    approximation; for $d \ge 9$ it follows from the main theorem as printed, with the bias as one
    more separable function, and for $d \le 8$ the printed width is below 1.

    Checked for $d \le 1000$: with the neurons' norms a `share` of what the printed width allows, the
    main theorem guarantees an error of at least $\varepsilon$ without the bias, and for $d \ge 9$ one
    of at least $\varepsilon^2$ with it; the width is at most the sharper one of
    separation.width-lower-bound. Proof: docs/proofs/width-of-depth-two.md.
    """
    total, error = share * norms(d, share), separation.slides_error_like(share)
    with_bias, without = (separation.guaranteed_error(d, total, bias=b) for b in (True, False))
    return (
        leq(error, without, label="‖F − N‖²"),
        leq(times * error * error, with_bias, where=d >= 9, label="‖F − N‖"),
        leq(separation.printed_width(d), separation.sharper_width(d), label="the sharper bound"),
    )


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
    below, above = ((e + error) * (pi + error) for error in (-slack, slack))
    return Fraction(below, one**2), Fraction(above, one**2)


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
    of the quotient; it raises ValueError if these do not have the same ceiling.
    """
    number = separation.multiplicity(d, d * d)
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


@instances
def dimensions(source: Source):
    """A dimension of up to 1000."""
    return source.integer(2, 1000)


@instances
def edges(source: Source):
    """A dimension where the width changes from 0 to 1 or from 1 to 2."""
    return source.choice((8, 9, 18, 19))


@identity(
    "separation.width-in-integers",
    paper("separation", "slide: Example - conclusion"),
    instances=dimensions(),
    tight=edges(),
    mutants={"as printed": {"width": separation.printed_width}},
    effort=2.0,
)
def test_width_in_integers(d, *, width=separation.depth_two_width):
    r"""The least width of depth two as an exact integer, and the d from which it exceeds 1.

    $\lceil (\sqrt{N_{d,d^2}}/(10e\pi) - 2^{d+1})/(2 \cdot 4^d (1 + \sqrt{4d})) \rceil$, the bound of
    separation.width-lower-bound as derived on the slides for $B = 2^d$, $\tau = \frac1{5e\pi}$ and
    $\delta^2 = \tau^2/2$, from balls with more bits than $N_{d,d^2}$ has, equals the same from
    integers alone, for every $d$ up to 1000: `rankcheck prove` enumerates them. It is 0 up to $d = 8$ and
    1 up to $d = 18$. From $d = 19$ on, where it is 2, the bound is not trivial, also beyond 1000
    (docs/proofs/width-of-depth-two.md, Corollary 6).
    """
    value = width(d)
    known = int(d >= 9) + int(d >= 19)
    return (
        eq(value, width_in_integers(d), label="the integer"),
        eq(min(value, 2), known, label="where it says something"),
    )
