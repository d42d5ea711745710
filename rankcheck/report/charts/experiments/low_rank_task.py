"""The figure of rank.figure-1: spectra and nonlinearity layer by layer, and the training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.experiments.figures.low_rank_task import GAIN, HE, PRINTED, dimension
from rankcheck.report.charts.experiments.drawing import COLOURS, panels, spectra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankcheck.experiments.result import Result

__all__ = ["figures"]


def figures(result: Result) -> dict[str, Figure]:
    """Three panels as in the document, of the first network, and the course of the training."""
    figure, (data, bends, weights, training) = panels(2, 2)
    first = result.runs[0]
    deep, k = first.settings["depth"], first.settings["used"]
    d = dimension(first) or k
    spectra(data, first.drawn["representations"], d, r"singular values of $Z_\ell / \sqrt{N}$")
    data.set(title=f"Representations, the first {d} in blue")
    spectra(weights, first.drawn["weights"], d, r"singular values of $W_\ell$")
    weights.set(title=f"Weights, the first {d} in blue")
    for colour, gain, label in zip(COLOURS, (HE, GAIN), ("gain √2", f"gain {GAIN}"), strict=False):
        runs = result.where(gain=gain, used=k, depth=deep)
        for number, run in enumerate(runs):
            values = run.measured["bends"]
            named = None if number else label
            bends.plot(range(1, len(values) + 1), values, color=colour, label=named)
        for number, each in enumerate(run.drawn for run in runs if run.drawn):
            named = None if number else label
            training.plot(each["steps"], each["per_layer"], color=colour, label=named)
    change = r"$\|\tilde{Z}_\ell - \sigma(\tilde{Z}_\ell)\|_F \, / \, \|\tilde{Z}_\ell\|_F$"
    bends.set(title="Change by the activation", xlabel="hidden layer", ylabel=change, ylim=(0, 1))
    bends.legend()
    training.axhline(PRINTED, color="black", linestyle="--", linewidth=0.8, label="printed")
    training.set(title="Training", xlabel="step", ylabel=r"$\|\theta\|^2 / L$", yscale="log")
    training.legend()
    return {"low_rank_task": figure}
