"""From a conjecture to a small, certified counterexample: `hunt(claim, budget=60.0)`.

See docs/hunting.md for the stages, the verdicts, and how to run on a cluster.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankcheck.hunt.arena import Arena, HuntError, Sample, Shape
    from rankcheck.hunt.guarding import guard
    from rankcheck.hunt.run import Hunt, Progress, hunt
    from rankcheck.hunt.strategies import STANDARD, Strategy

_HOMES = {
    "rankcheck.hunt.arena": ("Arena", "HuntError", "Sample", "Shape"),
    "rankcheck.hunt.guarding": ("guard",),
    "rankcheck.hunt.run": ("Hunt", "Progress", "hunt"),
    "rankcheck.hunt.strategies": ("STANDARD", "Strategy"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "STANDARD",
    "Arena",
    "Hunt",
    "HuntError",
    "Progress",
    "Sample",
    "Shape",
    "Strategy",
    "guard",
    "hunt",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rankcheck.hunt' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)
