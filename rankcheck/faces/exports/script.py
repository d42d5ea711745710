"""A counterexample as a short script of Python that needs nothing of rankcheck.

Rationals are Fractions. Irrational numbers are intervals of mpmath, which is then the only thing
that the script imports from outside of Python's library.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np
from flint import fmpq

from rankcheck.claims.signs import SIGNS
from rankcheck.faces.exports.evaluate import Account, Array, Violation
from rankcheck.faces.exports.expressions import Syntax, written
from rankcheck.faces.exports.plan import Plan, plan
from rankcheck.faces.exports.trace import Branch, RankFact
from rankcheck.faces.exports.traced import Traced

WIDTH = 99
DIGITS = 60
"""Decimal digits of intervals."""

_RANK = """
def rank(M):  # by elimination
    M = [row for row in M if any(row)]
    if not M:
        return F(0)
    j = next(j for j, x in enumerate(M[0]) if x != 0)
    return 1 + rank([[x - row[j] / M[0][j] * y for x, y in zip(row, M[0])] for row in M[1:]])
"""
_REAL = f"""
from mpmath import iv

iv.dps = {DIGITS}  # intervals of so many digits


def R(x):
    return iv.mpf(x.numerator) / x.denominator
"""
_POWER = """
def power(x, exponent):
    return iv.exp(iv.log(x) * (R(exponent) if isinstance(exponent, F) else exponent))
"""


def script(account: Account, heading: str) -> str:
    """The script as text.

    Args:
        heading: what the claim says, and where.
    """
    return "\n".join(_Script(plan(account)).lines(heading)) + "\n"


class _Script:
    def __init__(self, chosen: Plan) -> None:
        self.plan = chosen
        self.names = dict(chosen.names)
        for array in chosen.account.arrays:
            for place in np.ndindex(array.entries.shape):
                x: Any = array.entries[place]
                if x.operation == "input" and x in self.names:
                    name = chosen.arrays[array.name]
                    self.names[x] = name + "".join(f"[{i}]" for i in place)
        self.syntax = Syntax(
            _literal,
            "**",
            {
                **{
                    name: lambda x, name=name: f"iv.{name}({x})"
                    for name in ("sqrt", "exp", "log", "sin", "cos", "atan")
                },
                "root": lambda x, exponent: f"power({x}, {exponent})",
                "power": lambda x, exponent: f"power({x}, {exponent})",
                "pi": lambda: "iv.pi",
            },
            lambda x: f"R({x})",
        )

    def lines(self, heading: str) -> Iterator[str]:
        account = self.plan.account
        safe = heading.replace("\\", "\\\\").replace('"""', "'''")
        yield f'"""{safe.strip()}\n"""'
        yield ""
        yield "from fractions import Fraction as F"
        operations = {x.operation for x in self.plan.steps}
        irrational = {x.operation for x in self.plan.needed if not x.rational}
        if not self.plan.rational:
            yield _REAL
        if irrational & {"root", "power"}:
            yield _POWER
        if "rank" in operations:
            yield _RANK
        yield ""
        yield "# The instance."
        for array in account.arrays:
            yield from self.array(array)
        yield ""
        yield "# What is computed from it."
        yield from self.steps()
        conditions = [self.condition(branch) for branch, _ in self.plan.branches]
        if conditions:
            yield ""
            yield "# The comparisons that were decided on the way."
            yield from _asserted(conditions)
        yield ""
        yield "# The two sides."
        yield from self.sides(account.violation)

    def array(self, array: Array) -> Iterator[str]:
        """An array whose entries are given; others are computed below."""
        if any(x in self.names and x.operation == "input" for x in array.entries.ravel().tolist()):
            name = self.plan.arrays[array.name]
            yield from _wrapped(f"{name} = {_nested(array.entries)}")

    def steps(self) -> Iterator[str]:
        """The definitions; neighbours that do not need each other share a line."""
        group: list[tuple[Traced, str]] = []
        for x in self.plan.steps:
            text = self.step(x)
            together = [*group, (x, text)]
            words = set(re.findall(r"\w+", text))
            independent = not any(self.names[other] in words for other, _ in group)
            if group and (not independent or len(_assignment(self.names, together)) > WIDTH):
                yield from _wrapped(_assignment(self.names, group))
                together = [(x, text)]
            group = together
        if group:
            yield from _wrapped(_assignment(self.names, group))
        roots = [x for x in self.plan.steps if self.is_literal(x)]
        if roots:
            yield "# The roots and logarithms among them."
            yield from _asserted([one for x in roots for one in self.root(x)])

    def is_literal(self, x: Traced) -> bool:
        return x.rational and x.operation in ("sqrt", "root", "log", "exp")

    def step(self, x: Traced) -> str:
        if x.operation == "rank":
            fact: RankFact = x.operands[0]
            rows = (
                "[" + ", ".join(written(y, self.names, self.syntax, top=False) for y in row) + "]"
                for row in fact.matrix
            )
            return f"rank([{', '.join(rows)}])"
        if self.is_literal(x):
            return _fraction(x.value)
        return written(x, self.names, self.syntax)

    def root(self, x: Traced) -> list[str]:
        """The conditions that make an exact root, logarithm or exponential what it is."""
        name = self.names[x]
        base = written(x.parts[0], self.names, self.syntax, top=False)
        if x.operation in ("log", "exp"):
            return [f"{base} == {1 if x.operation == 'log' else 0}"]
        exponent = fmpq(1, 2) if x.operation == "sqrt" else x.operands[1]
        power = base if int(exponent.p) == 1 else f"({base}) ** {int(exponent.p)}"
        return [f"{name} ** {int(exponent.q)} == {power}", f"{name} >= 0"]

    def condition(self, branch: Branch) -> str:
        irrational = not (branch.left.rational and branch.right.rational)
        left, right = (self.side(x, irrational) for x in (branch.left, branch.right))
        if branch.relation == "<>" and irrational:
            return f"({left} < {right} or {left} > {right})"
        sign = {"=": "==", "<>": "!="}.get(branch.relation, branch.relation)
        return f"{left} {sign} {right}"

    def side(self, x: Traced, irrational: bool) -> str:
        text = written(x, self.names, self.syntax, top=False)
        plain = x.is_constant and x.value.q == 1
        return f"R({text})" if irrational and x.rational and not plain else text

    def sides(self, one: Violation) -> Iterator[str]:
        irrational = not (one.lhs.rational and one.rhs.rational)
        for name, x in (("lhs", one.lhs), ("rhs", one.rhs)):
            text = written(x, self.names, self.syntax, top=x not in self.names)
            lifted = irrational and x.rational
            constant = _fraction(x.value) if x.is_constant else text
            yield from _wrapped(f"{name} = {f'R({constant})' if lifted else constant}")
        sign = SIGNS[one.kind].holds
        yield f'print(f"lhs = {{lhs}}, rhs = {{rhs}}: lhs {sign} rhs is false")'
        fails = {"eq": "lhs < rhs or lhs > rhs", "lt": "lhs >= rhs"}
        yield f"assert {fails.get(one.kind, 'lhs > rhs')}"


