r"""The width that a network needs for sin(πd³⟨x, x'⟩) at depth two, and a sufficient one at three.

Let N be a network of depth two with r hidden neurons and all weights at most B in size, on
$S^{d-1} \times S^{d-1}$. Its output is the sum of r + 1 separable functions: r neurons times output
weights, of norm at most $B^2(1 + \sqrt{4d})$ each, and the output bias, of norm at most B
(:mod:`rankcheck.separation.separable`). With F = sin(πd³⟨x, x'⟩), n = d² and
$\tau \le \|P_n F\|$, the main theorem gives

$$\|F - N\|^2 \ge \|P_nF\| \Bigl( \|P_nF\| - \frac{2(r B^2 (1 + \sqrt{4d}) + B)}{\sqrt{N_{d,n}}}
  \Bigr),$$

so $\|F - N\|^2 \le \tau^2/2 \le \|P_nF\|^2/2$ forces
$r B^2(1 + \sqrt{4d}) + B \ge \tau \sqrt{N_{d,n}}/4$.

*As on the slides*, τ = 1/(5eπ), B = 2^d (:mod:`rankcheck.separation.oscillation` proves more,
‖P_nF‖² ≥ 1/(5eπ)): a squared error of at most $1/(50e^2\pi^2)$ needs

$$r \ge \frac{\sqrt{N_{d,d^2}}/(10e\pi) - 2^{d+1}}{2 \cdot 4^d (1 + \sqrt{4d})}.$$

The slides put $2^{d+1}$ into the denominator instead. *Sharper*: τ = 1/√(5eπ), and the L² norm
√3·B² of a neuron in place of its maximum: a squared error of at most 1/(10eπ) needs
$r \ge (\sqrt{N_{d,d^2}}/(4\sqrt{5e\pi}) - 2^d)/(\sqrt3 \cdot 4^d)$.

*Depth three* reaches the error ε everywhere, hence in L², with width $16\pi d^5/\varepsilon$ and
weights of at most max(4, 2πd³) (:mod:`rankcheck.witnesses.inner_product`), less than 2^d for
d >= 15.

Numbers are computed in balls with more bits than N_{d,n} has, so the integers are exact. The two
widths cross between d = 43 and d = 44, and from d = 73 on $d^{d/4} \le r \le d^{d/2}$.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from flint import arb

from rankcheck.balls import Undecided, precision
from rankcheck.linalg import Array
from rankcheck.separation.legendre import multiplicity
from rankcheck.separation.oscillation import ball_like

__all__ = [
    "allowed_norms",
    "allowed_norms_as_printed",
    "depth_three_width",
    "depth_two_width",
    "guaranteed_error",
    "slides_error",
    "slides_error_like",
]

T = TypeVar("T")
Bound = Callable[[int, arb], arb]


def slides_error() -> float:
    """1/(50e²π²) = 2.74e-4, the error at which the slides compare the two depths."""
    return 1 / (50 * math.e**2 * math.pi**2)


def slides_error_like(like: Array) -> Array:
    """1/(50e²π²) as an array of shape () of the kind of ``like``."""
    return ball_like(1 / (50 * _e_pi() ** 2), like)


def _derived(d: int, root: arb) -> arb:
    return (root / (10 * _e_pi()) - 2 ** (d + 1)) / (2 * 4**d * (1 + arb(4 * d).sqrt()))


def _printed(d: int, root: arb) -> arb:
    return root / (20 * _e_pi() * 4**d * (1 + arb(4 * d).sqrt()) + 2 ** (d + 1))


def _e_pi() -> arb:
    return arb(1).exp() * arb.pi()


def _norms(bound: Bound, d: int, root: arb) -> arb:
    return bound(d, root) * 4**d * (1 + arb(4 * d).sqrt()) / root


def _evaluate(bound: Bound, d: int, finish: Callable[[arb], T]) -> T:
    """finish(bound(d, √N)) at a precision that leaves the bound an absolute error below 2^-50."""
    if d < 2:
        raise ValueError(f"received d = {d}; the sphere S^(d-1) needs d >= 2")
    number = multiplicity(d, d * d)
    with precision(number.bit_length() + 64):
        return finish(bound(d, arb(number).sqrt()))


def allowed_norms(d: int, like: Array) -> Array:
    r"""$r B^2 (1 + \sqrt{4d})/\sqrt{N_{d,d^2}}$ at r = the derived bound, of shape ().

    It bounds the sum of the norms of r neurons. It is below τ/4 at every d, so it fits a double.
    """
    return _evaluate(partial(_norms, _derived), d, partial(ball_like, like=like))


def allowed_norms_as_printed(d: int, like: Array) -> Array:
    """As :func:`allowed_norms`, at the number of neurons on the slide."""
    return _evaluate(partial(_norms, _printed), d, partial(ball_like, like=like))


def guaranteed_error(d: int, norms: Array) -> Array:
    r"""The lower bound of the main theorem for the squared error of a network: the shape of norms.

    It is $\tau(\tau - 2(\text{norms} + B/\sqrt{N_{d,d^2}}))$. ``norms`` is the sum of the norms of
    all neurons over $\sqrt{N_{d,d^2}}$, B = 2^d bounds the output bias, and τ = 1/(5eπ) is below
    $\|P_nF\|$.
    """
    bias = _evaluate(lambda d, root: 2**d / root, d, partial(ball_like, like=norms))
    tau = ball_like(1 / (5 * _e_pi()), norms)
    return tau * (tau - 2 * (norms + bias))


def depth_two_width(d: int) -> int:
    """The derived bound rounded up, and at least 0: an exact integer.

    >>> [depth_two_width(d) for d in (8, 18, 19, 25)]
    [0, 1, 2, 729]
    """
    return max(0, _evaluate(_derived, d, _ceiling))


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


def _ceiling(x: arb) -> int:
    value = x.ceil().unique_fmpz()
    if value is None:
        raise Undecided(f"the least integer above {x} is not determined by the ball")
    return int(value)
