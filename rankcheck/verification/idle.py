"""Finds the factors and terms of a claim that no instance needs.

Where the right side of a bound has a factor too many, the bound is weaker than it could be, or the
instances never reach what the factor is for. So further mutants come from the text of a body: each
relation without one factor, divisor or term of a side. They are evaluated on instances that
were made for the claim anyway, in floats, and only reported: they fail nothing.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import torch

from rankcheck.claims.claim import Claim
from rankcheck.claims.relations import Relation
from rankcheck.claims.rewriting import assigned_once, definition_of, names_in
from rankcheck.claims.sides import RELATIONS
from rankcheck.verification.evaluation import Part

__all__ = ["Idle", "meant"]

#: Methods, and functions of torch, of an array whose factors and terms are looked at inside.
THROUGH = frozenset(
    {"sqrt", "exp", "log", "log1p", "square", "abs", "sum", "mean", "amax", "amin", "clamp", "pow"}
)
#: What makes an array of one number, such as a one that carries the shape of a side.
CONSTANT = frozenset(
    {"zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones", "full_like", "new_full"}
)
WRITTEN = CONSTANT | {"Fraction", "as_tensor", "float", "full", "scalar", "tensor"}
#: What is weaker without a part on so many batches is not looked at on more.
ENOUGH = 8
_NAME = "__without__"
_WORDS = {ast.Mult: "factor", ast.Div: "divisor", ast.Add: "term", ast.Sub: "term"}


@dataclass
class _Fate:
    """What became of a relation without one part of a side.

    Attributes:
        killed: whether some instance that satisfies the relation breaks it.
        stronger: whether it is the stronger relation on some instance.
        changed: whether it differs on some instance.
    """

    killed: bool = False
    stronger: bool = False
    changed: bool = False

    def compare(self, relation: Relation, other: Relation, held: torch.Tensor) -> None:
        """Take in a relation and what it is without the part, where it is asserted and holds."""
        if self.killed:
            return
        before, after = relation.excess.detach(), other.excess.detach()
        band = torch.maximum(relation.tolerance.detach(), other.tolerance.detach())
        seen = held & after.isfinite() & other.tolerance.detach().isfinite()
        self.killed = bool((seen & other.violated()).any())
        self.stronger |= bool((held & (after - before > band)).any())
        self.changed |= bool((held & ((after - before).abs() > band)).any())


@dataclass
class Idle:
    """The relations of a claim, each without one part of a side, and what became of them.

    Attributes:
        body: returns each relation of the claim and, by the name of the part, the same without one
            part; None where the text of the body is not known.
        neutral: the parts that are one number in the claim, and change nothing by design.
    """

    body: Callable[..., list[tuple[Relation, dict[str, Relation]]]] | None
    neutral: frozenset[str] = frozenset()
    fates: dict[tuple[int, str], _Fate] = field(default_factory=dict)
    _batches: int = 0
    _done: bool = False

    @classmethod
    def of(cls, claim: Claim) -> Idle:
        """Of the text of the body of a claim."""
        original = claim.body
        definition = definition_of(original) if isinstance(original, FunctionType) else None
        if definition is None or not isinstance(original, FunctionType):
            return cls(None)
        tree = copy.deepcopy(definition)
        rewriter = _Rewriter(tree)
        rewriter.visit(tree)
        if not rewriter.parts:
            return cls(None)
        collected: list[tuple[Relation, dict[str, Relation]]] = []
        changed = _compiled(original, tree, **{_NAME: _collector(collected)})

        def body(*instance: Any) -> list[tuple[Relation, dict[str, Relation]]]:
            collected.clear()
            returned = changed(*instance)
            relations = returned if isinstance(returned, tuple) else (returned,)
            by_id = {id(relation): parts for relation, parts in collected}
            return [(relation, by_id.get(id(relation), {})) for relation in relations]

        return cls(body, frozenset(rewriter.neutral))

    def add(self, part: Part) -> None:
        """Take in the instances of a batch, unless every part is known to be needed."""
        if self.body is None or self._done:
            return
        for number, (relation, others) in enumerate(self.body(*part.built)):
            relation = relation.over(part.batch)
            extra = (1,) * (relation.lhs.ndim - part.valid.ndim)
            held = relation.asserted & part.valid.reshape(part.valid.shape + extra)
            held &= ~relation.violated()
            for name, other in others.items():
                other = other.over(part.batch)
                if bool(held.any()) and other.lhs.shape == relation.lhs.shape:
                    self.fates.setdefault((number, name), _Fate()).compare(relation, other, held)
        self._batches += 1
        self._done = bool(self.fates) and all(
            fate.killed or (self._batches >= ENOUGH and not self._told(name, fate))
            for (_, name), fate in self.fates.items()
        )

    def _told(self, name: str, fate: _Fate) -> bool:
        """Whether a part is one that no instance needs."""
        unused = not (fate.changed or name in self.neutral)
        return not fate.killed and (fate.stronger or unused)

    def sentences(self, number: int) -> tuple[str, ...]:
        """Of the relation of that number, the parts that no instance needs."""
        return tuple(
            f"without {name} nothing {'breaks' if fate.changed else 'changes'}"
            for (at, name), fate in self.fates.items()
            if at == number and self._told(name, fate)
        )


def _collector(collected: list[tuple[Relation, dict[str, Relation]]]) -> Callable[..., Any]:
    """What stands for `leq` and `eq` in the changed body."""

    def without(relate: Callable[..., Relation], *parts: tuple[str, int, Callable[[], Any]]) -> Any:
        def related(*sides: Any, **options: Any) -> Relation:
            relation = relate(*sides, **options)
            others: dict[str, Relation] = {}
            for name, side, value in parts:
                changed = list(sides)
                try:
                    changed[side] = value()
                    others[name] = relate(*changed, **options)
                except (TypeError, ValueError, RuntimeError, AttributeError):
                    continue  # what is left has no meaning: a number in place of an array
            collected.append((relation, others))
            return relation

        return related

    return without


def _compiled(function: FunctionType, tree: ast.FunctionDef, **names: Any) -> FunctionType:
    """A function like another one, with the definition `tree`, which is changed.

    Args:
        names: what the text refers to besides the globals of the other function.
    """
    tree.decorator_list = []
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
    module = ast.fix_missing_locations(ast.Module([tree], []))
    namespace = {**function.__globals__, **inspect.getclosurevars(function).nonlocals, **names}
    exec(compile(module, function.__code__.co_filename, "exec", dont_inherit=True), namespace)
    made = namespace[tree.name]
    assert isinstance(made, FunctionType)
    made.__kwdefaults__ = function.__kwdefaults__  # a dial may be set to another value
    return made


class _Rewriter(ast.NodeTransformer):
    """Puts the sides without one part beside each relation of a body."""

    def __init__(self, tree: ast.FunctionDef) -> None:
        self.parts = 0
        self.neutral: set[str] = set()
        self._known = assigned_once(tree)
        self._parameters = {argument.arg for argument in tree.args.kwonlyargs}

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
        node = self.generic_visit(node)  # type: ignore[assignment]
        if name not in RELATIONS or len(node.args) != 2:
            return node
        parts: list[ast.expr] = []
        for side, (argument, where) in enumerate(zip(node.args, ("left", "right"), strict=True)):
            for word, part, left in _without(argument, self._known):
                name = f"the {word} {ast.unparse(part)} on the {where}"
                if self._is_neutral(part):
                    self.neutral.add(name)
                none = ast.arguments([], [], None, [], [], None, [])
                described = [ast.Constant(name), ast.Constant(side), ast.Lambda(none, left)]
                parts.append(ast.Tuple(described, ast.Load()))
        self.parts += len(parts)
        if parts:
            node.func = ast.Call(ast.Name(_NAME, ast.Load()), [node.func, *parts], [])
        return node

    def _is_neutral(self, part: ast.expr) -> bool:
        """Whether a part is a parameter of the body, or an array of one number."""
        while isinstance(part, ast.Subscript) or (
            isinstance(part, ast.Name) and part.id in self._known
        ):
            part = part.value if isinstance(part, ast.Subscript) else self._known[part.id]
        makes = {getattr(node, "attr", None) for node in ast.walk(part)}
        return not names_in(part).isdisjoint(self._parameters) or not makes.isdisjoint(CONSTANT)


def _without(
    node: ast.expr, known: dict[str, ast.expr]
) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """What can be left out of an expression: the word for it, the part, and what is left.

    A number as a factor is not left out: the derived mutants are about these. Nor is 0, also as
    `0 * x`, which gives a number the shape of x.

    Args:
        known: what the local names stand for that are assigned once.
    """

    def inside(part: ast.expr) -> Iterator[tuple[str, ast.expr, ast.expr]]:
        return _without(part, known)

    match node:
        case ast.BinOp(_, ast.Mult(), _) if not _counts(node, "term"):
            return
        case ast.BinOp(left, ast.Mult() | ast.Div() | ast.Add() | ast.Sub() as operation, right):
            word = _WORDS[type(operation)]
            if _counts(right, word):
                yield word, right, left
            if not isinstance(operation, ast.Div) and _counts(left, word):
                rest = ast.UnaryOp(ast.USub(), right) if isinstance(operation, ast.Sub) else right
                yield word, left, rest
            for word, part, less in inside(left):
                yield word, part, ast.BinOp(less, operation, right)
            for word, part, less in inside(right):
                yield word, part, ast.BinOp(left, operation, less)
        case ast.BinOp(left, ast.Pow() as operation, right):
            for word, part, less in inside(left):
                yield word, part, ast.BinOp(less, operation, right)
        case ast.UnaryOp(ast.USub() as operation, inner):
            for word, part, less in inside(inner):
                yield word, part, ast.UnaryOp(operation, less)
        case ast.Name(name) if name in known:
            yield from inside(known[name])
        case ast.Call(ast.Attribute(ast.Name("torch"), attr), [first, *others], keywords):
            for word, part, less in inside(first) if attr in THROUGH else ():
                yield word, part, ast.Call(node.func, [less, *others], keywords)
        case ast.Call(ast.Attribute(value, attr), arguments, keywords) if attr in THROUGH:
            for word, part, less in inside(value):
                method = ast.Attribute(less, attr, ast.Load())
                yield word, part, ast.Call(method, arguments, keywords)


def _counts(part: ast.expr, word: str) -> bool:
    match part:
        case ast.Constant(value=value):
            return word == "term" and value != 0
        case ast.UnaryOp(ast.USub(), inner):
            return _counts(inner, word)
        case ast.BinOp(left, ast.Mult(), right):
            return all(getattr(one, "value", None) != 0 for one in (left, right))
    return True


def meant(node: ast.AST) -> set[str]:
    """The names in an expression, without those that lend a number their shape or kind alone."""
    match node:
        case ast.Name(name):
            return {name}
        case ast.FloorDiv() | ast.Mod():
            return {"//"}
        case ast.BinOp(ast.Constant(0), ast.Mult()) | ast.BinOp(_, ast.Mult(), ast.Constant(0)):
            return set()
        case ast.Call(ast.Name(name) | ast.Attribute(attr=name)) if name in WRITTEN:
            return set()
    return set[str]().union(*map(meant, ast.iter_child_nodes(node)))
