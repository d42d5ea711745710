"""Audits over time: two checkpoints compared, and the checkpoints of a training as curves.

What lives here: which files are checkpoints and in which order, what is kept of each audit, and
what changed. Every figure is one that an audit gives (`figures`); theorems are left out.
May import: everything below `audit`, and the rest of `audit`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.doors import door

if TYPE_CHECKING:
    from rankcheck.audit.history.comparing import compare
    from rankcheck.audit.history.result import Checkpoint, Comparison, History, Skipped
    from rankcheck.audit.history.run import over_time

__all__ = ["Checkpoint", "Comparison", "History", "Skipped", "compare", "over_time"]

__getattr__ = door(
    __name__,
    {
        ".comparing": ("compare",),
        ".result": ("Checkpoint", "Comparison", "History", "Skipped"),
        ".run": ("over_time",),
    },
)
