"""The places of a claim where its statement can be made stronger, and functions with such a change.

A place is an exponent or a hypothesis in the body of a claim, in a function of the same folder that
the body calls, or in the generator. A change compiles that one function anew and puts the code into
the function that exists, so that everything that refers to it sees the change.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import flint
import torch

import rankcheck.instances
from rankcheck.balls import is_ball
from rankcheck.claims.claim import Claim
from rankcheck.claims.rewriting import Function, compiled, definition_of

#: An exponent is multiplied by these, the stronger one of a bound being one of the two.
FACTORS = (Fraction(51, 50), Fraction(49, 50))
#: The arguments of a relation that are no part of the statement.
TOLERANCES = frozenset({"terms", "error", "scale", "noise", "label"})
#: Functions whose second argument is an exponent, and methods whose first one is.
_POWERS = frozenset({"power", "pow", "schatten_power", "schatten_norm"})
_GENERATORS = Path(rankcheck.instances.__file__).resolve().parent
_SCALED, _RAISED = "__exponent_scaled__", "__raised_to__"


@dataclass(frozen=True)
class Place:
    """A place that can be changed.

    Attributes:
        kind: `exponent`, `dial` (the default of a keyword-only number), `where` or `require`.
        file, function, line: where it stands; the file as the code object names it.
        before: the text that is changed.
        number: the how-manieth place of the function it is.
    """

    kind: str
    file: str
    function: str
    line: int
    before: str
    number: int

    @property
    def changes(self) -> tuple[Fraction | None, ...]:
        """What it can be changed to: both factors of an exponent, or the hypothesis dropped."""
        return FACTORS if self.kind in ("exponent", "dial") else (None,)


# What a changed function calls.


def exponent_scaled(q: Any, top: int, bottom: int, kind: Callable[[Any], Any] = Fraction) -> Any:
    """q·top/bottom; of a rational, a rational or what `kind` says."""
    factor = Fraction(top, bottom)
    if isinstance(q, int | Fraction):
        return float(q * factor) if kind is round else kind(q * factor)
    return q * factor if is_ball(q) else q * float(factor)


def raised_to(
    base: Any, q: Any, top: int, bottom: int, kind: Callable[[Any], Any] = Fraction
) -> Any:
    """base**(q·top/bottom); of a negative base with the sign of base**q if q is an integer.

    With `round` for `kind` the power of an integer is the integer below, whatever its size.
    """
    if kind is round and isinstance(base, int) and isinstance(q, int) and base > 0 and q > 0:
        part = Fraction(q * top, bottom)
        return int((flint.fmpz(base) ** part.numerator).root(part.denominator))
    scaled = exponent_scaled(q, top, bottom)
    if isinstance(base, int | float | Fraction) and isinstance(scaled, float | Fraction):
        size = abs(float(base)) ** float(scaled)
        size = -size if base < 0 and q % 2 == 1 else size
        return size if isinstance(base, float) else kind(size)
    if isinstance(base, torch.Tensor):
        base = base if base.is_floating_point() else base.double()
        scaled = float(scaled) if isinstance(scaled, Fraction) else scaled
    if isinstance(q, int):
        size = base.abs() ** scaled
        return size * base.sign() if q % 2 else size
    return base**scaled


# The functions of a claim.


def functions(claim: Claim) -> tuple[list[Function], list[Function]]:
    """The body with the functions it calls, and the generator with those; of the claim's folder."""
    folder = claim.file.resolve().parent
    body = _reached(claim.body, (folder,))
    if claim.instances is None:
        return body, []
    return body, _reached(claim.instances.origin, (folder, _GENERATORS))


def _reached(first: Callable[..., Any], folders: tuple[Path, ...]) -> list[Function]:
    found: list[Function] = []
    left = [first]
    while left:
        function = _plain(left.pop(0))
        if function is None or function in found or not _in(function, folders):
            continue
        definition = definition_of(function)
        if definition is None:
            continue
        found.append(function)
        for part in (definition.args, *definition.body):  # not the decorators
            for node in ast.walk(part):
                if isinstance(node, ast.Name):
                    left += _callables(function.__globals__.get(node.id))
    return found


