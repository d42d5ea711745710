"""The mutants of a source file: one small change each, found in its syntax tree.

A mutant replaces one expression or statement; the text around it stays. What a test should not pin
down or cannot see is left alone: messages (strings, the arguments of `raise`), annotations,
`assert`, `strict=` of zip, decorators, `__all__`, and what only the type checker reads.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_PAIRS = (
    ("min", "max"),
    ("amin", "amax"),
    ("argmin", "argmax"),
    ("minimum", "maximum"),
    ("any", "all"),
    ("floor", "ceil"),
    ("sum", "prod"),
    ("cos", "sin"),
    ("lower", "upper"),
)
_CALLS = {a: b for pair in _PAIRS for a, b in (pair, pair[::-1])}
#: Arguments that only check what holds by construction, as `assert` does.
_CHECKS = ("strict",)
#: A constant below this is a tolerance: a test should notice it 1000 times too wide.
_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    Attributes:
        file: the path from the root of the project.
        function: the qualified name of the function or class around it; empty at module level.
        line: the line of the change, from 1.
        text: that line of the source, stripped.
        operator: the kind of change.
        before, after: the code that is changed, and what it becomes.
        start, end: where it stands in the UTF-8 bytes of the file.
        lines: first and last line of the statement around it, without the body of a compound one.
        at_import: it stands outside of functions, so that no test is seen to run it.
    """

    file: str
    function: str
    line: int
    text: str
    operator: str
    before: str
    after: str
    start: int
    end: int
    lines: tuple[int, int]
    at_import: bool

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """What names the mutant as long as its function and line are not rewritten.

        The same change of the same text in one function has the same name wherever it stands.
        """
        return self.file, self.function, self.text, self.before, self.after

    def apply(self, source: str) -> str:
        """The source with the change."""
        raw = source.encode()
        return (raw[: self.start] + self.after.encode() + raw[self.end :]).decode()


def mutants(source: str, file: str) -> list[Mutant]:
    """All mutants of a source text, in the order of the text."""
    found = _Finder(source, file).find()
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.after))


