"""A page for each room: the names that it exports, with their signatures and docstrings.

The docstrings are Markdown with formulas between dollar signs, and sections as Google has them.
autodoc reads reStructuredText, in which the bars of a norm are a substitution and a star begins
emphasis. So the directives of Sphinx's Python domain are written here, with Markdown inside.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx
from written import plain, write

FRONT = "rankcheck"
#: The public rooms, in the order of the page `api/index`.
ROOMS = (
    FRONT,
    "rankcheck.networks",
    "rankcheck.costs",
    "rankcheck.separation",
    "rankcheck.regions",
    "rankcheck.polytopes",
    "rankcheck.data",
    "rankcheck.witnesses",
    "rankcheck.instances",
    "rankcheck.linalg",
    "rankcheck.balls",
    "rankcheck.claims",
    "rankcheck.engine.counterexamples",
    "rankcheck.engine.hunt",
)
_SECTION = re.compile(r"(Args|Attributes|Returns|Raises|Yields|Example|Examples):")
_ROLE = re.compile(r":(?:py:)?(?:func|class|meth|mod|data|attr|exc):`~?([^`]+)`")


def room_page(name: str) -> str:
    """The page of a room as Markdown."""
    module = importlib.import_module(name)
    lines = [f"# `{name}`", "", f"```{{py:module}} {name}\n```", "", markdown(module.__doc__)]
    if name == FRONT:
        return "\n".join([*lines, "", *_front(module)]) + "\n"
    for source, exported in _exports(module).items():
        if source != name:
            lines += ["", f"## `{source}`", ""]
        for item in exported:
            value = getattr(importlib.import_module(source), item)
            lines += ["", *_described(f"{source}.{item}", value)]
    return "\n".join(lines) + "\n"


def _front(module: ModuleType) -> Iterator[str]:
    """The names of the front door, each with its room, where it is described, or else here."""
    here: list[str] = []
    yield "| name | what it is | described in |\n| --- | --- | --- |"
    for name in _public(module):
        value = getattr(module, name)
        page, source = _described_at(name, value)
        if page == FRONT:
            here.append(name)
        first = " ".join(markdown(value.__doc__).split("\n\n")[0].split()).replace("|", "\\|")
        yield f"| {{py:obj}}`{name} <{source}.{name}>` | {first} | [{page}]({page}.md) |"
    for name in here:
        yield ""
        yield from _described(f"{getattr(module, name).__module__}.{name}", getattr(module, name))


def _described_at(name: str, value: Any) -> tuple[str, str]:
    """The room whose page describes a name of the front door, and its module there."""
    for room in ROOMS[1:]:
        for source, exported in _exports(importlib.import_module(room)).items():
            if name in exported and getattr(importlib.import_module(source), name) is value:
                return room, source
    return FRONT, value.__module__


def _exports(module: ModuleType) -> dict[str, list[str]]:
    """By module, the names that a room offers: those of its door, or else of each of its files."""
    if hasattr(module, "__all__") or not hasattr(module, "__path__"):
        return {module.__name__: _public(module)}
    found = {}
    for item in pkgutil.iter_modules(module.__path__):
        if not item.name.startswith("_"):
            inner = importlib.import_module(f"{module.__name__}.{item.name}")
            found[inner.__name__] = _public(inner)
    return {name: names for name, names in found.items() if names}


def _public(module: ModuleType) -> list[str]:
    """The names in `__all__`; else the functions and classes that the module defines."""
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if not name.startswith("_")]
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
        if inspect.isclass(value) or inspect.isroutine(value)
    ]


def _described(name: str, value: Any) -> Iterator[str]:
    """A directive for a name: its signature, its docstring, the methods of a class."""
    module, _, short = name.rpartition(".")
    fence = "`" * 6
    if inspect.isclass(value) and not _is_constant(value):
        yield f"{fence}{{py:class}} {short}{_signature(value)}\n:module: {module}\n"
        yield markdown(value.__doc__)
        for member, what in _members(value):
            yield ""
            yield from what.lines(member)
        yield fence
    elif callable(value) and not _is_constant(value):
        yield f"{fence}{{py:function}} {short}{_signature(value)}\n:module: {module}\n"
        yield markdown(value.__doc__)
        yield fence
    else:
        shown = repr(value)
        shown = "" if len(shown) > 60 or " at 0x" in shown else f":value: {shown}\n"
        yield f"{fence}{{py:data}} {short}\n:module: {module}\n{shown}"
        yield fence


@dataclasses.dataclass(frozen=True)
class _Member:
    """A method or a property of a class."""

    directive: str
    options: str
    signature: str
    doc: str

    def lines(self, name: str) -> Iterator[str]:
        yield f"`````{{py:{self.directive}}} {name}{self.signature}\n{self.options}"
        yield self.doc
        yield "`````"


def _members(value: type) -> Iterator[tuple[str, _Member]]:
    """The documented public methods and properties that the class itself defines."""
    for name, member in vars(value).items():
        raw = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if name.startswith("_") or not getattr(raw, "__doc__", None):
            continue
        doc = markdown(raw.__doc__)
        if isinstance(member, property) or type(member).__name__ == "cached_property":
            yield name, _Member("property", "", "", doc)
        elif inspect.isfunction(raw):
            kind = type(member).__name__
            option = f":{kind}:\n" if kind in ("classmethod", "staticmethod") else ""
            yield name, _Member("method", option, _signature(raw, skip=kind != "staticmethod"), doc)


def _is_constant(value: Any) -> bool:
    """Whether a callable is an alias of a type, which has the signature of that type."""
    ours = str(getattr(value, "__module__", "")).startswith("rankcheck")
    return not (inspect.isroutine(value) or ours)


class _Raw:
    """Text that a signature shows without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _signature(value: Any, *, skip: bool = False) -> str:
    """The parameters with their annotations; empty where Python does not know them."""
    try:
        made = inspect.signature(value)
    except (TypeError, ValueError):
        return "()"
    parameters = list(made.parameters.values())[1 if skip else 0 :]
    shown = [
        item.replace(annotation=_annotation(item.annotation), default=_default(item.default))
        for item in parameters
    ]
    returns = made.empty if inspect.isclass(value) else _annotation(made.return_annotation)
    return str(made.replace(parameters=shown, return_annotation=returns))


