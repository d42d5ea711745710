"""Reads the claims of a file from its syntax tree; imports and runs nothing.

So the arguments of a decorator are literals and simple calls, written in place or as a constant of
the module, and a claim is a function at the top level of its file.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, cast

from rankcheck.claims.catalogue.entry import CatalogueError, Entry
from rankcheck.claims.erratum import Erratum
from rankcheck.claims.facts import HEAD, Facts
from rankcheck.claims.kinds import KINDS, Kind
from rankcheck.claims.reference import Reference, paper
from rankcheck.claims.registry import TOP_LEVEL
from rankcheck.claims.sides import modules, plain
from rankcheck.files import shown_path

_READ = (*KINDS, "paper", "Reference", "Erratum")
_NONE = ast.Constant(None)

#: Files that were read, with their texts and their claims: a command reads its own ones repeatedly.
_read: dict[Path, tuple[str, list[Entry]]] = {}


def read_file(path: Path, marker: str = "rankcheck") -> list[Entry]:
    """The claims of a file, in their order; an empty list if it declares none.

    A claim that cannot be read has an entry with a `problem`; a file without the marker, none.

    Raises:
        CatalogueError: if the file is not Python text, or a claim is not at its top level.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogueError(
            f"{shown_path(path)} cannot be read: {error}; a claim file is UTF-8 text"
        ) from error
    if marker not in text:
        return []
    path = path.resolve()
    known = _read.get(path)
    if known is not None and known[0] == text:
        return list(known[1])
    try:
        tree = ast.parse(text)
    except (RecursionError, MemoryError) as error:  # so the parser of Python says it
        raise CatalogueError(_too_deep(path)) from error
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise CatalogueError(
            f"{shown_path(path)}:{line}: a claim file is Python; {getattr(error, 'msg', error)}"
        ) from error
    try:
        entries = _Reader(path, tree).entries()
    except RecursionError as error:
        raise CatalogueError(_too_deep(path)) from error
    if not any(entry.problem for entry in entries):
        _read[path] = text, entries
    return list(entries)


def _too_deep(path: Path) -> str:
    return f"{shown_path(path)} cannot be parsed: an expression in it is nested too deeply"


class _Names:
    """The names of a file that stand for something of rankcheck."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        self._names: dict[str, str] = {}
        self._modules: set[str] = set()
        for node in nodes:
            match node:
                case ast.ImportFrom(module=str(module), names=aliases, level=0):
                    if module.split(".")[0] == "rankcheck":
                        for alias in aliases:
                            self._note(alias)
                case ast.Import(names=aliases):
                    self._modules |= {
                        alias.asname or "rankcheck"
                        for alias in aliases
                        if alias.name.split(".")[0] == "rankcheck"
                    }

    def _note(self, alias: ast.alias) -> None:
        if alias.name == "*":
            self._names |= {name: name for name in _READ}
        elif alias.name in _READ:
            self._names[alias.asname or alias.name] = alias.name
        else:
            self._modules.add(alias.asname or alias.name)

    def meaning(self, function: ast.expr) -> str:
        """The name of rankcheck that an expression stands for; empty if it is another one."""
        match function:
            case ast.Name(id=name):
                return self._names.get(name, "")
            case ast.Attribute(value=value, attr=name) if name in _READ:
                while isinstance(value, ast.Attribute):
                    value = value.value
                return name if isinstance(value, ast.Name) and value.id in self._modules else ""
        return ""


def _imported(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """The full names of what a file imports, by the names that it uses."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        for alias in node.names
    }


