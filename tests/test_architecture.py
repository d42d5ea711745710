"""The floors of docs/architecture.md: imports run downwards, and no two files import in a circle.

Imports count wherever they stand in a file: at its top, inside a function, or for the type checker
alone. So does the name of a module as a text, which `import_module` may be given.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import rankcheck

PACKAGE = Path(rankcheck.__file__).parent
#: The wings, and how many lines of code each may have: Python, tables, templates, scripts, styles.
WINGS = {
    "theory": 17_500,
    "balls": 5_400,
    "claims": 4_000,
    "engine": 11_800,
    "sharpen": 4_100,
    "decide": 8_500,
    "audit": 4_450,
    "faces": 10_800,
}
#: So many may stand beside the wings.
BESIDE = 1_200
CODE = {".py", ".toml", ".html", ".js", ".css", ".jinja"}
#: From the ground up; rooms on one floor do not import one another.
FLOORS = (
    ("_version", "theory", "engine", "decide", "faces"),
    ("doors", "errors", "versions"),
    ("files", "stored", "text", "notebook"),
    ("balls",),
    ("decide.algebra", "theory.linalg"),
    ("theory.scalars",),
    ("theory.networks", "theory.separation", "theory.data", "theory.polytopes"),
    ("theory.regions", "theory.witnesses"),
    ("theory.costs",),
    ("theory.instances",),
    # The public names of rooms of theory.
    (
        "costs",
        "data",
        "instances",
        "linalg",
        "networks",
        "polytopes",
        "regions",
        "separation",
        "witnesses",
    ),
    ("claims",),
    ("claims.catalogue",),
    ("engine.parallel",),
    ("engine.counterexamples",),
    ("engine.records", "faces.exports"),
    ("engine.verification",),
    ("engine.hunt",),
    ("sharpen",),
    ("decide.prove",),
    ("audit",),
    ("faces.terminal", "faces.report"),
    ("selftest",),
    ("faces.commands", "faces.pytest_plugin"),
    ("rankcheck", "__main__"),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}


def modules() -> dict[str, Path]:
    """All modules of the package with their files, without the package's own name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if not name.startswith("_properties"):
            found[name or "rankcheck"] = path
    return found


MODULES = modules()


def room(module: str) -> str:
    """The room of a module: a folder of a wing or of the package, or a file that stands alone."""
    parts = module.split(".")
    inner = ".".join(parts[:2])
    return inner if inner in FLOOR else parts[0]


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
        elif isinstance(node, ast.Constant) and _names_a_module(node.value):
            names = [node.value]
        else:
            continue
        for name in names:
            inner = name.removeprefix("rankcheck.")
            if name.split(".")[0] == "rankcheck":
                # `from rankcheck.claims.claim import Claim` imports the module, not the name.
                yield inner if inner in MODULES else inner.rpartition(".")[0] or "rankcheck"


def _names_a_module(text: object) -> bool:
    if not isinstance(text, str) or not text.startswith("rankcheck."):
        return False
    return text.removeprefix("rankcheck.") in MODULES


def graph() -> dict[str, set[str]]:
    """Every file with the files that it imports."""
    return {name: set(imports(name)) - {name} for name in MODULES}


def test_every_room_has_a_floor() -> None:
    assert {room(name) for name in MODULES} == set(FLOOR)


def lines(folder: Path, pattern: str) -> int:
    """How many lines of code there are in a folder."""
    files = [path for path in folder.glob(pattern) if path.suffix in CODE]
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def test_every_folder_is_a_wing() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders - {"_properties"} == set(WINGS)


@pytest.mark.parametrize("wing", WINGS)
def test_a_wing_is_no_larger_than_it_may_be(wing: str) -> None:
    assert lines(PACKAGE / wing, "**/*") <= WINGS[wing]


def test_little_stands_beside_the_wings() -> None:
    assert lines(PACKAGE, "*") <= BESIDE


def not_below(module: str, imported: Iterable[str]) -> list[str]:
    """What a module imports from another room that is not below its own."""
    here = room(module)
    others = {name for name in imported if room(name) != here}
    return sorted(name for name in others if FLOOR[room(name)] >= FLOOR[here])


def circle(imported: Mapping[str, set[str]]) -> list[str]:
    """Files that import one another in a circle; none if there is no circle."""
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize("module", MODULES)
def test_imports_run_downwards(module: str) -> None:
    here, higher = room(module), not_below(module, imports(module))
    assert not higher, f"{module} is on floor {FLOOR[here]}, and imports from there or above"


def test_no_circle() -> None:
    assert circle(graph()) == []


@pytest.mark.parametrize("name", sorted({room(name) for name in MODULES}))
def test_every_room_has_a_door(name: str) -> None:
    """A room says what it is for, what may live in it, and what it may import."""
    if not (PACKAGE / name).is_dir():
        return
    door = ast.get_docstring(ast.parse(MODULES[name].read_text(encoding="utf-8"))) or ""
    assert "What lives here" in door
    assert "May import" in door
