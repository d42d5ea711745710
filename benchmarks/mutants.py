"""The mutants of a text: one small change each, found in its syntax tree; the text around it stays.

What a test should not pin down or cannot see is left alone: messages, annotations, `assert`,
`strict=` of zip, decorators, names such as `__all__`, and what only the type checker reads.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import torch

#: How the text of a changed claim names the functions of this file.
HELPERS = "__import__('benchmarks.mutants', fromlist=['*'])"


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    Attributes:
        file: the path from the root of the project.
        line: of the change, from 1.
        before, after: the code that is changed, and what it becomes; noticed if one of these is.
        start, end: where it stands in the UTF-8 bytes of the file.
        lines: first and last line of the statement around it, without the body of a compound one.
        at_import: no test is seen to run it, as it stands outside of functions or in a cached one.
    """

    file: str
    line: int
    before: str
    after: tuple[str, ...]
    start: int
    end: int
    lines: tuple[int, int]
    at_import: bool

    def texts(self, source: str) -> Iterator[str]:
        """The source with each change."""
        raw = source.encode()
        for after in self.after:
            yield (raw[: self.start] + after.encode() + raw[self.end :]).decode()


# The mutants of a text.

#: What a place can be changed to; a tuple where one of several has to be noticed.
Changes = Callable[["Place"], Iterator[str | tuple[str, ...]]]


class Place(NamedTuple):
    """A node of a tree, that above it, the lines of its statement, and where that is run.

    `inside` is an import, a function, or a generator of instances.
    """

    node: ast.AST
    parent: ast.AST
    lines: tuple[int, int]
    inside: str