class _Reader:
    """Reads the claims of one syntax tree."""

    def __init__(self, path: Path, tree: ast.Module) -> None:
        self.path = path
        self.tree = tree
        self.nodes = list(ast.walk(tree))
        self.meaning = _Names(self.nodes).meaning
        self.imported = _imported(self.nodes)
        self.text = partial(plain, modules=modules(tree))
        self.constants: dict[str, ast.expr] = {}
        for statement in tree.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.constants[name] = value
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self.constants[name] = value

    def entries(self) -> list[Entry]:
        declared = [pair for statement in self.tree.body for pair in self._declarations(statement)]
        top = {id(call) for call, _ in declared}
        for call in self.nodes:
            if isinstance(call, ast.Call) and self._declares(call) and id(call) not in top:
                raise self._refusal(TOP_LEVEL, call)
        return [self._readable(call, function) for call, function in declared]

    def _readable(self, call: ast.Call, function: ast.FunctionDef) -> Entry:
        """The entry of a claim; with what is wrong, if it cannot be read."""
        try:
            return self._entry(call, function)
        except CatalogueError as error:
            problem = str(error)
        named = [keyword.value for keyword in call.keywords if keyword.arg == "id"]
        id_ = next(filter(None, map(_string, [*call.args[:1], *named])), None)
        return Entry(
            id=id_ or f"{self.path.stem}.{function.name}",
            kind=self._kind(call),
            title="",
            file=self.path,
            line=function.decorator_list[0].lineno,
            name=function.name,
            problem=problem,
        )

    def _kind(self, call: ast.Call) -> Kind:
        return cast("Kind", self.meaning(call.func))

    def _declares(self, call: ast.Call) -> bool:
        """Whether a call declares a claim; a body may have a parameter called `bound`."""
        return self.meaning(call.func) in KINDS and (
            any(isinstance(argument, ast.Constant) for argument in call.args[:1])
            or any(keyword.arg == "id" for keyword in call.keywords)
        )

    def _declarations(self, statement: ast.stmt) -> Iterator[tuple[ast.Call, ast.FunctionDef]]:
        if isinstance(statement, ast.FunctionDef):
            for call in statement.decorator_list:
                if isinstance(call, ast.Call) and self.meaning(call.func) in KINDS:
                    yield call, statement

    def _entry(self, call: ast.Call, function: ast.FunctionDef) -> Entry:
        arguments = self._arguments(call)
        if "id" not in arguments:
            raise self._refusal("a claim has an id", call)
        id_ = self._text(arguments, "id") or ""
        kind = self._kind(call)
        first, _, rest = (ast.get_docstring(function) or "").partition("\n\n")
        if not first:
            raise self._refusal(f"{id_}: a claim states its mathematics in its docstring", call)
        reference = self._reference(arguments.get("reference", _NONE))
        if reference is None and kind != "conjecture":
            raise self._refusal(f"{id_}: a claim names its reference, paper(key, place)", call)
        return Entry(
            id=id_,
            kind=kind,
            title=" ".join(first.split()).removesuffix("."),
            statement=rest.strip() or first.strip(),
            reference=reference,
            file=self.path,
            line=function.decorator_list[0].lineno,
            name=function.name,
            instances=self._written(arguments, "instances"),
            tight=self._written(arguments, "tight"),
            needs=self._controls(arguments, "needs"),
            mutants=self._controls(arguments, "mutants"),
            witness=self._qualified(arguments, "witness"),
            reach=self._written(arguments, "reach"),
            **self._facts(arguments),
        )

    def _facts(self, arguments: Mapping[str, ast.expr]) -> dict[str, Any]:
        """The declared facts that are arguments, each read as its annotation says."""
        ways: dict[str, Callable[[Mapping[str, ast.expr], str], object]] = {
            "str | None": self._text,
            "str | Mapping[str, str] | None": self._reasons,
            "Mapping[str, str]": self._texts,
            "tuple[Erratum, ...]": self._errata,
            "float": self._number,
        }
        return {
            item.name: ways[str(item.type)](arguments, item.name)
            for item in fields(Facts)
            if item.name not in HEAD and item.name in arguments
        }

    def _arguments(self, call: ast.Call) -> dict[str, ast.expr]:
        """The arguments by name; the id and the reference may come first without their names."""
        if len(call.args) > 2:
            raise self._refusal(
                "a claim takes its id and its reference, and the rest by name", call.args[2]
            )
        arguments = dict(zip(("id", "reference"), call.args, strict=False))
        for keyword in call.keywords:
            if keyword.arg is None:
                raise self._refusal("a claim's arguments are written out, no **", keyword.value)
            arguments[keyword.arg] = keyword.value
        return arguments

    def _value(self, arguments: Mapping[str, ast.expr], name: str) -> ast.expr:
        """An argument, with a constant of the module replaced by its value."""
        return self._resolved(arguments.get(name, _NONE))

    def _resolved(self, node: ast.expr) -> ast.expr:
        return self.constants.get(node.id, node) if isinstance(node, ast.Name) else node

    def _text(self, arguments: Mapping[str, ast.expr], name: str) -> str | None:
        match self._value(arguments, name):
            case ast.Constant(value=None):
                return None
            case ast.Constant(value=str(text)):
                return text
            case node:
                raise self._refusal(f"the {name} of a claim is a literal text", node)

    def _reasons(
        self, arguments: Mapping[str, ast.expr], name: str
    ) -> str | Mapping[str, str] | None:
        """A literal text, or literal texts by name."""
        if isinstance(self._value(arguments, name), ast.Dict):
            return self._texts(arguments, name)
        return self._text(arguments, name)

    def _texts(self, arguments: Mapping[str, ast.expr], name: str) -> dict[str, str]:
        """Literal texts by name; none where the argument is missing."""
        return self._named(arguments, name, _string, "literal texts by name")

    def _controls(self, arguments: Mapping[str, ast.expr], name: str) -> dict[str, str]:
        """What is written by name; none where the argument is missing."""
        return self._named(arguments, name, self.text, "written {'name': ...}, each name once")

    def _named(
        self,
        arguments: Mapping[str, ast.expr],
        name: str,
        read: Callable[[ast.expr], str | None],
        rule: str,
    ) -> dict[str, str]:
        match self._value(arguments, name):
            case ast.Constant(value=None):
                return {}
            case ast.Dict(keys=keys, values=values) as node:
                named = dict(zip(map(_string, keys), map(read, values), strict=True))
                texts = {k: v for k, v in named.items() if k is not None and v is not None}
                if len(texts) == len(keys):
                    return texts
            case node:
                pass
        raise self._refusal(f"the {name} of a claim are {rule}", node)

    def _errata(self, arguments: Mapping[str, ast.expr], name: str) -> tuple[Erratum, ...]:
        """The errata of a claim: one call of `Erratum`, or a tuple of them."""
        match self._value(arguments, name):
            case ast.Constant(value=None):
                return ()
            case ast.Tuple(elts=nodes):
                return tuple(map(self._erratum, nodes))
            case node:
                return (self._erratum(node),)

    def _erratum(self, node: ast.expr) -> Erratum:
        match self._resolved(node):
            case ast.Call(func=function, args=[], keywords=keywords) as call if (
                self.meaning(function) == "Erratum"
            ):
                written = {keyword.arg or "": keyword.value for keyword in keywords}
                texts = {name: self._text(written, name) for name in written}
                try:
                    return Erratum(**texts)  # type: ignore[arg-type]
                except (TypeError, ValueError) as error:
                    raise CatalogueError(f"{self._at(call)}: {error}") from error
        raise self._refusal(
            "an erratum is Erratum(printed=..., right=..., survives=...), with literal texts", node
        )

    def _number(self, arguments: Mapping[str, ast.expr], name: str) -> float:
        match self._value(arguments, name):
            case ast.Constant(value=int() | float() as number) if (
                not isinstance(number, bool) and abs(number) < 2**1000
            ):
                return float(number)
            case node:
                raise self._refusal(f"the {name} of a claim is a literal number", node)

    def _written(self, arguments: Mapping[str, ast.expr], name: str) -> str | None:
        match self._value(arguments, name):
            case ast.Constant(value=None):
                return None
            case node:
                return self.text(node)

    def _qualified(self, arguments: Mapping[str, ast.expr], name: str) -> str | None:
        """An object as it is written, under the full name of the module it is imported from."""
        if self._written(arguments, name) is None:
            return None
        first, dot, rest = ast.unparse(self._value(arguments, name)).partition(".")
        return self.imported.get(first, first) + dot + rest

    def _reference(self, node: ast.expr) -> Reference | None:
        match self._resolved(node):
            case ast.Constant(value=None):
                return None
            case ast.Call(func=function, args=positional, keywords=keywords) as call:
                make = {"paper": paper, "Reference": Reference}.get(self.meaning(function))
                texts = dict(zip(("key", "where"), positional, strict=False))
                texts |= {keyword.arg or "": keyword.value for keyword in keywords}
                if make is not None and set(texts) == {"key", "where"}:
                    key, where = self._text(texts, "key"), self._text(texts, "where")
                    try:
                        return make(key or "", where or "")
                    except ValueError as error:
                        raise CatalogueError(f"{self._at(call)}: {error}") from error
        raise self._refusal("a reference is paper(key, place) or Reference(key, place)", node)

    def _at(self, node: ast.expr) -> str:
        return f"{shown_path(self.path)}:{node.lineno}"

    def _refusal(self, rule: str, received: ast.expr) -> CatalogueError:
        text = " ".join(ast.unparse(received).split())
        shown = text if len(text) <= 80 else text[:77] + "..."
        return CatalogueError(f"{self._at(received)}: {rule}; received {shown}")


def _string(node: ast.expr | None) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text
    return None
