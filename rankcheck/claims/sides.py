"""What the two sides of a relation are called: the text of its two arguments in the body.

No code is rewritten. Only an argument that is nothing but a local name, which one statement
assigns, is shown as what was assigned, if that is short, and a function of rankcheck without its
module: `linalg.rank(J)` as rank(J). A side has no text where its name says no
more than that it is a side; then `label=` of the relation is what names it.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from copy import deepcopy
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Protocol

#: What makes a relation of two sides.
RELATIONS = frozenset({"leq", "lt", "eq"})
#: What was assigned to a name is shown in its place up to so many characters.
LONGEST = 72
#: The modules whose names are left out, where a file takes them from rankcheck.
MODULES = frozenset({"balls", "costs", "data", "linalg", "networks", "polytopes", "regions"})
MODULES |= {"separation", "tolerances", "witnesses"}
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
    known, text = assigned_once(body), text_in(claim, body)
    return _text(sides[0], known, text), _text(sides[1], known, text)


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


def _text(side: ast.expr, known: dict[str, ast.expr], text: Callable[[ast.expr], str]) -> str:
    name = side.id if isinstance(side, ast.Name) else ""
    assigned = text(known[name]) if name in known else ""
    shown = " ".join((assigned if 0 < len(assigned) <= LONGEST else text(side)).split())
    return "" if shown in NOTHING else shown


def text_in(claim: Stated, body: ast.FunctionDef) -> Callable[[ast.expr], str]:
    """What gives the text of an expression in the body of a claim."""
    return partial(plain, modules=modules(_tree(str(claim.file))) - set(_bound(body)))


def plain(node: ast.expr, modules: Collection[str]) -> str:
    """The text of an expression, without the names of the modules that its functions are in."""
    return ast.unparse(_Plain(modules).visit(deepcopy(node)))


class _Plain(ast.NodeTransformer):
    def __init__(self, modules: Collection[str]) -> None:
        self.modules = modules

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        match node.value:
            case ast.Name(name) if name in self.modules:
                return ast.Name(node.attr, node.ctx)
        return self.generic_visit(node)


def modules(tree: ast.Module) -> frozenset[str]:
    """Those of `MODULES` that a file takes from rankcheck."""
    taken = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "rankcheck"]
    return MODULES & {alias.name for node in taken for alias in node.names if not alias.asname}


def definitions(file: str) -> tuple[ast.FunctionDef, ...]:
    """The functions of a file, or of a notebook's cell, that stand in none.

    None if it is no file of Python, as at a prompt, or on a page whose blocks are run.
    """
    return tuple(node for node in _tree(file).body if isinstance(node, ast.FunctionDef))


@cache
def _tree(file: str) -> ast.Module:
    with suppress(OSError, SyntaxError, ValueError):
        path = Path(file)
        cell = "" if path.is_file() else "".join(linecache.getlines(file))
        return ast.parse(cell or path.read_text(encoding="utf-8"))
    return ast.Module([], [])


def assigned_once(tree: ast.FunctionDef) -> dict[str, ast.expr]:
    """The local names that one statement of a function assigns, outside of branches and loops.

    What they are assigned depends on such names and on arguments only, so it can be written in
    their place.
    """
    often = changed(tree)
    return {
        target.id: value
        for target, value in chain.from_iterable(map(assignments, tree.body))
        if isinstance(target, ast.Name) and not often & {target.id, *names_in(value)}
    }


def assignments(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """What a node assigns to what, if it is a statement that does; a tuple part by part."""
    match node:
        case ast.Assign([ast.Tuple(to)], ast.Tuple(of)) if ast.Starred not in map(type, to + of):
            return list(zip(to, of, strict=False))
        case ast.Assign([target], value):
            return [(target, value)]
    return []


def changed(tree: ast.FunctionDef) -> set[str]:
    """The names in a function that more than one statement assigns, or that one changes in place.

    An entry that is written, a method such as `add_` or `append`, and `out=` are assignments, too.
    """
    return {name for name, times in _bound(tree).items() if times > 1}


def _bound(tree: ast.FunctionDef) -> Counter[str]:
    """How often a name in a function is assigned or changed."""
    bound = Counter[str]()
    for node in chain(ast.walk(tree.args), *map(ast.walk, tree.body)):
        match node:
            case ast.arg(name) | ast.Name(name, ast.Store() | ast.Del()):
                bound[name] += 1
            case ast.alias(name, other):
                bound[other or name.partition(".")[0]] += 1
            case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
                bound.update(names_in(node.value))
            case ast.Call(ast.Attribute(value, way)) if way.endswith(("_", "end", "insert")):
                bound.update(names_in([value, *node.args, value]["torch" in names_in(value)]))
            case ast.keyword("out", value):
                bound.update(dict.fromkeys(names_in(value), 2))
            case _:  # a function, a class, an error, or what a pattern matches
                bound[str(getattr(node, "name", getattr(node, "rest", "")))] += 1
    return bound


def names_in(node: ast.expr) -> set[str]:
    """The names in an expression."""
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
