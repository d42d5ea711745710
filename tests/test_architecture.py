"""The floors of docs/architecture.md: imports run downwards, and the mathematics stands alone."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import rankcheck

PACKAGE = Path(rankcheck.__file__).parent
#: From the ground up. What is not named is mathematics, the ground floor.
FLOORS = ("instances", "claims", "hunt", "faces", "commands")
GROUND, TOP = 0, len(FLOORS) + 1
#: What any floor may use: it is not about networks.
COMMON = {"errors", "_version"}


def floor(module: str) -> int:
    """The floor of `rankcheck.<module>`."""
    room = module.split(".")[0]
    if room in ("cli", "pytest_plugin"):
        return TOP
    return FLOORS.index(room) + 1 if room in FLOORS else GROUND


def modules() -> list[str]:
    """All modules of the package, without its name."""
    paths = sorted(PACKAGE.rglob("*.py"))
    names = [".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in paths]
    return [name for name in names if not name.startswith(("_properties", "__init__"))]


def imports(module: str) -> Iterator[str]:
    """The modules of the package that a module imports, wherever in the file."""
    path = PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("rankcheck."):
                yield name.removeprefix("rankcheck.")


@pytest.mark.parametrize("module", modules())
def test_imports_run_downwards(module: str) -> None:
    higher = {
        name
        for name in imports(module)
        if name.split(".")[0] not in COMMON and floor(name) > floor(module)
    }
    assert not higher, f"{module} is on floor {floor(module)}, and imports from above: {higher}"


def test_the_floors_are_told_apart() -> None:
    assert floor("networks") == floor("witnesses.cone") == GROUND
    assert floor("instances.source") < floor("claims.claim") < floor("hunt.run") < floor("cli")
    assert "claims.claim" in set(imports("claims.check"))