def _callables(value: Any) -> list[Any]:
    """A function, the functions of a class, or those in a table of functions."""
    if isinstance(value, type):
        members = list(vars(value).values())
        return [member.fget if isinstance(member, property) else member for member in members]
    if isinstance(value, dict):
        return [*value.values()]
    if isinstance(value, list | tuple):
        return [*value]
    return [value]


def _plain(value: Any) -> Function | None:
    """The function behind decorators, a method or a generator of instances."""
    origin = getattr(value, "__wrapped__", None) if callable(value) else None
    if origin is not None:
        return _plain(origin)
    if isinstance(value, staticmethod | classmethod):
        return _plain(value.__func__)
    if isinstance(value, Function) and value.__closure__:
        # The factory that @instances made of a generator.
        inner = inspect.getclosurevars(value).nonlocals.get("generator")
        return inner if isinstance(inner, Function) else None
    return value if isinstance(value, Function) else None


def _in(function: Function, folders: tuple[Path, ...]) -> bool:
    return Path(function.__code__.co_filename).resolve().parent in folders


# The places of a function.


def places(function: Function, *, generator: bool = False) -> list[Place]:
    """The places of one function; of a generator the hypotheses that it requires."""
    definition = definition_of(function)
    if definition is None:
        return []
    file = function.__code__.co_filename
    return places_of(definition, file, function.__qualname__, generator=generator)


def places_of(
    definition: ast.FunctionDef, file: str, name: str, *, generator: bool = False
) -> list[Place]:
    """The same of the text of a function."""
    found = _Marker(definition.name, file, name, generator)
    found.visit(copy.deepcopy(definition))
    return found.places


def changed(function: Function, place: Place, factor: Fraction | None) -> Function:
    """The function with one change; it is not put in place."""
    definition = definition_of(function)
    assert definition is not None
    generator = place.kind == "require"
    marker = _Marker(definition.name, place.file, place.function, generator, place.number, factor)
    tree = marker.visit(copy.deepcopy(definition))
    return compiled(function, tree)


@contextmanager
def in_place(function: Function, place: Place, factor: Fraction | None) -> Iterator[Iterator[None]]:
    """Change a function for a while.

    Gives the ways to write the changed number, one with each step: a rational, for mathematics that
    is exact; a float, where the number meets a tensor; and the nearest integer of a power.
    """
    inside = function.__globals__
    before = function.__code__
    defaults = function.__kwdefaults__ or {}
    change = changed(function, place, factor)

    def ways() -> Iterator[None]:
        function.__code__ = change.__code__
        for kind in (Fraction, float, round):
            if kind is round and place.kind == "dial":
                return  # 2 % more units or layers are as many
            inside[_SCALED] = partial(exponent_scaled, kind=kind)
            inside[_RAISED] = partial(raised_to, kind=kind)
            if place.kind == "dial":
                name = place.before.partition("=")[0]
                value = defaults[name]
                assert factor is not None
                scaled = value * (float(factor) if isinstance(value, float) else factor)
                function.__kwdefaults__ = {**defaults, name: kind(scaled)}
            _clear_caches(inside)
            yield

    try:
        yield ways()
    finally:
        function.__code__ = before
        function.__kwdefaults__ = defaults or None
        inside.pop(_SCALED, None)
        inside.pop(_RAISED, None)
        _clear_caches(inside)


def _clear_caches(names: Mapping[str, Any]) -> None:
    for value in list(names.values()):
        clear = getattr(value, "cache_clear", None)
        if callable(clear) and not isinstance(value, type):
            clear()


