r"""The width that a network needs for sin(πd³⟨x, x'⟩) at depth two, and a sufficient one at three.

Let N be a network of depth two with r hidden neurons and all weights at most B in size, on
$S^{d-1} \times S^{d-1}$: a sum of r + 1 separable functions, the neurons times output weights and
the output bias (:mod:`rankcheck.theory.separation.separable`). Let F be an inner-product function
and $\delta = \|F - N\| < \tau \le \|P_nF\|$, n >= 1.

*As on the slides.* The norm of a neuron is at most $B^2(1 + \sqrt{4d})$, that of the bias at most
B, and the main theorem gives

$$r \ge \frac{\sqrt{N_{d,n}}\,(\tau^2 - \delta^2)/(2\tau) - B}{B^2 (1 + \sqrt{4d})} .$$

*As printed.* The bias counts nothing, as $Q_n$ of a constant is 0. So B may be dropped, and all the
more be put into the denominator as the slides do:

$$r \ge \frac{\sqrt{N_{d,n}}}{2\tau B^2(1 + \sqrt{4d})/(\tau^2 - \delta^2) + 2B} .$$

*Sharper.* The theorem in norm, with $\|Q_n [z]_+\| \le \sqrt3 B/2$ for the neurons, gives

$$r \ge \frac{2 \sqrt{N_{d,n}}\,(\tau - \delta)}{\sqrt3 B^2} .$$

*The example.* The slides take F = sin(πd³⟨x, x'⟩), n = d², B = 2^d, τ = 1/(5eπ) and an error of
$\varepsilon = \tau^2/2 = 1/(50e^2\pi^2)$. Slide 2 defines ε-approximation by $\|F - N\| \le
\varepsilon$, but the constants of the conclusion are those of $\|F - N\|^2 \le \varepsilon$; here
``squared`` says which is meant. The sharper widths take $\tau = \sqrt{2/5}$, as
$\|P_nF\|^2 \ge 2/5$ (docs/proofs/polynomials-against-a-sine.md, Corollary 5).

*Depth three* reaches the error ε everywhere, hence in L², with width $16\pi d^5/\varepsilon$ and
weights of at most max(4, 2πd³) (:mod:`rankcheck.theory.witnesses.inner_product`), less than 2^d for
d >= 15.

*The rate.* $W(d) = \sqrt{N_{d,d^2}}/(20e\pi 4^d (1 + \sqrt{4d}))$, the width of the slides without
the bias, has

$$\log_2 W(d) = \tfrac d2 \log_2 d - \bigl(2 - \tfrac12 \log_2 e\bigr) d - \tfrac74 \log_2 d - c
   - \Bigl(\tfrac1{2\sqrt d} + \tfrac{\eta(d)}{d}\Bigr) \log_2 e,$$

$c = \log_2(40e\pi) + \frac14 \log_2 \frac{\pi}{2e}$ and $\frac38 \le \eta(d) \le \frac{17}8$ for
every d >= 2. Proofs: docs/proofs/width-of-depth-two.md.

Numbers are computed in balls with more bits than N_{d,n} has, so the integers are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from flint import arb, ctx

from rankcheck.balls import Undecided, precision
from rankcheck.theory.linalg import Array
from rankcheck.theory.scalars import square_root
from rankcheck.theory.separation.legendre import multiplicity
from rankcheck.theory.separation.oscillation import ball_like

T = TypeVar("T")


# For every network: τ, δ and B are arrays of one shape, or balls.


def width_as_on_the_slides(d: int, n: int, tail: Any, distance: Any, size: Any) -> Any:
    r"""$(\sqrt{N_{d,n}}(\tau^2 - \delta^2)/(2\tau) - B)/(B^2(1 + \sqrt{4d}))$.

    tail is τ > 0, distance is δ, and size is B > 0; the result has their shape.
    """
    gain = (tail * tail - distance * distance) / (2 * tail)
    return (_root(multiplicity(d, n), tail) * gain - size) / (size * size * _slope(d, tail))


def width_as_printed(d: int, n: int, tail: Any, distance: Any, size: Any) -> Any:
    r"""$\sqrt{N_{d,n}}/(2\tau B^2(1 + \sqrt{4d})/(\tau^2 - \delta^2) + 2B)$, for δ < τ.

    The arguments are those of :func:`width_as_on_the_slides`. The fraction is reduced, so the value
    is 0 for δ = τ.
    """
    gain = tail * tail - distance * distance
    below = 2 * tail * size * size * _slope(d, tail) + 2 * size * gain
    return _root(multiplicity(d, n), tail) * gain / below


def width_from_the_norm(d: int, n: int, tail: Any, distance: Any, size: Any) -> Any:
    r"""$2\sqrt{N_{d,n}}(\tau - \delta)/(\sqrt3 B^2)$, as :func:`width_as_on_the_slides`."""
    return 2 * _root(multiplicity(d, n), tail) * (tail - distance) / (_root(3, tail) * size * size)


def _slope(d: int, like: Any) -> Any:
    return 1 + _root(4 * d, like)


def _root(number: int, like: Any) -> Any:
    return arb(number).sqrt() if isinstance(like, arb) else square_root(number, like)


# For the example: n = d², B = 2^d.


def slides_error() -> float:
    """1/(50e²π²) = 2.74e-4, the error at which the slides compare the two depths."""
    return 1 / (50 * math.e**2 * math.pi**2)


def slides_error_like(like: Array) -> Array:
    """1/(50e²π²) as an array of shape () of the kind of ``like``."""
    return ball_like(_tau() ** 2 / 2, like)


def _tau() -> arb:
    return 1 / (5 * arb(1).exp() * arb.pi())


def _tail() -> arb:
    return (arb(2) / 5).sqrt()


def _delta(squared: bool) -> arb:
    error = _tau() ** 2 / 2
    return error.sqrt() if squared else error


def _evaluate(d: int, finish: Callable[[], T]) -> T:
    """finish() with the bits of N_{d,d²} above the working ones, enough to round a width up."""
    if d < 2:
        raise ValueError(f"received d = {d}; the sphere S^(d-1) needs d >= 2")
    with precision(multiplicity(d, d * d).bit_length() + max(ctx.prec, 64)):
        return finish()


def depth_two_width(d: int, *, squared: bool = True) -> int:
    """The bound derived as on the slides, rounded up, and at least 0: an exact integer.

    The error is ‖F - N‖² <= 1/(50e²π²), or ‖F - N‖ <= 1/(50e²π²) if not ``squared``.

    >>> [depth_two_width(d) for d in (8, 18, 19, 25)]
    [0, 1, 2, 729]
    """
    return _evaluate(d, lambda: _ceiling(_example(width_as_on_the_slides, d, _tau(), squared)))


def printed_width(d: int) -> int:
    """The printed width, rounded up: an exact integer."""
    return _evaluate(d, lambda: _ceiling(_example(width_as_printed, d, _tau(), True)))


def sharper_width(d: int, *, squared: bool = True) -> int:
    """The bound from the theorem in norm, rounded up: an exact integer.

    >>> [sharper_width(d) for d in (10, 11, 19, 25)]
    [1, 2, 1295, 973170]
    """
    return _evaluate(d, lambda: _ceiling(_example(width_from_the_norm, d, _tail(), squared)))


def _example(width: Callable[..., arb], d: int, tail: arb, squared: bool) -> arb:
    return width(d, d * d, tail, _delta(squared), arb(2**d))


def printed_norms(d: int, like: Array) -> Array:
    r"""$r B^2 (1 + \sqrt{4d})/\sqrt{N_{d,d^2}}$ at r = the printed width, of shape ().

    It bounds the sum of the norms of r neurons. It is below τ/4 at every d, so it fits a double.
    """

    def norms() -> arb:
        width = _example(width_as_printed, d, _tau(), True)
        return width * 4**d * _slope(d, width) / arb(multiplicity(d, d * d)).sqrt()

    return _evaluate(d, lambda: ball_like(norms(), like))


def guaranteed_error(d: int, norms: Array, *, bias: bool) -> Array:
    r"""The lower bound of the main theorem for the squared error of a network: the shape of norms.

    It is $\tau(\tau - 2(\text{norms} + B/\sqrt{N_{d,d^2}}))$. ``norms`` is the sum of the norms of
    all neurons over $\sqrt{N_{d,d^2}}$, B = 2^d bounds the output bias, or is left out without
    ``bias``, and τ = 1/(5eπ) is below $\|P_nF\|$.
    """
    root = partial(_root, multiplicity(d, d * d))
    output = _evaluate(d, lambda: ball_like(2**d / root(arb(1)), norms))
    tau = ball_like(_tau(), norms)
    return tau * (tau - 2 * (norms + output if bias else norms))


def depth_three_width(d: int, error: float | None = None) -> float:
    """16πd⁵/ε, a sufficient width at depth three for the error ε, by default that of the slides.

    Raises ValueError unless d >= 2 and ε > 0.
    """
    epsilon = slides_error() if error is None else error
    if d < 2 or not epsilon > 0:
        raise ValueError(
            f"received d = {d} and error {error}; a width needs d >= 2 and an error > 0"
        )
    return 16 * math.pi * d**5 / epsilon


def log_width(d: int) -> float:
    r"""$\log_2 W(d)$, the nearest double."""

    def value() -> arb:
        width = arb(multiplicity(d, d * d)).sqrt() * _tau() / (4 * 4**d * _slope(d, arb(1)))
        return width.log() / arb(2).log()

    return _evaluate(d, lambda: float(value()))


def width_rate(d: int) -> float:
    r"""$\frac d2 \log_2 d - (2 - \frac12 \log_2 e) d - \frac74 \log_2 d - c$, see `log_width`."""
    log_d, log_e = math.log2(d), math.log2(math.e)
    constant = math.log2(40 * math.e * math.pi) + math.log2(math.pi / (2 * math.e)) / 4
    return d * log_d / 2 - (2 - log_e / 2) * d - 7 * log_d / 4 - constant


def _ceiling(x: arb) -> int:
    value = x.ceil().unique_fmpz()
    if value is None:
        raise Undecided(f"the least integer above {x} is not determined by the ball")
    return max(0, int(value))
