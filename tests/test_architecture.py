"""The floors of docs/architecture.md: imports run downwards, and no two files import in a circle.

Imports count wherever they stand in a file: at its top, inside a function, or for the type checker
alone.
"""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import rankcheck

PACKAGE = Path(rankcheck.__file__).parent
#: From the ground up; rooms on one floor do not import one another.
FLOORS = (
    ("errors", "versions", "_version"),
    ("files", "text"),
    ("balls",),
    ("linalg",),
    ("scalars",),
    ("networks", "separation", "data"),
    ("regions", "witnesses"),
    ("costs",),
    ("instances",),
    ("claims",),
    ("catalogue",),
    ("counterexamples",),
    ("verification",),
    ("hunt",),
    ("terminal",),
    ("commands", "pytest_plugin"),
    ("__main__",),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}


def modules() -> dict[str, Path]:
    """All modules of the package with their files, without the package's own name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name and not name.startswith("_properties"):
            found[name] = path
    return found


MODULES = modules()


def room(module: str) -> str:
    """The room of a module: a folder of the package, or a file that stands alone."""
    return module.split(".")[0]


@cache
def imports(module: str) -> list[str]:
    """The modules that a file imports, wherever in the file."""
    return list(_imports(module))


def _imports(module: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            inner = name.removeprefix("rankcheck.")
            if name.startswith("rankcheck."):
                # `from rankcheck.claims.claim import Claim` imports the module, not the name.
                yield inner if inner in MODULES else inner.rpartition(".")[0]


def graph() -> dict[str, set[str]]:
    """Every file with the files that it imports."""
    return {name: {other for other in imports(name) if other} - {name} for name in MODULES}


def test_every_room_has_a_floor() -> None:
    assert {room(name) for name in MODULES} == set(FLOOR)


@pytest.mark.parametrize("module", MODULES)
def test_imports_run_downwards(module: str) -> None:
    here = room(module)
    other = {name for name in imports(module) if name and room(name) != here}
    higher = sorted(name for name in other if FLOOR[room(name)] >= FLOOR[here])
    assert not higher, f"{module} is on floor {FLOOR[here]}, and imports from there or above"


def test_no_circle() -> None:
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        pytest.fail(f"files import one another in a circle: {' -> '.join(error.args[1])}")


@pytest.mark.parametrize("name", sorted({room(name) for name in MODULES}))
def test_every_room_has_a_door(name: str) -> None:
    """A room says what it is for, what may live in it, and what it may import."""
    if not (PACKAGE / name).is_dir():
        return
    door = ast.get_docstring(ast.parse(MODULES[name].read_text(encoding="utf-8"))) or ""
    assert "What lives here" in door
    assert "May import" in door


def test_the_graph_sees_lazy_imports() -> None:
    assert "verification.run" in graph()["commands.verify"]
    assert "verification.workers" in graph()["verification.run"]
