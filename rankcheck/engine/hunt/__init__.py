"""A budget of seconds against one claim: `hunt(claim, budget=60.0)`.

What lives here: strategies, the plan of the rounds, shards, executors, the result.
docs/hunting.md describes the stages, the verdicts, and how to run on a cluster.
May import: `verification`, `counterexamples`, `catalogue`, `claims`, `instances`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.doors import door

if TYPE_CHECKING:
    from rankcheck.engine.hunt.arena import HuntError
    from rankcheck.engine.hunt.result import Hunt, Progress
    from rankcheck.engine.hunt.run import hunt
    from rankcheck.engine.hunt.strategies import STANDARD

__all__ = [
    "STANDARD",
    "Hunt",
    "HuntError",
    "Progress",
    "hunt",
]

__getattr__ = door(
    __name__,
    {
        ".arena": ("HuntError",),
        ".result": ("Hunt", "Progress"),
        ".run": ("hunt",),
        ".strategies": ("STANDARD",),
    },
)