class _Marker(ast.NodeTransformer):
    """Lists the places of a function in the order of its text, or changes one of them."""

    def __init__(
        self,
        first: str,
        file: str,
        name: str,
        generator: bool,
        number: int | None = None,
        factor: Fraction | None = None,
    ) -> None:
        self.places: list[Place] = []
        self._first, self._file, self._name = first, file, name
        self._generator = generator
        self._number = number
        self._factor = factor

    def _meet(self, kind: str, node: ast.AST, text: ast.AST) -> bool:
        """Note a place; whether it is the one to change."""
        if self._generator != (kind == "require"):
            return False
        place = Place(
            kind,
            self._file,
            self._name,
            getattr(node, "lineno", 0),
            ast.unparse(text),
            len(self.places),
        )
        self.places.append(place)
        return place.number == self._number

    def _call(self, name: str, *arguments: ast.expr) -> ast.expr:
        assert self._factor is not None
        numbers = ast.Constant(self._factor.numerator), ast.Constant(self._factor.denominator)
        return ast.Call(ast.Name(name, ast.Load()), [*arguments, *numbers], [])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name == self._first:
            for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
                if default is not None and _is_number(default):
                    self._meet("dial", default, ast.keyword(argument.arg, default))
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        match node.value:
            case ast.Call(func=ast.Attribute(attr="require")):
                if self._meet("require", node, node.value):
                    return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        return node if node.arg in TOLERANCES else self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        """Options of a relation in a dictionary: its tolerances, and its hypothesis."""
        for index, key in enumerate(node.keys):
            if isinstance(key, ast.Constant) and key.value in TOLERANCES:
                continue
            value = node.values[index]
            where = isinstance(key, ast.Constant) and key.value == "where"
            if where and self._meet("where", value, value):
                node.values[index] = ast.Constant(None)
            else:
                node.values[index] = self.visit(value)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        chosen = (
            isinstance(node.op, ast.Pow)
            and not (_is_number(node.left) and _is_number(node.right))
            and not _is_sign(node.left)
            and self._meet("exponent", node, node)
        )
        node = self.generic_visit(node)  # type: ignore[assignment]
        return self._call(_RAISED, node.left, node.right) if chosen else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        method = isinstance(node.func, ast.Attribute) and not _is_module(node.func.value)
        name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
        if name in ("leq", "lt", "eq"):
            for keyword in list(node.keywords):
                if keyword.arg == "where" and self._meet("where", keyword.value, keyword.value):
                    node.keywords.remove(keyword)
        elif name == "sqrt" and (method or len(node.args) == 1):
            if self._meet("exponent", node, node):
                inner = node.func.value if method else node.args[0]  # type: ignore[attr-defined]
                return self._call(_RAISED, self.visit(inner), ast.Constant(0.5))
        elif name == "exp" and (method or len(node.args) == 1):
            if self._meet("exponent", node, node):
                if method:
                    assert isinstance(node.func, ast.Attribute)
                    node.func.value = self._call(_SCALED, self.visit(node.func.value))
                else:
                    node.args[0] = self._call(_SCALED, self.visit(node.args[0]))
                return node
        elif name == "powers" and len(node.args) == 2:  # an integer power, by multiplication
            if self._meet("exponent", node, node):
                return self._call(_RAISED, *map(self.visit, node.args))
        elif name in _POWERS:
            place = 0 if method else 1
            if len(node.args) > place:
                if self._meet("exponent", node, node):
                    node = self.generic_visit(node)  # type: ignore[assignment]
                    node.args[place] = self._call(_SCALED, node.args[place])
                    return node
                # A rational inside of the exponent is the same place.
                if method:
                    node.func = self.visit(node.func)
                node.args = [
                    argument if index == place else self.visit(argument)
                    for index, argument in enumerate(node.args)
                ]
                node.keywords = [self.visit(keyword) for keyword in node.keywords]
                return node
        elif name == "Fraction" and len(node.args) == 2:
            top, bottom = node.args
            if _is_number(top) and not _is_number(bottom) and self._meet("exponent", node, node):
                return self._call(_SCALED, node)
        return self.generic_visit(node)


def _is_number(node: ast.expr) -> bool:
    """Whether an expression is a number other than 0, true and false."""
    match node:
        case ast.Constant(value=bool()):
            return False
        case ast.Constant(value=value):
            return isinstance(value, int | float) and value != 0
        case ast.UnaryOp(operand=operand):
            return _is_number(operand)
        case ast.Call(func=ast.Name(id="Fraction"), args=arguments):
            return all(_is_number(argument) for argument in arguments)
    return False


def _is_sign(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and ast.unparse(node) == "-1"


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("torch", "math", "np", "numpy", "linalg")
