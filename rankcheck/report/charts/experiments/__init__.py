"""The figures of the experiments, those of one experiment in each file.

Each file has `figures(result) -> list[Picture]`: the picture that stands beside the document's
first. A picture shows what a result has; it computes no quantity of its own.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rankcheck.report.charts.picture import Picture

if TYPE_CHECKING:
    from rankcheck.experiments.result import Result

__all__ = ["figures"]

#: By the name of the experiment, the file of this folder.
_FILES = {
    "rank.figure-1": "low_rank_task",
    "rank.figure-2": "four_classes",
    "rank.figure-3": "autoencoders",
    "bottleneck.figure-1": "norm_against_depth",
    "bottleneck.figure-2": "symmetry",
    "linear.trained-singular-values": "linear_layers",
}


def figures(result: Result) -> list[Picture]:
    """The figures of a result."""
    module: Any = importlib.import_module(f"{__name__}.{_FILES[result.experiment]}")
    drawn: list[Picture] = module.figures(result)
    return drawn
