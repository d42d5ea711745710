"""Rewrites a function so that it records its values, and finds what leads to its relations."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

from rankcheck.claims.rewriting import Function, compiled, definition_of

__all__ = ["ATTRIBUTE", "FUNCTION", "RELATION", "RELATIONS", "VALUE", "Place", "Traced"]

#: What makes a relation of two sides.
RELATIONS = frozenset({"leq", "lt", "eq"})
#: The names of what a rewritten text calls.
VALUE, FUNCTION, ATTRIBUTE, RELATION = "__value__", "__function__", "__attribute__", "__relation__"

_Kind = Literal["assigned", "called", "read", "side", "returned"]
_INNER = (ast.Lambda, ast.FunctionDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Place:
    """A place in the text of a function whose value is recorded.

    Attributes:
        code: the expression.
        names: what it is assigned to: a name; several, if its parts are; none if it is not.
        outer: the key of the call or of the attribute that the whole expression is, if it is one.
    """

    kind: _Kind
    code: str
    names: tuple[str, ...] = ()
    outer: int | None = None


@dataclass
class _Statement:
    """Names, the names in the expressions that they are made from, and the keys in these."""

    targets: tuple[str, ...]
    needs: frozenset[str]
    keys: frozenset[int]
    call: int | None = None


@dataclass
class Traced:
    """A function that records its values, and what is known of its text.

    Attributes:
        function: with the same arguments and result. Its text calls `VALUE`, `FUNCTION`,
            `ATTRIBUTE` and `RELATION` with the key of a place.
        places: what the keys mean.
    """

    name: str
    places: dict[int, Place] = field(default_factory=dict)
    function: Callable[..., Any] | None = None
    _statements: list[_Statement] = field(default_factory=list)
    _relations: dict[int, tuple[frozenset[str], frozenset[int]]] = field(default_factory=dict)
    _returns: list[list[tuple[frozenset[str], frozenset[int]]]] = field(default_factory=list)

    @classmethod
    def of(cls, function: Any, keys: count[int], **hooks: Callable[..., Any]) -> Traced | None:
        """The traced form of a function; None if its text is not known, or runs piece by piece."""
        definition = definition_of(function) if isinstance(function, Function) else None
        if definition is None or inspect.isgeneratorfunction(function):
            return None
        tree = copy.deepcopy(definition)
        made = cls(tree.name)
        tree.body = [_Rewriter(made, keys).visit(statement) for statement in tree.body]
        made.function = compiled(function, tree, **hooks)
        return made

    def leads_to(self, relation: int) -> tuple[set[int], dict[int, set[int] | None]]:
        """The keys that lead to the sides of a relation; see `_before`."""
        return self._before([self._relations[relation]])

    def returns(self, parts: set[int] | None) -> tuple[set[int], dict[int, set[int] | None]]:
        """The keys that lead to some parts of what is returned, or to all; see `_before`."""
        roots = []
        for elements in self._returns:
            chosen = parts if parts is not None and max(parts, default=0) < len(elements) else None
            roots += [each for i, each in enumerate(elements) if chosen is None or i in chosen]
        return self._before(roots)

    @property
    def relations(self) -> set[int]:
        """The keys of the relations."""
        return set(self._relations)

    def _before(
        self, roots: list[tuple[frozenset[str], frozenset[int]]]
    ) -> tuple[set[int], dict[int, set[int] | None]]:
        """All keys in some expressions, and in the assignments that these rest on.

        Also, for each call whose parts are assigned to several names, which parts are used.
        """
        names = {name for needs, _ in roots for name in needs}
        keys = {key for _, inside in roots for key in inside}
        chosen: set[int] = set()
        while more := [
            number
            for number, statement in enumerate(self._statements)
            if number not in chosen and names & set(statement.targets)
        ]:
            chosen.update(more)
            for number in more:
                names |= self._statements[number].needs
                keys |= self._statements[number].keys
        parts: dict[int, set[int] | None] = {}
        for number in chosen:
            statement = self._statements[number]
            if statement.call is not None:
                used = {i for i, name in enumerate(statement.targets) if name in names}
                parts[statement.call] = used if len(statement.targets) > 1 else None
        return keys, parts


class _Rewriter(ast.NodeTransformer):
    """Wraps assigned values, calls, attributes and the sides of relations."""

    def __init__(self, made: Traced, keys: count[int]) -> None:
        self._made, self._count = made, keys
        self._inside: list[set[int]] = []

    # Statements

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        match node:
            case ast.Assign([ast.Tuple(targets) as target], ast.Tuple(values)) if len(
                targets
            ) == len(values) and not any(
                isinstance(each, ast.Starred) for each in targets + values
            ):
                pairs = zip(targets, values, strict=True)
                wrapped: list[ast.expr] = [self._assigned([one], value) for one, value in pairs]
                node.value = ast.Tuple(wrapped, ast.Load())
            case ast.Assign([target]):
                parts = target.elts if isinstance(target, ast.Tuple) else [target]
                node.value = self._assigned(parts, node.value)
            case _:
                node.value = self._assigned([], node.value, node.targets)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        node.value = self._assigned([], node.value, [node.target])
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self._assigned([node.target], node.value)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        node.iter = self._assigned([], node.iter, [node.target])
        for part in (node.body, node.orelse):
            part[:] = [self.visit(statement) for statement in part]
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if node.value is None:
            return node
        several = isinstance(node.value, ast.Tuple)
        elements = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        roots, wrapped = [], []
        for element in elements:
            names = _names(element)
            with_keys, keys, _ = self._visited(element, "returned", ())
            wrapped.append(with_keys)
            roots.append((names, keys))
        self._made._returns.append(roots)
        node.value = ast.Tuple(wrapped, ast.Load()) if several else wrapped[0]
        return node

    def _assigned(
        self, parts: list[ast.expr], value: ast.expr, targets: list[ast.expr] | None = None
    ) -> ast.expr:
        """A value that is assigned to a name, or its parts to several; or to other targets."""
        plain = all(isinstance(part, ast.Name) for part in parts)
        names = tuple(part.id for part in parts if isinstance(part, ast.Name)) if plain else ()
        needs = _names(value)
        wrapped, keys, outer = self._visited(value, "assigned", names)
        stored = names or tuple(_stored(targets or parts))
        self._made._statements.append(_Statement(stored, needs, keys, outer))
        return wrapped

    def _visited(
        self, value: ast.expr, kind: _Kind, names: tuple[str, ...]
    ) -> tuple[ast.expr, frozenset[int], int | None]:
        """An expression as a whole, with its keys, and that of the call that it is."""
        if isinstance(value, ast.Starred) or _is_relation(value):
            return self.visit(value), frozenset(), None
        code = ast.unparse(value)
        self._inside.append(set())
        visited, outer = self._outermost(value)
        made = self._keyed(visited, Place(kind, code, names, outer))
        keys = frozenset(self._inside.pop())
        if self._inside:
            self._inside[-1] |= keys
        return made, keys, outer

    # Expressions

    def _outermost(self, node: ast.expr) -> tuple[ast.expr, int | None]:
        """An expression whose value is recorded as a whole: what is inside, and its own key."""
        if isinstance(node, ast.Call) and not _is_relation(node):
            key = self._function(node)
            return node, key
        if isinstance(node, ast.Attribute):
            key = next(self._count)
            self._made.places[key] = Place("read", ast.unparse(node))
            return self._attribute(node, key), key
        return self.visit(node), None

    def _function(self, node: ast.Call) -> int:
        """Visit the parts of a call, and put a key to its function; the key."""
        key = next(self._count)
        self._made.places[key] = Place("called", ast.unparse(node))
        self._note(key)
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
        elif not isinstance(node.func, ast.Name):
            node.func = self.visit(node.func)
        node.func = _call(FUNCTION, key, node.func)
        node.args = [self.visit(argument) for argument in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return key

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _is_relation(node):
            return self._relation(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return node
        place = Place("called", ast.unparse(node))
        key = self._function(node)
        self._made.places[key] = place
        return _call(VALUE, key, node)

    def _relation(self, node: ast.Call) -> ast.AST:
        key = next(self._count)
        sides = node.args[:2]
        needs = frozenset().union(*(_names(side) for side in sides))
        outside, self._inside = self._inside, []
        self._inside.append(set())
        node.args[:2] = [self._visited(side, "side", ())[0] for side in sides]
        keys = frozenset(self._inside.pop())
        self._inside = outside
        self._made._relations[key] = needs, keys
        return _call(RELATION, key, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if not isinstance(node.ctx, ast.Load):
            return node
        key = next(self._count)
        self._made.places[key] = Place("read", ast.unparse(node))
        return self._attribute(node, key)

    def _attribute(self, node: ast.Attribute, key: int) -> ast.expr:
        self._note(key)
        return _call(ATTRIBUTE, key, self.visit(node.value), ast.Constant(node.attr))

    def _keyed(self, node: ast.expr, place: Place) -> ast.expr:
        key = next(self._count)
        self._made.places[key] = place
        self._note(key)
        return _call(VALUE, key, node)

    def _note(self, key: int) -> None:
        if self._inside:
            self._inside[-1].add(key)

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, _INNER):
            return _Relations(self).generic_visit(node)
        return super().visit(node)


class _Relations(ast.NodeTransformer):
    """What runs many times, or later: of it, relations alone are looked at."""

    def __init__(self, rewriter: _Rewriter) -> None:
        self._rewriter = rewriter

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if not _is_relation(node):
            return self.generic_visit(node)
        key = next(self._rewriter._count)
        needs = frozenset().union(*(_names(side) for side in node.args[:2]))
        self._rewriter._made._relations[key] = needs, frozenset()
        return _call(RELATION, key, node)


def _is_relation(node: ast.AST) -> bool:
    """Whether a call makes a relation of two sides."""
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return False
    name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
    return name in RELATIONS and not any(isinstance(arg, ast.Starred) for arg in node.args[:2])


def _call(name: str, key: int, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [ast.Constant(key), *arguments], [])


def _names(node: ast.AST) -> frozenset[str]:
    return frozenset(each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _stored(targets: list[ast.expr]) -> Iterator[str]:
    """The names that an assignment changes, those of arrays of which it sets a part included."""
    for target in targets:
        yield from (each.id for each in ast.walk(target) if isinstance(each, ast.Name))
