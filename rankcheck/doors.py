"""Doors that load late: what a package exports is imported when it is first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any


def door(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """The `__getattr__` of a package.

    Args:
        package: its `__name__`.
        homes: by module, its names that the package exports; a module that begins with a dot is
            inside the package. A module under its own name is exported itself if it has nothing of
            this name, and so is one of the package that can be called: a function in its place
            would hide what lives in it.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(home[name], package)
        value = module if module.__name__ == f"{package}.{name}" else getattr(module, name, module)
        setattr(sys.modules[package], name, value)
        return value

    return load


def function_of(package: str, module: str) -> None:
    """Make a package callable: it is the function of its own name in one of its modules.

    `rankcheck.sharpen(claim)` is then `rankcheck.sharpen.run.sharpen(claim)`.
    """
    name = package.rpartition(".")[2]

    class Room(ModuleType):
        def __call__(self, *args: Any, **settings: Any) -> Any:
            return getattr(importlib.import_module(module, package), name)(*args, **settings)

    sys.modules[package].__class__ = Room


def front(name: str) -> Any:
    """What the door of the whole package exports under a name, for a method of what lies below."""
    return getattr(sys.modules[__package__], name)
