r"""What the two sides of a relation are called: their code in the body, and their formulas.

The code is that of the first two arguments of `leq`, `lt` or `eq`. The formulas are those of
`formula=` of the claim, or else of its statement, if that makes one inequality and the body returns
one relation.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rankcheck.claims.formula import Formula, parsed, stated
from rankcheck.claims.labels import relation_name
from rankcheck.claims.rewriting import assigned_once, definitions, names_in

__all__ = ["RELATIONS", "Side", "formula_of", "sides_of", "written_of"]

#: What makes a relation of two sides.
RELATIONS = frozenset({"leq", "lt", "eq"})
#: A name is replaced by what was assigned to it while a side has at most so many characters.
LONGEST = 72
_KINDS = {"≤": ("leq", "lt"), "<": ("leq", "lt"), "=": ("eq",)}


class Stated(Protocol):
    """A claim, or its entry in the catalogue."""

    @property
    def title(self) -> str: ...
    @property
    def statement(self) -> str: ...
    @property
    def formula(self) -> object: ...
    @property
    def file(self) -> Path: ...
    @property
    def line(self) -> int: ...


@dataclass(frozen=True)
class Side:
    """What one side of a relation is called.

    Attributes:
        formula: in LaTeX, without dollar signs; None if neither `formula=` nor the statement says.
        code: the expression in the body; None if the text of the body is not at hand.
    """

    formula: str | None = None
    code: str | None = None

    def __bool__(self) -> bool:
        return self.formula is not None or self.code is not None

    @property
    def text(self) -> str:
        """The formula between dollar signs and the code behind it, or what there is of them."""
        formula = "" if self.formula is None else f"${self.formula}$"
        if self.code is None:
            return formula
        return f"{formula}, as {self.code}" if formula else self.code


def sides_of(claim: Stated, number: int = 0, label: str = "") -> tuple[Side, Side]:
    """What the left and the right side of a relation are called.

    Args:
        claim: or its entry; nothing is imported or run.
        number: which of the relations of the body it is, counted from 0.
        label: its label. Of a disjunction a part is found by its label alone.
    """
    body = _definition(claim)
    call = None if body is None else _call(body, number, label)
    codes: tuple[str | None, str | None] = (None, None)
    if body is not None and call is not None and len(sides := _arguments(call)) == 2:
        known = {**assigned_once(body), **_settings(body)}
        codes = _short(sides[0], known), _short(sides[1], known)
    formula = formula_of(claim, number, label)
    if formula is None:
        return Side(None, codes[0]), Side(None, codes[1])
    return Side(formula.lhs, codes[0]), Side(formula.rhs, codes[1])


def formula_of(claim: Stated, number: int = 0, label: str = "") -> Formula | None:
    """A relation of a claim in LaTeX, as the body has it, with the smaller side first; or None."""
    given = claim.formula
    if isinstance(given, Mapping):
        text = given.get(relation_name(label, number))
        return None if text is None else parsed(text)
    body = _definition(claim)
    returned = None if body is None else _returned(body)
    if returned is not None and len(returned) > 1:
        return None
    if isinstance(given, str):
        return parsed(given)
    alone = returned[0] if returned else None
    if not isinstance(alone, ast.Call) or _name(alone) not in RELATIONS:
        return None
    same = " ".join(claim.statement.split()).removesuffix(".") == claim.title
    found = stated(claim.statement if same else f"{claim.title}. {claim.statement}")
    return found if found is not None and _name(alone) in _KINDS[found.sign] else None


def _definition(claim: Stated) -> ast.FunctionDef | None:
    """The definition of the body, from its file, or as Python has it of a prompt or a notebook."""
    for _, node in definitions(str(claim.file)):
        if min([node.lineno, *(item.lineno for item in node.decorator_list)]) == claim.line:
            return node
    body = getattr(claim, "body", None)
    if inspect.isfunction(body):
        with suppress(OSError, TypeError, SyntaxError, IndexError):
            tree = ast.parse(textwrap.dedent(inspect.getsource(body)))
            if tree.body and isinstance(tree.body[0], ast.FunctionDef):
                return tree.body[0] if tree.body[0].name == body.__name__ else None
    return None


def _returned(body: ast.FunctionDef) -> list[ast.expr] | None:
    """What a body returns, one after the other; None if it is not written in one place."""
    returns = [node.value for node in _inside(body) if isinstance(node, ast.Return)]
    if len(returns) != 1 or returns[0] is None:
        return None
    known = assigned_once(body)
    value = _resolved(returns[0], known)
    several = value.elts if isinstance(value, ast.Tuple) else [value]
    if any(isinstance(one, ast.Starred) for one in several):
        return None
    return [_resolved(one, known) for one in several]


def _call(body: ast.FunctionDef, number: int, label: str) -> ast.Call | None:
    """The call that makes a relation: the one with its label, or at its place."""
    calls = [n for n in _inside(body) if isinstance(n, ast.Call) and _name(n) in RELATIONS]
    labelled = [call for call in calls if label and _label(call) == label]
    if labelled:
        return labelled[0] if len(labelled) == 1 else None
    returned = _returned(body)
    if returned is None or number >= len(returned):
        return None
    found = returned[number]
    if isinstance(found, ast.Call) and _name(found) == "there_is" and found.args:
        found = _resolved(found.args[0], assigned_once(body))
    return found if isinstance(found, ast.Call) and _name(found) in RELATIONS else None


def _inside(body: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a body, without those of functions inside it."""
    waiting: list[ast.AST] = list(body.body)
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield node
            waiting.extend(ast.iter_child_nodes(node))


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", None) or getattr(call.func, "id", ""))


def _label(call: ast.Call) -> str:
    for keyword in call.keywords:
        if keyword.arg == "label" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    return ""


def _arguments(call: ast.Call) -> list[ast.expr]:
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    return [*call.args, *(named[name] for name in ("lhs", "rhs") if name in named)]


def written_of(claim: Stated, number: int, label: str) -> list[ast.expr]:
    """Both sides of a relation as the body has them; nothing where its text is not known."""
    body = _definition(claim)
    call = None if body is None else _call(body, number, label)
    return [_resolved(s, assigned_once(body)) for s in _arguments(call)] if body and call else []


def _settings(body: ast.FunctionDef) -> dict[str, ast.expr]:
    """The parameters of a body that are numbers in the claim itself."""
    pairs = zip(body.args.kwonlyargs, body.args.kw_defaults, strict=True)
    return {
        parameter.arg: default
        for parameter, default in pairs
        if isinstance(default, ast.Constant) and type(default.value) in (int, float)
    }


def _resolved(node: ast.expr, known: dict[str, ast.expr]) -> ast.expr:
    while isinstance(node, ast.Name) and node.id in known:
        node = known[node.id]
    return node


def _short(node: ast.expr, known: dict[str, ast.expr]) -> str | None:
    """An expression with names replaced by what was assigned, as far as it stays short."""
    while names := sorted(names_in(node) & known.keys()):
        for name in names:
            longer = _Replaced(name, known[name]).visit(copy.deepcopy(node))
            if len(_written(longer)) <= LONGEST:
                node = longer
                break
        else:
            break
    return _written(node)


def _written(node: ast.expr) -> str:
    return " ".join(ast.unparse(node).split())


class _Replaced(ast.NodeTransformer):
    """Puts what was assigned in the place of a name."""

    def __init__(self, name: str, value: ast.expr) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self.value) if node.id == self.name else node