def _places(node: ast.AST, lines: tuple[int, int], inside: str) -> Iterator[Place]:
    """All below a node but messages, annotations, decorators and what only checks."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        within = inside
        if name == "body" and isinstance(node, ast.FunctionDef):
            cached = any("cache" in ast.unparse(item) for item in node.decorator_list)
            draws = ast.unparse(node.args).startswith("source")
            within = "import" if cached else "generator" if draws else "function"
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or _checks(child):
                continue
            where = lines
            if isinstance(child, ast.stmt):
                body = getattr(child, "body", None) or getattr(child, "cases", None)
                last = getattr(body[0], "lineno", 0) - 1 if body else child.end_lineno or 0
                where = (child.lineno, max(child.lineno, last))
            yield Place(child, node, where, within)
            if not isinstance(child, ast.Raise | ast.JoinedStr):
                yield from _places(child, where, within)


def _checks(node: ast.AST) -> bool:
    match node:
        case ast.Assert() | ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.keyword(arg="strict"):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name.startswith("__")
        case ast.If():
            return ast.unparse(node.test) in ("TYPE_CHECKING", "__name__ == '__main__'")
    return False


def mutants(source: str, file: str, changes: Changes) -> list[Mutant]:
    """All mutants of a source text."""
    offsets = [0]
    for line in source.encode().splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    return [
        Mutant(
            file,
            node.lineno,
            ast.unparse(node),
            (after,) if isinstance(after, str) else after,
            offsets[node.lineno - 1] + node.col_offset,
            offsets[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0),
            place.lines,
            place.inside == "import",
        )
        for place in _places(ast.parse(source), (1, 1), "import")
        for after in changes(place)
        if isinstance(node := place.node, ast.expr | ast.stmt)
    ]


_OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
_PAIRS = ("min max", "amin amax", "argmin argmax", "minimum maximum", "any all", "floor ceil",
          "sum prod", "cos sin", "lower upper")  # fmt: skip
_CALLS = {a: b for pair in map(str.split, _PAIRS) for a, b in (pair, pair[::-1])}


def _with(node: ast.AST, **fields: Any) -> str:
    """The text of a node with other fields; of an expression in parentheses."""
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return f"({ast.unparse(other)})" if isinstance(node, ast.expr) else ast.unparse(other)


def code_changes(place: Place) -> Iterator[str]:
    """The changes of a place of the code: another operator, constant, call or condition."""
    node = place.node
    condition = isinstance(place.parent, ast.If) and node is place.parent.test
    if condition and not isinstance(node, ast.Compare | ast.UnaryOp):
        yield f"(not ({ast.unparse(node)}))"
    match node:
        case ast.Raise() | ast.Expr(value=ast.Call()):
            yield "pass"
        case ast.Continue():
            yield "break"
        case ast.Break():
            yield "continue"
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield "return None"
        case ast.Constant(value=bool(flag)):
            yield repr(not flag)
        case ast.Constant(value=int(number)):
            yield str(number + 1)
        case ast.Constant(value=float(number)):
            # A small one is a tolerance: a test should notice it 1000 times too wide.
            yield repr(number * (1000 if abs(number) < 1e-3 else 1.5) if number else 1.0)
        case ast.Compare(ops=operators):
            for index, one in enumerate(operators):
                new = [*operators[:index], _OPERATORS[type(one)](), *operators[index + 1 :]]
                yield _with(node, ops=new)
        case ast.BinOp(op=ast.MatMult()):
            yield _with(node, left=node.right, right=node.left)
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign():
            yield _with(node, op=_OPERATORS[type(node.op)]())
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield f"({ast.unparse(node.operand)})"
        case ast.IfExp():
            yield _with(node, body=node.orelse, orelse=node.body)
        case ast.Call(func=function, args=arguments, keywords=keywords):
            field = "attr" if isinstance(function, ast.Attribute) else "id"
            other = _CALLS.get(getattr(function, field, ""))
            if other is not None:
                renamed = copy.copy(function)
                setattr(renamed, field, other)
                yield _with(node, func=renamed)
            for option in keywords:
                if option.arg not in (None, "strict"):
                    yield _with(node, keywords=[one for one in keywords if one is not option])
            if len(arguments) > 1 and not isinstance(arguments[-1], ast.Starred):
                yield _with(node, args=arguments[:-1])


# The mutants of a statement.


def scaled(q: Any, percent: int) -> Any:
    """q times so many per cent, exact if q is."""
    factor = Fraction(percent, 100)
    return q * float(factor) if isinstance(q, float | torch.Tensor) else q * factor


def raised(base: Any, q: Any, percent: int) -> Any:
    """base to the power of `scaled(q)`; of a negative base with the sign of base**q."""
    power = scaled(q, percent)
    if isinstance(base, int | float | Fraction):
        size = abs(float(base)) ** float(power)
        return -size if base < 0 and q % 2 == 1 else size
    if isinstance(base, torch.Tensor):
        base, power = base.double(), power if isinstance(power, torch.Tensor) else float(power)
    if isinstance(q, int):
        return base.abs() ** power * (base.sign() if q % 2 else 1)
    return base**power


def _number(node: ast.expr) -> bool:
    return all(isinstance(one, ast.Constant | ast.UnaryOp | ast.USub) for one in ast.walk(node))


def claim_changes(place: Place) -> Iterator[str | tuple[str, ...]]:
    """The changes of a place of a claim: another exponent, or a hypothesis less."""

    def both(name: str, numbers: str, before: str = "", after: str = "") -> tuple[str, ...]:
        calls = (f"{HELPERS}.{name}({numbers}, {percent})" for percent in (102, 98))
        return tuple(before + call + after for call in calls)

    match place.node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="require"))):
            yield "pass"
        case _ if place.inside != "function":
            return
        case ast.BinOp(left, ast.Pow(), right):
            if ast.unparse(left) != "-1" and not (_number(left) and _number(right)):
                yield both("raised", f"{ast.unparse(left)}, {ast.unparse(right)}")
        case ast.Call(func=function, args=arguments, keywords=keywords) as node:
            for one in keywords:
                if one.arg == "where":
                    yield _with(node, keywords=[other for other in keywords if other is not one])
            texts = [ast.unparse(one) for one in [*arguments, *keywords]]
            name = getattr(function, "attr", getattr(function, "id", ""))
            base = texts[0] if texts else ast.unparse(getattr(function, "value", function))
            if name == "sqrt":
                yield both("raised", f"{base}, __import__('fractions').Fraction(1, 2)")
            elif name == "exp":
                before, after = (f"{ast.unparse(function)}(", ")") if texts else ("", ".exp()")
                yield both("scaled", base, before, after)
            elif name in ("power", "schatten_power", "schatten_norm") and len(arguments) > 1:
                before = f"{ast.unparse(function)}({base}, "
                yield both("scaled", texts[1], before, ", ".join(["", *texts[2:]]) + ")")
            elif name == "Fraction" and len(arguments) == 2 and not _number(arguments[1]):
                yield both("scaled", ast.unparse(node))
