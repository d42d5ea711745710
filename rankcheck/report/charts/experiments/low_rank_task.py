"""The figure of rank.figure-1: spectra and nonlinearity layer by layer, and the training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.experiments.figures.low_rank_task import PRINTED
from rankcheck.report.charts.experiments.drawing import COLOURS, panels, spectra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankcheck.experiments.result import Result

__all__ = ["figures"]


def figures(result: Result) -> dict[str, Figure]:
    """Three panels as in the document, of the first network, and the course of the training."""
    figure, (data, bends, weights, training) = panels(2, 2)
    first = result.runs[0]
    k = first.settings["used"]
    spectra(data, first.drawn["representations"], k, r"singular values of $Z_\ell / \sqrt{N}$")
    data.set(title=f"Representations, the first {k} in blue")
    spectra(weights, first.drawn["weights"], k, r"singular values of $W_\ell$")
    weights.set(title=f"Weights, the first {k} in blue")
    tasks = [run for run in result.runs if run.part.startswith("rank-")]
    for colour, used in zip(COLOURS, sorted({run.settings["used"] for run in tasks}), strict=False):
        for number, run in enumerate(run for run in tasks if run.settings["used"] == used):
            values = run.measured["bends"]
            label = None if number else f"rank {used}"
            bends.plot(range(1, len(values) + 1), values, color=colour, label=label)
    change = r"$\|\tilde{Z}_\ell - \sigma(\tilde{Z}_\ell)\|_F \, / \, \|\tilde{Z}_\ell\|_F$"
    bends.set(title="Change by the activation", xlabel="hidden layer", ylabel=change, ylim=(0, 1))
    bends.legend()
    for colour, (part, label) in zip(
        COLOURS, ((first.part, f"rank {k}"), ("large-start", "larger start")), strict=False
    ):
        drawn = [run.drawn for run in result.runs if run.part == part and run.drawn]
        for number, each in enumerate(drawn):
            named = None if number else label
            training.plot(each["steps"], each["per_layer"], color=colour, label=named)
    training.axhline(PRINTED, color="black", linestyle="--", linewidth=0.8, label="printed")
    training.set(title="Training", xlabel="step", ylabel=r"$\|\theta\|^2 / L$", yscale="log")
    training.legend()
    return {"low_rank_task": figure}
