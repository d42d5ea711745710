"""What a break is, the table of all breaks, and what they are made of.

A break is a way in which a change of rankcheck, or of what it rests on, could blind one stage of
the engine. Under it a test of that stage fails.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pytest

Apply = Callable[[pytest.MonkeyPatch], None]

#: The files of this folder that hold breaks, in the order of the table.
FILES = (
    "searches",
    "controlling",
    "judging",
    "batches",
    "certificates",
    "keeping",
    "sharpening",
    "proofs",
    "verdicts",
    "arithmetic",
    "generators",
    "elsewhere",
)


@dataclass(frozen=True)
class Break:
    """A way to blind a stage.

    Attributes:
        stage: what is blinded.
        name: what goes wrong, in words.
        test: the id of a test that fails, below `tests/`.
        apply: makes it so, until the patch is undone.
    """

    stage: str
    name: str
    test: str
    apply: Apply


def breaks() -> Mapping[str, Break]:
    """All breaks, by their names."""
    modules = [import_module(f"{__package__}.{name}") for name in FILES]
    return {one.name: one for module in modules for one in module.BREAKS}


def put(place: Any, name: str, value: Any) -> Apply:
    """Replace an attribute."""
    return lambda patch: patch.setattr(place, name, value)


def around(place: Any, name: str, call: Callable[..., Any]) -> Apply:
    """Replace a function, or a method of a class, by `call(original, *arguments, **options)`."""

    def apply(patch: pytest.MonkeyPatch) -> None:
        original = getattr(place, name)
        patch.setattr(place, name, lambda *args, **options: call(original, *args, **options))

    return apply


def around_property(place: Any, name: str, call: Callable[..., Any]) -> Apply:
    """Replace a property of a class by `call(original, instance)`."""
    original = vars(place)[name].fget
    return put(place, name, property(lambda self: call(original, self)))


def everywhere(original: Any, call: Callable[..., Any]) -> Apply:
    """As `around`, in each module of rankcheck, and of its tests, that has it by any name."""

    def apply(patch: pytest.MonkeyPatch) -> None:
        for path, module in list(sys.modules.items()):
            if path.partition(".")[0] not in ("rankcheck", "tests") or path.startswith(__package__):
                continue
            for name, value in list(vars(module).items()):
                if value is original:
                    patch.setattr(module, name, lambda *a, **options: call(original, *a, **options))

    return apply
