"""What the two sides of a relation are called: the text of its two arguments in the body.

No code is rewritten. Only an argument that is nothing but a local name, which one statement
assigns, is shown as what was assigned, if that is short. A side has no text where its name says no
more than that it is a side; then `label=` of the relation is what names it.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from rankcheck.claims.rewriting import assigned_once, definitions

#: What makes a relation of two sides.
RELATIONS = frozenset({"leq", "lt", "eq"})
#: What was assigned to a name is shown in its place up to so many characters.
LONGEST = 72
#: Names of sides that say nothing.
NOTHING = frozenset({"lhs", "rhs", "left", "right"})


class Stated(Protocol):
    """A claim, or its entry in the catalogue."""

    @property
    def file(self) -> Path: ...
    @property
    def line(self) -> int: ...


def sides_of(claim: Stated, number: int = 0, label: str = "") -> tuple[str, str]:
    """The text of the left and the right side of a relation; empty where it says nothing.

    Args:
        claim: or its entry; nothing is imported or run.
        number: which of the relations of the body it is, counted from 0.
        label: its label.
    """
    body = definition(claim)
    call = None if body is None else _call(body, number, label)
    if body is None or call is None or len(sides := _arguments(call)) != 2:
        return "", ""
    known = assigned_once(body)
    return _text(sides[0], known), _text(sides[1], known)


def definition(claim: Stated) -> ast.FunctionDef | None:
    """The definition of the body, from its file, or as Python has it of a prompt or a notebook."""
    for node in definitions(str(claim.file)):
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
    """The call that makes a relation: the one at its place.

    Where it is not known what the body returns, it is the only one in it with that label.
    """
    if (returned := _returned(body)) is not None:
        found = returned[number] if number < len(returned) else None
        if not isinstance(found, ast.Call) or _name(found) not in RELATIONS:
            return None
        return found if not label or _label(found) in ("", label) else None
    calls = [n for n in _inside(body) if isinstance(n, ast.Call) and _name(n) in RELATIONS]
    labelled = [call for call in calls if label and _label(call) == label]
    return labelled[0] if len(labelled) == 1 else None


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
    body = definition(claim)
    call = None if body is None else _call(body, number, label)
    return [_resolved(s, assigned_once(body)) for s in _arguments(call)] if body and call else []


def _resolved(node: ast.expr, known: dict[str, ast.expr]) -> ast.expr:
    while isinstance(node, ast.Name) and node.id in known:
        node = known[node.id]
    return node


def _text(side: ast.expr, known: dict[str, ast.expr]) -> str:
    written = _written(side)
    assigned = _written(known[written]) if written in known else ""
    shown = assigned if 0 < len(assigned) <= LONGEST else written
    return "" if shown in NOTHING else shown


def _written(node: ast.expr) -> str:
    return " ".join(ast.unparse(node).split())
