"""What a break is, and the table of all breaks.

A break is a way in which a change of rankcheck, or of what it rests on, could blind one stage of
the engine. It is a function that patches a few attributes, and its name says what then goes wrong.
`noticed` enters it into the table, with what notices it: a canary of `rankcheck doctor`, a test.
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
    "verdicts",
    "arithmetic",
    "generators",
    "elsewhere",
)


@dataclass(frozen=True)
class Break:
    """A way to blind a stage.

    Attributes:
        name: what goes wrong, in words.
        stage: what is blinded.
        apply: makes it so, until the patch is undone.
        canary: the name of a canary that comes out wrong, or None.
        why: without a canary, why none notices.
        test: the id of a test that fails.
    """

    name: str
    stage: str
    apply: Apply
    canary: str | None
    why: str
    test: str


_BREAKS: dict[str, Break] = {}


def breaks() -> Mapping[str, Break]:
    """All breaks, by their names, in the order of the files, whichever was imported first."""
    for name in FILES:
        import_module(f"{__package__}.{name}")
    places = {f"{__package__}.{name}": place for place, name in enumerate(FILES)}
    return dict(sorted(_BREAKS.items(), key=lambda item: places[item[1].apply.__module__]))


def noticed(
    stage: str, *, test: str, canary: str | None = None, why: str = ""
) -> Callable[[Apply], Apply]:
    """Enter a function that breaks a stage into the table.

    Args:
        test: its id, below `tests/`.

    Raises:
        ValueError: if the name is taken, or neither a canary nor the reason for none is given.
    """

    def enter(apply: Apply) -> Apply:
        name = apply.__name__.replace("_", " ")
        if name in _BREAKS:
            raise ValueError(f"two breaks are called {name!r}; each has a name of its own")
        if (canary is None) == (not why):
            raise ValueError(f"{name!r} has a canary, or a reason why no canary notices it")
        _BREAKS[name] = Break(name, stage, apply, canary, why, f"tests/{test}")
        return apply

    return enter


def around(patch: pytest.MonkeyPatch, place: Any, name: str, call: Callable[..., Any]) -> None:
    """Replace a function, or a method of a class, by `call(original, *arguments, **options)`."""
    original = getattr(place, name)
    patch.setattr(place, name, lambda *args, **options: call(original, *args, **options))


def everywhere(patch: pytest.MonkeyPatch, original: Any, replacement: Any) -> None:
    """Replace a function in each module of rankcheck, and of its tests, that has it by any name."""
    for path, module in list(sys.modules.items()):
        if path.partition(".")[0] not in ("rankcheck", "tests") or path.startswith(__package__):
            continue
        for name, value in list(vars(module).items()):
            if value is original:
                patch.setattr(module, name, replacement)
