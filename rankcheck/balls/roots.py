"""Roots of integer polynomials, with a bound on the work.

flint isolates complex roots at any price. Two at a relative distance of 2⁻ᵍ take g iterations, and
its precision doubles after every 4n + 64 of them. So it is asked only where the roots are apart.
**Real** roots are counted elsewhere: by Budan and Fourier, a polynomial p with real roots only has
as many above a as the coefficients of p(x + a) have changes of sign. Intervals are halved down to
the precision in force, and roots that have not come apart by then share an enclosure.
"""

from __future__ import annotations

from itertools import pairwise

from flint import acb_poly, arb, ctx, fmpq, fmpz_poly

from rankcheck.balls import numbers
from rankcheck.balls.numbers import ZERO, Number, Undecided

GENERIC = 1073741789
"""Ends of intervals are multiples of this prime: at rounder numbers they would part close roots."""

SHIFTS = 1 << 39
"""The most n (n + 50) · bits of the shifts p(x + a), each with 2²⁰ on top: about ten seconds."""


def distinct_real_roots(p: fmpz_poly) -> list[tuple[Number, int]]:
    """The roots with their multiplicities of a monic integer polynomial with real roots only."""
    zeros = order_at_zero(p)
    roots: list[tuple[Number, int]] = [(ZERO, zeros)] if zeros else []
    for factor, multiplicity in p.right_shift(zeros).factor_squarefree()[1]:
        roots += [(root, multiplicity) for root in _simple_real_roots(factor)]
    count = sum(multiplicity for _, multiplicity in roots)
    if count != p.degree():
        raise ArithmeticError(f"found {count} real roots of {p}, which has {p.degree()}")
    return roots


def order_at_zero(p: fmpz_poly) -> int:
    return next(k for k, c in enumerate(p.coeffs()) if c != 0)


def _simple_real_roots(p: fmpz_poly) -> list[Number]:
    """The real roots of a squarefree polynomial as above, p(0) ≠ 0; short rational ones exactly."""
    if p.degree() == 1:
        return [fmpq(-p[0], p[1])]
    if p.degree() == 2:
        c, b, a = (fmpq(p[k]) for k in range(3))
        root = numbers.sqrt(b * b - 4 * a * c)
        # Adding numbers of one sign loses no digits; the other root follows from the product c/a.
        larger = (-b - root if b >= 0 else -b + root) / (2 * a)
        return [larger, c / (a * larger)]
    if isolable(p) or all(count == 1 for _, _, count in _intervals(p, 40, alone=False)):
        return [_integer_root(p, z.real) for z, _ in p.complex_roots() if z.imag.is_zero()]
    roots: list[Number] = []
    for low, high, count in _intervals(p, ctx.prec, alone=True):
        ball = arb(low).union(arb(high))
        roots += [_integer_root(p, ball)] if count == 1 else [ball] * count
    return roots


def _integer_root(p: fmpz_poly, root: arb) -> Number:
    """The root in a ball with no other root; exactly, if it is rational, so an integer."""
    candidate = root.unique_fmpz()
    return fmpq(candidate) if candidate is not None and p(candidate) == 0 else root


def isolable(p: fmpz_poly) -> bool:
    """Whether flint isolates the roots of a squarefree polynomial soon."""
    n = p.degree()
    if (n - 1) * p.height_bits() <= 28 * (n + 16):  # the discriminant keeps them apart
        return True
    try:
        acb_poly(p).roots()
    except ValueError:
        return False
    return True


def _intervals(p: fmpz_poly, bits: int, *, alone: bool) -> list[tuple[fmpq, fmpq, int]]:
    """Disjoint intervals, narrower than 2⁻ᵇⁱᵗˢ of their ends (of one root if `alone`); counts."""
    # The roots of a polynomial of integers, and their inverses, are less than 2ᵇ⁺¹ (Cauchy).
    n, most, spent = p.degree(), p.height_bits() + 1, 0

    def above(a: fmpq, p: fmpz_poly, left: int, right: int) -> int:
        nonlocal spent
        q = fmpz_poly([c * a.p**k * a.q ** (n - k) for k, c in enumerate(p.coeffs())])  # p(ax)
        spent += n * (n + 50) * q.height_bits() + (1 << 20)
        if spent > SHIFTS:
            raise Undecided(f"roots of degree {n} and {most - 1}-bit coefficients: too much work")
        if left == right + 1:  # the sign tells
            value = q(1) * p[n]
            return left if value != 0 and (value < 0) == left % 2 else right
        signs = [c > 0 for c in q(fmpz_poly([1, 1])).coeffs() if c != 0]
        return sum(x != y for x, y in pairwise(signs))

    found = []
    for sign in (1, -1):
        q = p(fmpz_poly([0, sign]))
        least = GENERIC * fmpq(2) ** (-most - 30)
        todo = [(least, GENERIC * fmpq(2) ** most, above(least, q, n, 0), 0)]
        while todo:
            low, high, left, right = todo.pop()
            count = left - right
            if (high - low) * 2**bits <= low or (count == 1 and not alone):
                found.append((low, high, count) if sign > 0 else (-high, -low, count))
            elif count:
                middle = (low + high) / 2
                if high > 2 * low:  # halve the exponents
                    middle = low * 2 ** int((high / low).p.bit_length() // 2)
                between = above(middle, q, left, right)
                todo += [(low, middle, left, between), (middle, high, between, right)]
    return [one for one in found if one[2]]