class _Finder:
    """Walks the tree of one file; holds where it stands."""

    def __init__(self, source: str, file: str) -> None:
        self._file = file
        self._tree = ast.parse(source)
        self._text = source.splitlines()
        self._offsets = [0]
        for line in source.encode().splitlines(keepends=True):
            self._offsets.append(self._offsets[-1] + len(line))
        self._names: list[str] = []
        self._depth = 0
        self._cached = False
        self._lines = (1, 1)

    def find(self) -> Iterator[Mutant]:
        yield from self._block(self._tree.body)

    def _mutant(self, node: ast.expr | ast.stmt, operator: str, after: ast.AST | str) -> Mutant:
        text = after if isinstance(after, str) else f"({ast.unparse(after)})"
        if node.end_lineno is None or node.end_col_offset is None:
            raise ValueError("a node of parsed text has an end")
        return Mutant(
            self._file,
            ".".join(self._names),
            node.lineno,
            self._text[node.lineno - 1].strip(),
            operator,
            ast.unparse(node),
            text,
            self._offsets[node.lineno - 1] + node.col_offset,
            self._offsets[node.end_lineno - 1] + node.end_col_offset,
            self._lines,
            # The second call of a cached function runs no line of it.
            self._depth == 0 or self._cached,
        )

    @contextmanager
    def _inside(self, name: str, depth: int, cached: bool = False) -> Iterator[None]:
        before = self._cached
        self._names.append(name)
        self._depth += depth
        self._cached = before or cached
        yield
        self._cached = before
        self._depth -= depth
        self._names.pop()

    # Statements.

    def _block(self, body: list[ast.stmt]) -> Iterator[Mutant]:
        for node in body:
            yield from self._statement(node)

    def _statement(self, node: ast.stmt) -> Iterator[Mutant]:
        inner = getattr(node, "body", None) or getattr(node, "cases", None)
        last = node.end_lineno or node.lineno
        if isinstance(inner, list) and isinstance(inner[0], ast.stmt):
            last = max(node.lineno, inner[0].lineno - 1)
        self._lines = (node.lineno, last)
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for default in [*node.args.defaults, *node.args.kw_defaults]:
                    if default is not None:
                        yield from self._expression(default)
                cached = any("cache" in ast.unparse(item) for item in node.decorator_list)
                with self._inside(node.name, 1, cached):
                    yield from self._block(node.body)
            case ast.ClassDef():
                with self._inside(node.name, 0):
                    yield from self._block(node.body)
            case ast.Assert() | ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal():
                return
            case ast.Raise():
                yield self._mutant(node, "raise removed", "pass")
            case ast.Continue():
                yield self._mutant(node, "continue to break", "break")
            case ast.Break():
                yield self._mutant(node, "break to continue", "continue")
            case ast.Return(value=value) if value is not None:
                if not (isinstance(value, ast.Constant) and value.value is None):
                    yield self._mutant(node, "returns None", "return None")
                yield from self._expression(value)
            case ast.Expr(value=ast.Constant()):
                return
            case ast.Expr(value=value):
                if isinstance(value, ast.Call):
                    yield self._mutant(node, "call removed", "pass")
                yield from self._expression(value)
            case ast.AugAssign():
                if type(node.op) in _ARITHMETIC:
                    other = copy.copy(node)
                    other.op = _ARITHMETIC[type(node.op)]()
                    yield self._mutant(node, "arithmetic", ast.unparse(other))
                yield from self._expression(node.value)
            case ast.AnnAssign():
                if node.value is not None and "TypeAlias" not in ast.unparse(node.annotation):
                    yield from self._expression(node.value)
            case ast.Assign(targets=[ast.Name(id=name)]) if name.startswith("__"):
                return
            case ast.If() if ast.unparse(node.test) in ("TYPE_CHECKING", "__name__ == '__main__'"):
                yield from self._block(node.orelse)
            case ast.If() | ast.While():
                yield from self._condition(node.test, isinstance(node, ast.If))
                yield from self._block([*node.body, *node.orelse])
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        yield from self._expression(child)
                    elif isinstance(child, ast.stmt):
                        yield from self._statement(child)
                    elif isinstance(child, ast.withitem):
                        yield from self._expression(child.context_expr)
                    elif isinstance(child, ast.ExceptHandler):
                        yield from self._block(child.body)
                    elif isinstance(child, ast.match_case):
                        if child.guard is not None:
                            yield from self._condition(child.guard, True)
                        yield from self._block(child.body)

    # Expressions.

    def _condition(self, test: ast.expr, negate: bool) -> Iterator[Mutant]:
        plain = not isinstance(test, (ast.Compare, ast.UnaryOp))
        if negate and plain:
            yield self._mutant(test, "condition negated", f"(not ({ast.unparse(test)}))")
        yield from self._expression(test)

    def _expression(self, node: ast.expr) -> Iterator[Mutant]:
        match node:
            case ast.JoinedStr():  # a message; before Python 3.12 its parts have no position
                return
            case ast.Constant():
                yield from self._constant(node)
            case ast.Compare():
                for index, op in enumerate(node.ops):
                    other = copy.copy(node)
                    other.ops = [
                        *node.ops[:index],
                        _COMPARISONS[type(op)](),
                        *node.ops[index + 1 :],
                    ]
                    yield self._mutant(node, "comparison", other)
            case ast.BinOp():
                if type(node.op) in _ARITHMETIC:
                    swapped = ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right)
                    yield self._mutant(node, "arithmetic", swapped)
                elif isinstance(node.op, ast.MatMult):
                    swapped = ast.BinOp(node.right, node.op, node.left)
                    yield self._mutant(node, "factors swapped", swapped)
            case ast.BoolOp():
                other_op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
                yield self._mutant(node, "boolean", ast.BoolOp(other_op, node.values))
            case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
                yield self._mutant(node, "sign or not removed", node.operand)
            case ast.IfExp():
                yield self._mutant(
                    node, "branches swapped", ast.IfExp(node.test, node.orelse, node.body)
                )
            case ast.Call():
                yield from self._call(node)
            case _:
                pass
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from self._expression(child)
            elif isinstance(child, ast.keyword) and child.arg not in _CHECKS:
                yield from self._expression(child.value)
            elif isinstance(child, ast.comprehension):
                yield from self._expression(child.iter)
                for test in child.ifs:
                    yield from self._condition(test, True)

    def _constant(self, node: ast.Constant) -> Iterator[Mutant]:
        value = node.value
        if isinstance(value, bool):
            yield self._mutant(node, "constant", repr(not value))
        elif isinstance(value, int):
            yield self._mutant(node, "constant", str(value + 1))
        elif isinstance(value, float):
            factor = 1000 if abs(value) < _TOLERANCE else 1.5
            yield self._mutant(node, "constant", repr(value * factor if value else 1.0))

    def _call(self, node: ast.Call) -> Iterator[Mutant]:
        function = node.func
        name = getattr(function, "attr", None) or getattr(function, "id", None)
        if name in _CALLS:
            other = copy.deepcopy(node)
            setattr(other.func, "attr" if hasattr(function, "attr") else "id", _CALLS[name])
            yield self._mutant(node, "call replaced", other)
        for index, keyword in enumerate(node.keywords):
            if keyword.arg is not None and keyword.arg not in _CHECKS:
                fewer = [*node.keywords[:index], *node.keywords[index + 1 :]]
                yield self._mutant(node, "argument removed", ast.Call(node.func, node.args, fewer))
        if len(node.args) > 1 and not isinstance(node.args[-1], ast.Starred):
            fewer_args = ast.Call(node.func, node.args[:-1], node.keywords)
            yield self._mutant(node, "argument removed", fewer_args)
