"""How a claim runs at each discrete shape: mapped or one at a time, watched or not."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from weakref import WeakKeyDictionary

from rankcheck.claims.claim import Claim
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Instances

#: Libraries that catch nothing that torch raises under a map.
QUIET = sys.stdlib_module_names | {"rankcheck", "torch", "numpy", "scipy", "flint"}


@dataclass(eq=False)
class Way:
    """What is known of how a claim runs at a discrete shape.

    Attributes:
        sizes: what is the same for all instances of the shape; None before one was built.
        entries: how many an instance has; None before somebody asked.
        plain: whether its code needs no watch while it is mapped.
        singly: why its instances run one at a time; empty where they are mapped, None before that
            was tried.
        generic: whether the instance that was compared with itself alone has numbers other than
            integers, on which branches and types of numbers agree by chance.
    """

    sizes: dict[str, int] | None = None
    entries: int | None = None
    plain: bool = False
    singly: str | None = None
    generic: bool = False


@dataclass(eq=False)
class Ways:
    """What is known of how a claim runs with a generator.

    Attributes:
        at: by the integers of a shape.
        plain: at how many of the shapes that were looked at, the last ones, no integers may wrap.
        highest: by its place, the largest integer of these shapes.
    """

    at: dict[tuple[int, ...], Way] = field(default_factory=dict)
    plain: int = 0
    highest: dict[int, int] = field(default_factory=dict)

    @property
    def watched(self) -> bool:
        """Whether integers are watched wherever this code runs at a new shape."""
        return self.plain < WATCHED

    def take(self, integers: tuple[int, ...]) -> bool:
        """Take up a shape; whether one of its integers is larger than all before it."""
        found = [
            place for place, n in enumerate(integers) if n > self.highest.get(place, -sys.maxsize)
        ]
        self.highest |= {place: integers[place] for place in found}
        return bool(found)


#: A generator and a body are watched at so many shapes, and then where an integer is the largest.
WATCHED = 24
#: Of each claim that is alive, by each of its generators that is; that of an audit holds a network.
_WAYS: WeakKeyDictionary[Claim, WeakKeyDictionary[Instances, Ways]] = WeakKeyDictionary()


def way_of(claim: Claim, family: Instances, record: Record) -> Way:
    """What is known of how a claim runs at the shape of a record."""
    return ways_of(claim, family).at.setdefault(record.integers, Way())


def ways_of(claim: Claim, family: Instances) -> Ways:
    """What is known of how a claim runs with a generator."""
    return _WAYS.setdefault(claim, WeakKeyDictionary()).setdefault(family, Ways())


@cache
def catches_nothing(file: Path) -> bool:
    """Whether the code of a file, and of those beside it that it imports, catches no exception.

    Imports of anything but these and libraries that catch nothing count as if they did.
    """
    try:
        tree = ast.parse(file.read_text("utf-8"))
    except (OSError, ValueError, SyntaxError):
        return False
    for node in ast.walk(tree):
        match node:
            case ast.Try() | ast.TryStar() | ast.FunctionDef(name="__exit__"):
                return False
            case ast.Name("suppress") | ast.Attribute(attr="suppress") | ast.alias("suppress"):
                return False
            case ast.ImportFrom(module=str(name), level=1):
                if not catches_nothing(file.parent / f"{name}.py"):
                    return False
            case ast.ImportFrom(module=name, level=level) if level or not _quiet(name):
                return False
            case ast.Import(names) if not all(_quiet(alias.name) for alias in names):
                return False
    return True


def _quiet(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] in QUIET
