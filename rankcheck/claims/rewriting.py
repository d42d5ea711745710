"""The text of a function, and what it assigns to its names."""

from __future__ import annotations

import ast
import linecache
from collections import Counter
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path


@cache
def definitions(file: str) -> tuple[ast.FunctionDef, ...]:
    """The functions of a file, or of a notebook's cell, that stand in none.

    None if it is no file of Python, as at a prompt, or on a page whose blocks are run.
    """
    with suppress(OSError, SyntaxError, ValueError):
        path = Path(file)
        cell = "" if path.is_file() else "".join(linecache.getlines(file))
        tree = ast.parse(cell or path.read_text(encoding="utf-8"))
        return tuple(node for node in tree.body if isinstance(node, ast.FunctionDef))
    return ()


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
    return {name for name, times in bound.items() if times > 1}


def names_in(node: ast.expr) -> set[str]:
    """The names in an expression."""
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