def _literal(x: fmpq) -> str:
    if x.q == 1:
        return str(int(x.p)) if x >= 0 else f"({int(x.p)})"
    return f"F({int(x.p)}, {int(x.q)})"


def _fraction(x: fmpq) -> str:
    return f"F({int(x.p)})" if x.q == 1 else f"F({int(x.p)}, {int(x.q)})"


def _nested(entries: np.ndarray) -> str:
    """Nested lists of the given numbers; None where one is computed."""
    if entries.ndim == 0:
        x: Any = entries[()]
        return _fraction(x.value) if x.operation == "input" else "None"
    return "[" + ", ".join(_nested(np.asarray(row, dtype=object)) for row in entries) + "]"


def _assignment(names: dict[Traced, str], group: list[tuple[Traced, str]]) -> str:
    left, right = (
        ", ".join(texts) for texts in zip(*((names[x], t) for x, t in group), strict=True)
    )
    return f"{left} = {right}"


def _asserted(conditions: list[str]) -> Iterator[str]:
    """Assertions of several conditions a line."""
    group: list[str] = []
    for condition in conditions:
        if group and len(" and ".join([*group, condition])) > WIDTH - 7:
            yield from _wrapped(f"assert {' and '.join(group)}")
            group = []
        group.append(condition)
    if group:
        yield from _wrapped(f"assert {' and '.join(group)}")


def _wrapped(text: str) -> list[str]:
    """The line, or lines in parentheses."""
    if len(text) <= WIDTH:
        return [text]
    start, sign, rest = text.partition(" = ") if " = " in text else ("assert", " ", text[7:])
    lines = textwrap.wrap(rest, WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return [f"{start}{sign}(", *(f"    {line}" for line in lines), ")"]
