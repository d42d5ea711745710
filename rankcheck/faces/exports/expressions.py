"""Expressions of traced numbers as texts, in the syntax of Coq or of Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from flint import fmpq

from rankcheck.faces.exports.traced import Traced

SUM, PRODUCT, SIGN, POWER, ATOM = range(5)
_LEVELS = {"add": SUM, "sub": SUM, "mul": PRODUCT, "div": PRODUCT, "neg": SIGN, "pow": POWER}
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


@dataclass(frozen=True)
class Syntax:
    """How a language writes numbers.

    Attributes:
        literal: a rational, with parentheses where they are needed as an operand.
        power: the sign of an integer power.
        functions: by operation, the text of a call from the texts of its operands.
        lifted: of a rational operand of an irrational number, its text as a number of that kind;
            None if there is one kind only.
    """

    literal: Callable[[fmpq], str]
    power: str
    functions: Mapping[str, Callable[..., str]]
    lifted: Callable[[str], str] | None = None


def written(x: Traced, names: Mapping[Traced, str], syntax: Syntax, *, top: bool = True) -> str:
    """The expression of a number, in which named numbers stand under their names.

    Args:
        top: whether its own name is left aside.
    """
    return _written(x, names, syntax, top)[0]


def exact_square(x: Traced) -> bool:
    """Whether it is the square of an irrational root, and so rational."""
    return (
        x.rational
        and x.operation in ("pow", "mul")
        and x.parts[0].operation == "sqrt"
        and not x.parts[0].rational
        and (x.operation == "pow" or x.parts[0] is x.parts[1])
    )


def without_irrationals(x: Traced) -> Traced:
    """A number with the value of x: of a rational number with irrational parts, one without them.

    The square of a root is its operand, and a product with zero that zero.
    """
    while x.rational and any(not part.rational for part in x.parts):
        if exact_square(x):
            x = x.parts[0].parts[0]
        else:
            x = next(part for part in x.parts if part.rational and part.value == 0)
    return x


def _written(x: Traced, names: Mapping[Traced, str], syntax: Syntax, top: bool) -> tuple[str, int]:
    if not top and x in names:
        return names[x], ATOM
    if syntax.lifted is not None:
        x = without_irrationals(x)
        if x in names and not top:
            return names[x], ATOM
    operation = x.operation
    if operation in ("constant", "input"):
        return syntax.literal(x.value), ATOM
    operands = _Operands(x, names, syntax)
    if operation == "pow":
        return f"{operands.text(0, ATOM)} {syntax.power} {x.operands[1]}", POWER
    if operation == "neg":
        return (
            f"-{operands.text(0, POWER)}" if syntax.lifted else f"- {operands.text(0, POWER)}",
            SIGN,
        )
    if operation in _SIGNS:
        level = _LEVELS[operation]
        return f"{operands.text(0, level)} {_SIGNS[operation]} {operands.text(1, level + 1)}", level
    texts = [
        operands.text(place, SUM, sign=True) if isinstance(part, Traced) else syntax.literal(part)
        for place, part in enumerate(x.operands)
    ]
    return syntax.functions[operation](*texts), ATOM


@dataclass(frozen=True)
class _Operands:
    """The operands of a number as texts."""

    of: Traced
    names: Mapping[Traced, str]
    syntax: Syntax

    def text(self, place: int, least: int, *, sign: bool = False) -> str:
        """An operand, in parentheses if it binds less than it must."""
        x = self.of.operands[place]
        text, level = _written(x, self.names, self.syntax, False)
        lifted = self.syntax.lifted
        plain = x.is_constant and x.value.q == 1
        if lifted is not None and x.rational and not self.of.rational and not plain:
            return lifted(text)
        return text if level >= least and (sign or level != SIGN) else f"({text})"
