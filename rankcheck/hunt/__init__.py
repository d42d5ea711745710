"""A budget of seconds against one claim: `hunt(claim, budget=60.0)`.

What lives here: strategies, the plan of the rounds, shards, executors, the journal, the result.
docs/hunting.md describes the stages, the verdicts, and how to run on a cluster.
May import: `verification`, `counterexamples`, `catalogue`, `claims`, `instances`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankcheck.hunt.arena import Arena, HuntError, Shape
    from rankcheck.hunt.guarding import guard
    from rankcheck.hunt.result import Hunt, Progress
    from rankcheck.hunt.run import hunt
    from rankcheck.hunt.sample import Sample
    from rankcheck.hunt.strategies import STANDARD, Strategy

_HOMES = {
    "rankcheck.hunt.arena": ("Arena", "HuntError", "Shape"),
    "rankcheck.hunt.guarding": ("guard",),
    "rankcheck.hunt.result": ("Hunt", "Progress"),
    "rankcheck.hunt.run": ("hunt",),
    "rankcheck.hunt.sample": ("Sample",),
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
