r"""Sines and plane waves in the Legendre basis, exactly: a function too hard for depth two.

For $s(t) = \sin(\omega t)$, $\omega = \pi\sqrt q$, the coefficients
$\alpha_n = \int s\,\sqrt{N_{d,n}}\,P_n\,d\mu_d$ are Bessel functions: by Gegenbauer's integral

$$\int e^{i\omega t} P_n(t)\,d\mu_d(t)
   = i^n\,\Gamma(d/2)\,(2/\omega)^{d/2-1} J_{n+d/2-1}(\omega),$$

so $\alpha_n = (-1)^{(n-1)/2} \sqrt{N_{d,n}}\,\Gamma(d/2)\,(2/\omega)^{d/2-1} J_{n+d/2-1}(\omega)$
for odd n, 0 for even n, and $\|s\|^2 = (1 - \int \cos(2\omega t)\,d\mu_d)/2$. Everything is
computed in ball arithmetic. Beside balls the results are balls of the working precision; beside
tensors they are doubles within a unit in the last place, and the precision is raised to reach that.

*Plane waves.* $e^{i\omega t} = \sum_n i^n a_n \sqrt{N_{d,n}}\,P_n(t)$ with
$a_n = \sqrt{N_{d,n}}\,\Gamma(d/2)\,(2/\omega)^{d/2-1} J_{n+d/2-1}(\omega)$ and $\sum_n a_n^2 = 1$.
From $|J_\nu(\omega)| \le (\omega/2)^\nu/\Gamma(\nu+1)$ come bounds of the terms from degree n on:
$a_k^2 \le N_{d,k}\,(c_k)^2$ and $|a_k| \sqrt{N_{d,k}} \le N_{d,k}\,c_k$,
$c_k = \Gamma(d/2)(\omega/2)^k/\Gamma(k+d/2)$. As $N_{d,k+1}/N_{d,k}$ does not increase in k, both
are below geometric series. Plane waves of all frequencies span a dense subspace of $L^2(\mu_d)$
(Stone–Weierstrass), so $\sum_n a_n^2 = 1$ says that the Legendre polynomials are complete.

*The lemma.* For a polynomial p of degree k < m (m a whole number), d >= 2 and
$s = \sin(\pi\sqrt d\,m\,t)$: $\int (s - p)^2 d\mu_d \ge (m - k)/(4e\pi m)$. In steps:

1. $1 - t^2 \ge e^{-2t^2}$ for $t^2 \le 1/2$ (log(1-y) + 2y is concave, 0 at y = 0 and positive at
   y = 1/2, up to 0.796), so for |t| <= 1/√d and every d >= 2.
2. $(1-t^2)^{(d-3)/2} \ge e^{-(d-3)/d}$ there: d >= 3, where the exponent is not negative (false for
   d = 2 at t = 0). It is at least 1/e for every d >= 2.
3. $\Gamma(d/2)/\Gamma((d-1)/2) \ge \sqrt{d/2 - 3/4} \ge \sqrt{d/(4\pi)}$ for every d >= 2
   (Kershaw's inequality, then 1/2 - 1/(4π) > 3/8).
4. Hence the density of $\mu_d$ is at least $\sqrt d/(2e\pi)$ on |t| <= 1/√d for every d >= 2, and
   $\int (s-p)^2 d\mu_d \ge \frac1{2e\pi} \int_{-1}^1 (\sin(\pi m x) - p(x/\sqrt d))^2 dx$.
5. $\int_{-1}^1 (\sin(\pi m x) - p)^2 dx \ge (\lfloor m \rfloor - k)/(2m)$ for degree k and real
   m >= 1. There are $2\lfloor m \rfloor$ intervals between neighbouring zeros of the sine around 0.
   On at least $\lfloor m \rfloor - k$ of them p has the opposite sign or is 0 (a run of l intervals
   between sign changes of p has at least (l-1)/2 of them; at most k intervals contain a sign change
   and there are at most k + 1 runs), and each contributes $\int \sin^2 = 1/(2m)$.

*The example.* $f = \sin(\pi d^3 t)$ is the case $m = d^{5/2}$, and $P_n f$ with n = d² is f less
its best approximation by polynomials of degree k = n - 1. As $\lfloor m\rfloor + 1 > m$,
$\|P_n f\|^2 \ge (1 - d^{-1/2})/(4e\pi) \ge 1/(5e\pi)$ for every d >= 25, square or not; for
d = 2..24 see `sine_tail` (0.419, 0.495, 0.49985, then 1/2 to more and more digits).

Source: T. Kocák, *Depth separation for neural networks* (slides, 2019), "Example", after
A. Daniely, COLT 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache

import torch
from flint import arb, ctx, fmpq

from rankcheck.balls import BallArray, is_ball, precision
from rankcheck.theory.linalg import Array, Number
from rankcheck.theory.scalars import pi, scalar, square_root
from rankcheck.theory.separation.legendre import multiplicity


def sine_coefficients(d: int, q: int | Fraction, n_max: int, like: Array) -> Array:
    """The coefficients α_0, ..., α_{n_max} of sin(π√q t), shape (n_max + 1,).

    Here and below ``like`` is an array that gives the kind of number and the device.
    Raises ValueError unless d >= 2, q > 0 and n_max >= 0.
    """
    _validate(d, Fraction(q), n_max)
    return _determined(lambda: _coefficients(d, Fraction(q), n_max + 1, ctx.prec), like)


def plane_wave_coefficients(d: int, q: int | Fraction, n_max: int, like: Array) -> Array:
    """The numbers a_0, ..., a_{n_max} of e^{iωt}, ω = π√q, shape (n_max + 1,).

    Raises ValueError unless d >= 2, q > 0 and n_max >= 0.
    """
    _validate(d, Fraction(q), n_max)
    return _determined(lambda: _waves(d, Fraction(q), n_max + 1, ctx.prec), like)


def plane_wave_tails(d: int, q: int | Fraction, n: int, like: Array) -> tuple[Array, Array]:
    """Upper bounds of Σ_{k >= n} a_k² and of Σ_{k >= n} |a_k| √N_{d,k}, each of shape ().

    The second bounds what the degrees from n on add to e^{iωt} at any t in [-1, 1]. Raises
    ValueError unless n is at least :func:`plane_wave_degrees`.
    """
    _validate(d, Fraction(q), n)
    if n < (least := plane_wave_degrees(d, q)):
        raise ValueError(
            f"received degree {n}; a geometric series bounds the terms from degree {least} on"
        )
    half = arb.pi() * _ball(Fraction(q)).sqrt() / 2
    number = multiplicity(d, n)
    size = (arb(d) / 2).gamma() * half**n / (n + arb(d) / 2).gamma()
    growth = arb(fmpq(multiplicity(d, n + 1), number))
    step = half / (n + arb(d) / 2)
    squares = number * size * size / (1 - growth * step * step)
    return ball_like(squares, like), ball_like(number * size / (1 - growth * step), like)


def plane_wave_degrees(d: int, q: int | Fraction) -> int:
    """The least n from which on each term of the bounds is at most half of the one before.

    Raises ValueError unless d >= 2 and q > 0.
    """
    _validate(d, Fraction(q), 0)
    n = 0
    # growth · (ω/2)/(n + d/2) <= 1/2, squared, with 355/113 above π; the first decays faster.
    while Fraction(355, 113) ** 2 * q * multiplicity(d, n + 1) ** 2 > (
        (n + Fraction(d, 2)) ** 2 * multiplicity(d, n) ** 2
    ):
        n += 1
    return n


def sine_energy(d: int, q: int | Fraction, like: Array) -> Array:
    """‖sin(π√q t)‖² in L²(μ_d), of shape ()."""
    _validate(d, Fraction(q), 0)
    return _determined(lambda: (_energy(d, Fraction(q)),), like)[0]


def sine_tail(d: int, q: int | Fraction, n: int, like: Array) -> Array:
    """‖P_n sin(π√q t)‖² = Σ_{i >= n} α_i², of shape ().

    It is also the least squared distance in L²(μ_d) to a polynomial of degree n - 1. Raises
    ValueError unless d >= 2, q > 0 and n >= 0.
    """

    def rest() -> tuple[arb]:
        known = _coefficients(d, Fraction(q), n, ctx.prec)
        return (sum((-a * a for a in known), _energy(d, Fraction(q))),)

    return _determined(rest, like)[0]


def example_tail(d: int, like: Array) -> Array:
    """‖P_n f‖² for f = sin(πd³t) and n = d², of shape ()."""
    return sine_tail(d, d**6, d * d, like)


def distance_lower_bound(m: int, k: int, like: Array) -> Array:
    """(m - k)/(4eπm), the bound of the lemma for sin(π√d m t) and polynomials of degree k."""
    return scalar(Fraction(m - k, 4 * m), like) / (torch.exp(like.new_ones(())) * pi(like))


def sine_distance_bound(d: int, q: int | Fraction, k: int, like: Array) -> Array:
    """‖s‖² - (1 + √5)(d - 2)K/(4ω²), below the squared distance of sin(π√q t) to degree k.

    K = (l + 1)(l + 2) for the largest odd l <= k, and 0 for k = 0. Proved for d >= 3 in
    docs/proofs/polynomials-against-a-sine.md. On [-1, 1] with dx/2 it is the case d = 3.
    """
    golden = 1 + square_root(5, like)
    share = scalar(Fraction((d - 2) * _degrees(k), 4) / Fraction(q), like) / (pi(like) * pi(like))
    return sine_energy(d, q, like) - golden * share


def sine_against_degree(m: Number, k: int, like: Array, constant: Number | None = None) -> Array:
    """½(1 - 1/(√(2π)πm) - κK/(π²m²)), κ = (1 + √5)/2 or a constant: the same for sin(π√d m t).

    It is smaller than :func:`sine_distance_bound` at q = dm², and the same for every d >= 3.
    """
    golden = (1 + square_root(5, like)) / 2 if constant is None else scalar(constant, like)
    degrees = scalar(_degrees(k) / Fraction(m) ** 2, like) / (pi(like) * pi(like))
    waves = 1 / (square_root(2, like) * torch.sqrt(pi(like)) * pi(like) * scalar(m, like))
    return (1 - waves - golden * degrees) / 2


def _degrees(k: int) -> int:
    """The sum of 2(2n + 1) over all odd n <= k."""
    return (k + k % 2) * (k + k % 2 + 1)


def density_lower_bound(d: int, like: Array) -> Array:
    """√d/(2eπ), a lower bound of the density of μ_d on |t| <= 1/√d for every d >= 2."""
    return square_root(d, like) / (2 * torch.exp(like.new_ones(())) * pi(like))


def sign_change_lower_bound(m: Number, k: int, like: Array) -> Array:
    """(⌊m⌋ - k)/(2m), a lower bound of ∫(sin(πmx) - p)² over [-1, 1] for p of degree k."""
    return scalar(Fraction(int(m // 1) - k) / (2 * Fraction(m)), like)


def ball_like(value: arb | tuple[arb, ...], like: Array) -> Array:
    """Balls as an array of the kind of ``like``: a BallArray, or the nearest doubles."""
    array = BallArray.exact(value)
    if not is_ball(like):
        return array.midpoints().to(like.device)
    return array


def _determined(values: Callable[[], tuple[arb, ...]], like: Array) -> Array:
    """values() as :func:`ball_like`, beside tensors at a precision that gives doubles their digits.

    Differences such as a small tail lose all digits at the working precision. The precision doubles
    until each radius is 2^-56 of the value, or below half of the least double.
    """
    if is_ball(like):
        return ball_like(values(), like)
    bits, least = ctx.prec, arb(2) ** -1075
    while True:
        with precision(bits):
            numbers = values()
        if all(x.rel_accuracy_bits() >= 56 or x.rad() < least for x in numbers):
            return ball_like(numbers, like)
        bits *= 2


@lru_cache(maxsize=512)
def _coefficients(d: int, q: Fraction, number: int, bits: int) -> tuple[arb, ...]:
    """The first ``number`` coefficients of sin(π√q t): the imaginary parts of those of the wave."""
    return tuple(
        arb(0) if a is None else a if n % 4 == 1 else -a
        for n, a in enumerate(_terms(d, q, number, odd=True))
    )


@lru_cache(maxsize=512)
def _waves(d: int, q: Fraction, number: int, bits: int) -> tuple[arb, ...]:
    """a_0, ..., a_{number - 1} of the plane wave.

    ``bits``, the working precision, is an argument because the cache must distinguish precisions.
    """
    return tuple(a for a in _terms(d, q, number, odd=False) if a is not None)


def _terms(d: int, q: Fraction, number: int, *, odd: bool) -> Iterator[arb | None]:
    """The first ``number`` of the a_n, or None for even n if only the odd ones are asked for."""
    _validate(d, q, number)
    omega = arb.pi() * _ball(q).sqrt()
    nu = arb(d) / 2 - 1
    factor = (nu + 1).gamma() * (2 / omega) ** nu
    for n in range(number):
        if odd and n % 2 == 0:
            yield None
        else:
            yield arb(multiplicity(d, n)).sqrt() * factor * omega.bessel_j(nu + n)


def _energy(d: int, q: Fraction) -> arb:
    omega = arb.pi() * _ball(q).sqrt()
    nu = arb(d) / 2 - 1
    return (1 - (nu + 1).gamma() * (1 / omega) ** nu * (2 * omega).bessel_j(nu)) / 2


def _ball(q: Fraction) -> arb:
    return arb(fmpq(q.numerator, q.denominator))


def _validate(d: int, q: Fraction, degree: int) -> None:
    if d < 2 or q <= 0 or degree < 0:
        raise ValueError(
            f"received d = {d}, q = {q}, degree {degree}; "
            "sin(π√q t) on S^(d-1) needs d >= 2, q > 0 and a degree of at least 0"
        )
