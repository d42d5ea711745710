"""The experiments by name."""

from __future__ import annotations

import importlib
from difflib import get_close_matches
from typing import Any

from rankcheck.errors import InputError
from rankcheck.experiments.base import Experiment

__all__ = ["NAMES", "experiment", "module_of"]

#: By name, the module whose `EXPERIMENT` it is.
_MODULES: dict[str, str] = {
    "rank.figure-1": "rankcheck.experiments.figures.low_rank_task",
    "rank.figure-2": "rankcheck.experiments.figures.four_classes",
    "rank.figure-3": "rankcheck.experiments.figures.autoencoders",
    "bottleneck.figure-1": "rankcheck.experiments.figures.norm_against_depth",
    "bottleneck.figure-2": "rankcheck.experiments.figures.symmetry",
    "linear.trained-singular-values": "rankcheck.experiments.figures.linear_layers",
}
NAMES = tuple(_MODULES)


def module_of(name: str) -> str:
    """The module of the experiment of that name; its figures are drawn by a file of its name.

    Raises:
        InputError: if there is none.
    """
    if name not in _MODULES:
        close = get_close_matches(name, NAMES, 1)
        hint = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(NAMES)}"
        raise InputError(f"there is no experiment {name!r}{hint}")
    return _MODULES[name]


def experiment(name: str) -> Experiment:
    """The experiment of that name.

    Raises:
        InputError: if there is none.
    """
    module: Any = importlib.import_module(module_of(name))
    made: Experiment = module.EXPERIMENT
    return made
