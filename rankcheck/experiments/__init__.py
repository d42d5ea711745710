"""Experiments: the training runs behind the figures of the documents, remade and recorded.

What lives here: the experiments (`figures/`, one a file), what they share (`base`, `stack`,
`training`, `audited`), how they are run (`run`, `workers`) and kept (`folder`), the results of
scale `small` (`recorded/`), and what claims about them need (`claims`, `recording`, `statistics`).
How a result is shown is `terminal` and `report`.
May import: everything below it, `audit` among them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankcheck.experiments.base import Experiment, Finding, Part
    from rankcheck.experiments.known import NAMES, experiment
    from rankcheck.experiments.records import recorded
    from rankcheck.experiments.result import Result, Run
    from rankcheck.experiments.run import run_experiment
    from rankcheck.experiments.workers import PartError

_HOMES = {
    "rankcheck.experiments.base": ("Experiment", "Finding", "Part"),
    "rankcheck.experiments.known": ("NAMES", "experiment"),
    "rankcheck.experiments.records": ("recorded",),
    "rankcheck.experiments.result": ("Result", "Run"),
    "rankcheck.experiments.run": ("run_experiment",),
    "rankcheck.experiments.workers": ("PartError",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "NAMES",
    "Experiment",
    "Finding",
    "Part",
    "PartError",
    "Result",
    "Run",
    "experiment",
    "recorded",
    "run_experiment",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rankcheck.experiments' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)
