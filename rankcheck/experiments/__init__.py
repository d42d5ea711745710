"""Experiments: the training runs behind the figures of the documents, remade and recorded.

What lives here: the experiments (`figures/`, one a file), what they share (`base`, `stack`,
`training`, `audited`), how they are run (`run`) and kept (`folder`), the results of scale `small`
(`recorded/`), what claims about them need (`claims`, `recording`, `statistics`), and what people
have written of them (`pages`).
How a result is shown is `terminal` and `report`.
May import: everything below it, `audit` among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.doors import door

if TYPE_CHECKING:
    from rankcheck.experiments.base import Experiment, Finding, Part
    from rankcheck.experiments.known import NAMES, experiment
    from rankcheck.experiments.records import recorded
    from rankcheck.experiments.result import Result, Run
    from rankcheck.experiments.run import PartError, run_experiment

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

__getattr__ = door(
    __name__,
    {
        ".base": ("Experiment", "Finding", "Part"),
        ".known": ("NAMES", "experiment"),
        ".records": ("recorded",),
        ".result": ("Result", "Run"),
        ".run": ("PartError", "run_experiment"),
    },
)
