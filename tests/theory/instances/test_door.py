"""`rankcheck.theory.instances` exports all generators, and what files of claims import."""

import ast
import importlib
import pkgutil
from pathlib import Path

import pytest

import rankcheck.theory.instances as door
from rankcheck.theory.instances.source import is_factory

from .families import GENERATORS

MODULES = [
    importlib.import_module(f"{door.__name__}.{module.name}")
    for module in pkgutil.iter_modules(door.__path__)
]
#: What drives a generator; not for files of claims.
ENGINE = {"Record", "DrawSource", "Rejected"}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_generator_is_exported(module):
    for name, found in vars(module).items():
        if is_factory(found):
            assert getattr(door, name) is found
            assert name in door.__all__


def test_the_names_exist_once():
    assert len(set(door.__all__)) == len(door.__all__)
    assert len(GENERATORS) > 20
    assert all(hasattr(door, name) for name in door.__all__)


def test_what_claims_import_is_exported():
    wanted = set()
    for path in (Path(__file__).parents[3] / "properties").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "rankcheck.instances":
                wanted |= {alias.name for alias in node.names}
    assert len(wanted) > 50
    assert wanted - set(door.__all__) <= ENGINE
