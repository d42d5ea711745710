"""The text of a function, and the function with a changed text."""

from __future__ import annotations

import ast
import inspect
import linecache
import types
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["Function", "assigned_once", "compiled", "definition_of", "definitions", "names_in"]

Function = types.FunctionType


@cache
def definitions(file: str) -> tuple[tuple[str, ast.FunctionDef], ...]:
    """The functions of a file, or of a notebook's cell, with their qualified names.

    None if it is no file of Python, as at a prompt, or on a page whose blocks are run.
    """
    with suppress(OSError, SyntaxError, ValueError):
        path = Path(file)
        cell = "" if path.is_file() else "".join(linecache.getlines(file))
        return tuple(_definitions(ast.parse(cell or path.read_text(encoding="utf-8")), ""))
    return ()


def _definitions(node: ast.AST, names: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            name = names + child.name
            if isinstance(child, ast.FunctionDef):
                yield name, child
            else:
                yield from _definitions(child, f"{name}.")


def definition_of(function: Function) -> ast.FunctionDef | None:
    """The definition of a function in its file; None if it is not in one, or inside a function."""
    code = function.__code__
    for name, node in definitions(code.co_filename):
        first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
        if name == function.__qualname__ and first <= code.co_firstlineno <= node.lineno:
            return node
    return None


def compiled(function: Function, tree: ast.FunctionDef, **names: Any) -> Function:
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
    assert isinstance(made, Function)
    made.__kwdefaults__ = function.__kwdefaults__  # a dial may be set to another value
    return made


def assigned_once(tree: ast.FunctionDef) -> dict[str, ast.expr]:
    """The local names that one statement of a function assigns, outside of branches and loops.

    What they are assigned depends on such names and on arguments only, so it can be written in
    their place. An entry that is written, and a method such as `add_`, is an assignment, too.
    """
    stored = [
        getattr(node, "arg", None) or getattr(node, "id", "")
        for node in ast.walk(tree)
        if isinstance(node, ast.arg)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    ]
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Name(name), ctx=ast.Store()):
                stored.append(name)
            case ast.Call(func=ast.Attribute(ast.Name(name), way)) if way.endswith("_"):
                stored.append(name)
    pairs: list[tuple[ast.expr, ast.expr]] = []
    for statement in tree.body:
        match statement:
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
                pairs += zip(targets, values, strict=False)
            case ast.Assign([target], value):
                pairs.append((target, value))
    often = {name for name in stored if stored.count(name) > 1}
    return {
        target.id: value
        for target, value in pairs
        if isinstance(target, ast.Name) and not often & {target.id, *names_in(value)}
    }


def names_in(node: ast.expr) -> set[str]:
    """The names in an expression."""
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
