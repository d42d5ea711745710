"""Closed forms in words: the same formula as plain text and in LaTeX."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Constant:
    """A number with a name, in both notations; `below` says that its inverse is meant."""

    plain: str
    latex: str
    below: bool = False


@dataclass(frozen=True)
class Style:
    """How one notation writes products, quotients and roots."""

    latex: bool

    def name(self, constant: Constant) -> str:
        return constant.latex if self.latex else constant.plain

    def power(self, base: str, exponent: int) -> str:
        if exponent == 1:
            return base
        return f"{base}^{{{exponent}}}" if self.latex else f"{base}^{exponent}"

    def times(self, factors: Sequence[str]) -> str:
        """The product; 1 if there are no factors. Numbers come first."""
        between = " \\cdot " if self.latex and sum(f[0].isdigit() for f in factors) > 1 else " "
        return (between if self.latex else "·").join(factors) or "1"

    def over(self, numerator: str, denominator: str) -> str:
        if denominator == "1":
            return numerator
        if self.latex:
            return f"\\frac{{{numerator}}}{{{denominator}}}"
        above = f"({numerator})" if _compound(numerator, "+−") else numerator
        below = f"({denominator})" if _compound(denominator, "+−·/") else denominator
        return f"{above}/{below}"

    def root(self, radicand: str, k: int) -> str:
        if self.latex:
            return f"\\sqrt{f'[{k}]' if k > 2 else ''}{{{radicand}}}"
        inside = f"({radicand})" if _compound(radicand, "+−·/^") else radicand
        return f"√{inside}" if k == 2 else f"{inside}^(1/{k})"

    def log(self, argument: str) -> str:
        if self.latex:
            return f"\\log {argument}" if argument.isdigit() else f"\\log\\left({argument}\\right)"
        return f"log {argument}" if argument.isdigit() else f"log({argument})"

    def multiple(self, n: int, constant: Constant) -> str:
        """n c, or n/c, for n > 0."""
        if constant.below:
            return self.over(str(n), self.name(constant))
        return self.times([str(n)] * (n > 1) + [self.name(constant)])

    def plus(self, terms: Sequence[tuple[int, str]]) -> str:
        """The sum of terms without their signs; where a sign is 0 there is none."""
        text = ""
        for sign, term in terms:
            if sign:
                mark = ("-" if self.latex else "−") if sign < 0 else "+" if text else ""
                text += mark + term
        return text


def _compound(text: str, marks: str) -> bool:
    """Whether one of these marks stands outside all brackets."""
    depth = 0
    for mark in text:
        depth += (mark in "({[") - (mark in ")}]")
        if depth == 0 and mark in marks:
            return True
    return False


PLAIN, LATEX = Style(latex=False), Style(latex=True)


def root(style: Style, p: int, q: int, k: int, powers: Sequence[tuple[Constant, int]]) -> str:
    """(p/q · Π c^a)^{1/k} for p, q > 0: what is a k-th power stands outside the root."""
    # Above and below the line.
    numbers: tuple[list[str], list[str]] = ([], [])
    names: tuple[list[str], list[str]] = ([], [])
    inside: tuple[list[str], list[str]] = ([], [])
    for place, n in enumerate((p, q)):
        whole, rest = extracted(n, k)
        numbers[place].extend([str(whole)] * (whole > 1))
        inside[place].extend([str(rest)] * (rest > 1))
    for constant, a in powers:
        whole, rest = divmod(abs(a), k)
        for exponent, factors in ((whole, names), (rest, inside)):
            if exponent:
                factors[a < 0].append(style.power(style.name(constant), exponent))
    above, below = (style.times(factors) if factors else "" for factors in inside)
    if above:  # a quotient under the root, or a root of an integer
        numbers[0].append(style.root(style.over(above, below or "1"), k))
    elif below:
        numbers[1].append(style.root(below, k))
    return style.over(style.times(numbers[0] + names[0]), style.times(numbers[1] + names[1]))


def extracted(n: int, k: int) -> tuple[int, int]:
    """(m, r) with n = mᵏ r, and no k-th power of a prime below 1000 left in r."""
    if k == 1:
        return n, 1
    m = 1
    for d in range(2, min(math.isqrt(n) + 1, 1000)):
        while n % d**k == 0:
            n //= d**k
            m *= d
    return m, n


def affine(style: Style, p: int, q: int, c: Constant, r: int, inverse: bool = False) -> str:
    """(p + q c)/r for r > 0, or its inverse; what is positive comes first."""
    terms = [(p, str(abs(p))), (q, style.multiple(abs(q), c))]
    total = style.plus(sorted(terms, key=lambda term: term[0] < 0))
    return style.over(str(r), total) if inverse else style.over(total, str(r))


def surd(style: Style, p: int, q: int, c: int, r: int, k: int) -> str:
    """(p + q √c)/r for r > 0, or for k = 2 its square root."""
    number = affine(style, p, q, Constant(PLAIN.root(str(c), 2), LATEX.root(str(c), 2)), r)
    return number if k == 1 else style.root(number, k)


def polynomial_root(style: Style, coefficients: Sequence[int], near: str) -> str:
    """A root of a polynomial, named by its first digits; the leading coefficient comes first."""
    degree = len(coefficients) - 1
    terms = []
    for i, c in enumerate(coefficients):
        factors = [str(abs(c))] * (abs(c) > 1 or i == degree)
        factors += [style.power("x", degree - i)] * (i < degree)
        terms.append((c, style.times(factors)))
    if style.latex:
        return f"\\text{{the root }}{near}\\text{{ of }}{style.plus(terms)}"
    return f"the root {near} of {style.plus(terms)}"


def logarithm(style: Style, p: int, q: int, j: int, base: int | None) -> str:
    """log(p/q)/j, with the natural logarithm or the one of a base."""
    text = style.log(f"{p}/{q}" if q > 1 else str(p))
    below = ([str(j)] if j > 1 else []) + ([style.log(str(base))] if base else [])
    return style.over(text, style.times(below))
