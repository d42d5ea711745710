"""The tables of all generators in docs/generators.md: signatures, docstrings and promises."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from rankcheck.instances import is_factory
from rankcheck.theory.instances.promises import promises_of

ROOM = "rankcheck.instances"
HEAD = "| generator | options | gives |\n| --- | --- | --- |"
PROMISES = "| option | promises | of |\n| --- | --- | --- |"


def generators() -> dict[str, Any]:
    """All generators that `rankcheck.instances` exports, by name."""
    door = importlib.import_module(ROOM)
    return {name: vars(door)[name] for name in door.__all__ if is_factory(vars(door)[name])}


def table() -> str:
    """The generators as Markdown, by module: name, options, first paragraph; and the promises."""
    by_module: dict[str, list[Any]] = {}
    for made in generators().values():
        by_module.setdefault(made.__module__, []).append(made)
    parts = []
    for name in sorted(by_module):
        module = sys.modules[name]
        found = sorted(by_module[name], key=lambda made: made.__name__)
        title = f"## `{name.removeprefix(f'{ROOM}.')}`\n\n{_first(module)}"
        rows, promised = "\n".join(map(_row, found)), "\n".join(_promised(found))
        parts.append(f"{title}\n\n{HEAD}\n{rows}\n\n{PROMISES}\n{promised}")
    return "\n\n".join(parts)


def _row(made: Any) -> str:
    options = [_option(option) for option in inspect.signature(made).parameters.values()]
    cells = f"`{made.__name__}`", _lines(options), _cell(_first(made))
    return f"| {' | '.join(cells)} |"


def _promised(found: Iterable[Any]) -> list[str]:
    """A row for each promise with the generators that make it; first those without an option."""
    makers: dict[tuple[bool, str, str], list[str]] = {}
    for made in found:
        for option, promise in promises_of(made):
            key = option != "always", option, promise.says
            makers.setdefault(key, []).append(f"`{made.__name__}`")
    return [
        f"| {f'`{option}`' if named else 'any'} | {_cell(says)} | {', '.join(names)} |"
        for (named, option, says), names in sorted(makers.items(), key=lambda row: row[0][:2])
    ]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _option(option: inspect.Parameter) -> str:
    if option.default is option.empty:
        return f"`{option.name}`"
    return _cell(f"`{option.name}={option.default!r}`")


def _lines(options: Iterable[str]) -> str:
    return ", ".join(options) or "none"


def _first(documented: Any | ModuleType) -> str:
    """The first paragraph of a docstring, on one line."""
    paragraph = (inspect.getdoc(documented) or "").split("\n\n")[0]
    return " ".join(paragraph.split())
