"""The figures of the experiments, drawn by matplotlib; those of one experiment in each file.

Each file has `figures(result)`: figures by name, first the one that stands beside the document's. A
figure shows what a result has; it computes no quantity of its own. What they share is `drawing`.
matplotlib is imported when a figure is drawn, and comes with `rankcheck[experiments]`.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankcheck.errors import InputError
from rankcheck.experiments.known import module_of
from rankcheck.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankcheck.experiments.result import Result

__all__ = ["figures", "write_figures"]


def figures(result: Result) -> dict[str, Figure]:
    """The figures of a result by name.

    Raises:
        InputError: if matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
    except ImportError as error:
        raise InputError(
            "matplotlib is not installed; figures need pip install 'rankcheck[experiments]'"
        ) from error
    from rankcheck.report.charts.experiments.drawing import STYLE

    file = module_of(result.experiment).rpartition(".")[2]
    module: Any = importlib.import_module(f"{__name__}.{file}")
    with rc_context(STYLE):
        drawn: dict[str, Figure] = module.figures(result)
    return drawn


def write_figures(result: Result, folder: Path) -> None:
    """Write the figures of a result into a folder, each as `NAME.svg` and `NAME.png`.

    Raises:
        InputError: if matplotlib is not installed.
        OSError: if they cannot be written.
    """
    drawn = figures(result)
    from rankcheck.report.charts.experiments.drawing import written

    folder.mkdir(exist_ok=True)
    for name, figure in drawn.items():
        for kind in ("svg", "png"):
            write_bytes(folder / f"{name}.{kind}", written(figure, kind))
