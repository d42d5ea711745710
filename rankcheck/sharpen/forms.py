"""Families of closed forms, and their members near a number, each with what it says.

The families: roots of rationals times powers of π and e; roots of quadratic polynomials, and square
roots of such; p + q c over r and its inverse, for the constants c of `CONSTANTS`; logarithms of
rationals; roots of cubic polynomials. Rationals are convergents of continued fractions, the other
integer relations are short vectors of lattices, reduced at several precisions by
`flint.fmpz_mat.lll` (A. K. Lenstra, H. W. Lenstra, Lovász, Math. Ann. 261, 1982).

The information in a form is the logarithm, in digits, of how many forms of its family have integers
no larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial

from flint import arb, fmpq, fmpz_mat, fmpz_poly

from rankcheck.sharpen.notation import (
    Constant,
    Style,
    affine,
    extracted,
    logarithm,
    polynomial_root,
    root,
    surd,
)

#: Bits of all real numbers here.
BITS = 256
#: A rational is offered if its two integers have no more digits than this together. With more, it
#: is that of one instance, whose entries are dyadic.
HEIGHT = 8.0
#: Lattices are reduced at these numbers of digits.
SCALES = range(7, 19)
#: The integers of a form have at most so many digits together; those of a rational, `HEIGHT`.
INFORMATION = 9.0


@dataclass(frozen=True, eq=False)
class Form:
    """A number in closed form, the digits of information in it, and how it is written."""

    value: arb
    information: float
    write: Callable[[Style], str]


def number(value: Fraction) -> arb:
    """A rational as a ball."""
    return arb(fmpq(value.numerator, value.denominator))


def forms(x: arb) -> Iterator[Form]:
    """Candidates of all families near a positive number, at the precision `BITS`."""
    yield from _products(x)
    yield from _logarithms(x)
    yield from _quadratics(x)
    yield from _affine(x)
    yield from _cubics(x)


# Rationals


def _convergents(value: arb) -> Iterator[tuple[int, int]]:
    """The convergents p/q of a positive number with p, q > 0 of little information."""
    scaled = int((value.mid() * arb(2) ** BITS).floor().fmpq().p)
    a, b = scaled, 2**BITS
    (p0, q0), (p1, q1) = (0, 1), (1, 0)
    while b:
        whole, (a, b) = a // b, (b, a % b)
        (p0, q0), (p1, q1) = (p1, q1), (whole * p1 + p0, whole * q1 + q0)
        if p1 * q1 > 10**INFORMATION:
            return
        if p1 and q1:
            yield p1, q1


PI, E = Constant("π", "\\pi"), Constant("e", "e")


def _power(n: int, k: int) -> tuple[Constant, Callable[[], arb]]:
    return Constant(f"{n}^(1/{k})", f"\\sqrt[{k}]{{{n}}}"), lambda: arb(n).root(k)


#: What stands beside a rational in a sum, apart from square roots.
CONSTANTS: tuple[tuple[Constant, Callable[[], arb]], ...] = (
    (PI, arb.pi),
    (E, lambda: arb(1).exp()),
    (Constant("log 2", "\\log 2"), lambda: arb(2).log()),
    (Constant("log 3", "\\log 3"), lambda: arb(3).log()),
    (Constant("π", "\\pi", below=True), lambda: 1 / arb.pi()),
    (Constant("e", "e", below=True), lambda: 1 / arb(1).exp()),
    (Constant("√π", "\\sqrt{\\pi}"), lambda: arb.pi().sqrt()),
    (Constant("√e", "\\sqrt{e}"), lambda: arb(1).exp().sqrt()),
    *(
        _power(n, k)
        for k, ns in ((3, (2, 3, 4, 9)), (4, (2, 3, 8)), (5, (2, 4, 8, 16)))
        for n in ns
    ),
)


@cache
def _products_tried() -> list[tuple[int, int, int, float]]:
    """(k, a, b, information) of the roots (p/q π^a e^b)^{1/k}."""
    bare = [(k, 0, 0) for k in range(2, 7)]
    other = [
        (k, a, b)
        for k in range(1, 5)
        for a in range(-4, 5)
        for b in range(-4, 5)
        if (a or b) and abs(a) + abs(b) <= 2 * k
    ]
    return [
        (1, 0, 0, 0.0),
        *((*one, math.log10(len(bare))) for one in bare),
        *((*one, math.log10(len(other))) for one in other),
    ]


def _products(x: arb) -> Iterator[Form]:
    pi, e = arb.pi(), arb(1).exp()
    for k, a, b, information in _products_tried():
        factor = pi**a * e**b
        for p, q in _convergents(x**k / factor):
            if (k, a, b) == (1, 0, 0) and p * q > 10**HEIGHT:
                break
            value = (arb(fmpq(p, q)) * factor).root(k)
            powers = [(c, n) for c, n in ((PI, a), (E, b)) if n]
            yield Form(
                value,
                information + math.log10(p) + math.log10(q),
                partial(root, p=p, q=q, k=k, powers=powers),
            )


def _logarithms(x: arb) -> Iterator[Form]:
    """log(p/q)/j, and logarithms to the bases 2 and 3."""
    tried = [(1, None), (2, None), (3, None), (1, 2), (1, 3)]
    if x > 40:  # p would have more than 17 digits
        return
    for j, base in tried:
        unit = arb(base).log() if base else arb(1)
        for p, q in _convergents((x * j * unit).exp()):
            if p > q:
                yield Form(
                    arb(fmpq(p, q)).log() / (j * unit),
                    math.log10(len(tried)) + math.log10(p) + math.log10(q),
                    partial(logarithm, p=p, q=q, j=j, base=base),
                )


# Integer relations


def _relations(values: Sequence[arb]) -> Iterator[tuple[int, ...]]:
    """Short integer vectors c with Σ c_i v_i near 0, one for each precision, each once."""
    n, seen = len(values), set()
    for digits in SCALES:
        scale = 10**digits
        rows = [
            [int(i == j) for j in range(n)] + [int((v * scale).mid().floor().fmpq().p)]
            for i, v in enumerate(values)
        ]
        first = [int(c) for c in fmpz_mat(rows).lll().tolist()[0][:n]]
        leading = next((c for c in first if c), 0)
        found = tuple(c if leading > 0 else -c for c in first)
        if leading and found not in seen and _size(found) <= INFORMATION:
            seen.add(found)
            yield found


def _size(integers: Sequence[int]) -> float:
    """The digits of information in integers of either sign, up to a common one."""
    count = sum(map(bool, integers))
    return sum(math.log10(abs(c)) for c in integers if c) + math.log10(2) * (count - 1)


def _quadratics(x: arb) -> Iterator[Form]:
    """Roots of quadratic polynomials, and the square roots of such."""
    for k in (1, 2):
        y = x**k
        for a, b, c in _relations([y * y, y, arb(1)]):
            discriminant = b * b - 4 * a * c
            if not (a and b and c) or discriminant <= 0:
                continue
            near = min((1, -1), key=lambda sign: _distance(y, a, b, discriminant, sign))
            s, rest = extracted(discriminant, 2)
            p, q, r = -b, near * s, 2 * a
            if rest == 1:
                continue  # a rational number
            common = math.gcd(p, q, r) * (1 if r > 0 else -1)
            p, q, r = p // common, q // common, r // common
            value = ((arb(p) + arb(q) * arb(rest).sqrt()) / r).root(k)
            yield Form(
                value,
                math.log10(4) + _size((a, b, c)),
                partial(surd, p=p, q=q, c=rest, r=r, k=k),
            )


def _distance(y: arb, a: int, b: int, discriminant: int, sign: int) -> float:
    return float(abs((-b + sign * arb(discriminant).sqrt()) / (2 * a) - y).mid())


def _affine(x: arb) -> Iterator[Form]:
    """(p + q c)/r and its inverse, for the constants c."""
    for constant, make in CONSTANTS:
        c = make()
        for inverse in (False, True):
            y = 1 / x if inverse else x
            for r, p, q in _relations([y, arb(1), c]):
                if not (r and q):
                    continue
                value = -(p + q * c) / r
                sign = -1 if r > 0 else 1
                yield Form(
                    1 / value if inverse else value,
                    math.log10(2 * len(CONSTANTS)) + _size((r, p, q)),
                    partial(affine, p=sign * p, q=sign * q, c=constant, r=abs(r), inverse=inverse),
                )


def _cubics(x: arb) -> Iterator[Form]:
    """Roots of cubic polynomials that have no rational root."""
    for relation in _relations([x**3, x * x, x, arb(1)]):
        polynomial = fmpz_poly(list(reversed(relation)))
        if polynomial.degree() < 3 or len(polynomial.factor()[1]) > 1:
            continue
        roots = [z.real for z, _ in polynomial.complex_roots() if z.imag == 0]
        value = min(roots, key=lambda z: float(abs(z - x).mid()))
        yield Form(
            value,
            math.log10(3) + _size(relation),
            partial(polynomial_root, coefficients=relation, near=value.str(8, radius=False)),
        )