def _annotation(annotation: Any) -> Any:
    if annotation is inspect.Signature.empty:
        return annotation
    if isinstance(annotation, str):
        return _Raw(annotation)
    return _Raw(inspect.formatannotation(annotation).replace("typing.", ""))


def _default(value: Any) -> Any:
    if value is inspect.Parameter.empty:
        return value
    shown = repr(value)
    return _Raw(getattr(value, "__name__", "...") if "<" in shown else shown)


def markdown(doc: str | None) -> str:
    """A docstring as Markdown: sections become lists, examples and displays become blocks."""
    text = inspect.cleandoc(doc or "")
    text = _ROLE.sub(r"`\1`", text)
    text = re.sub(r":math:`([^`]+)`", r"$\1$", text)
    text = re.sub(
        r"^\.\. math::[ \n]*((?:.+\n?)(?:^[ \t]+.*\n?)*)",
        lambda found: f"$$ {' '.join(found[1].split())} $$\n",
        text,
        flags=re.MULTILINE,
    )
    lines: list[str] = []
    for part in re.split(r"\n\s*\n", text):
        lines += [*_paragraph(part), ""]
    return plain("\n".join(lines).strip())


def _paragraph(part: str) -> Iterator[str]:
    rows = part.split("\n")
    example = next((i for i, row in enumerate(rows) if row.lstrip().startswith(">>>")), None)
    section = _SECTION.fullmatch(rows[0])
    if example is not None:
        yield from rows[:example]
        yield "\n```pycon\n" + inspect.cleandoc("\n".join(["", *rows[example:]])) + "\n```"
    elif section:
        yield f"**{section[1]}**\n"
        yield from _items(rows[1:])
    else:
        yield part


def _items(rows: list[str]) -> Iterator[str]:
    """The entries of a section, `name: what it is`, as a list."""
    margin = min((len(row) - len(row.lstrip()) for row in rows if row.strip()), default=0)
    for row in rows:
        text = row[margin:]
        entry = re.match(r"([\w*`., ]+?): +(.*)", text)
        if text[:1].isspace():
            yield f"  {text.strip()}"
        elif entry and len(entry[1]) <= 60:
            names = ", ".join(f"`{name.strip(' `')}`" for name in entry[1].split(","))
            yield f"- {names}: {entry[2]}"
        else:
            yield f"- {text}"


def pages() -> dict[str, str]:
    """The pages of all rooms, by file name, and their index."""
    names = "\n".join(ROOMS)
    index = (
        "# The rooms\n\nThe names that each room exports. What lives where, and who imports whom, "
        "is in [Architecture](../architecture.md).\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n"
    )
    return {"index.md": index} | {f"{room}.md": room_page(room) for room in ROOMS}


def _generate(app: Sphinx) -> None:
    write(Path(app.srcdir) / "api", pages())


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", _generate)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
