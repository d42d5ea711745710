"""The figures of rank.figure-1: spectra and nonlinearity layer by layer, and the training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankcheck.report.charts.audit.scales import floored, layer_axis, log_axis
from rankcheck.report.charts.picture import Picture
from rankcheck.report.svg import Axis, Chart

if TYPE_CHECKING:
    from rankcheck.experiments.result import Result, Run

__all__ = ["figures"]

#: ‖θ‖²/L at the end, as the document prints it.
PRINTED = 6.0


def figures(result: Result) -> list[Picture]:
    """Three panels as in the document, of the first network, and the course of the training."""
    first = result.runs[0]
    return [
        _spectra(first, "representations", "representations", "singular values of the data"),
        _nonlinearity(result, first),
        _spectra(first, "weights", "weights", "singular values of the weights"),
        _training(result, first),
    ]


def _spectra(run: Run, name: str, drawn: str, label: str) -> Picture:
    """The i-th singular value against the layer, a line for each i."""
    k = run.settings["used"]
    layers: Sequence[Sequence[float]] = run.drawn[drawn]
    high = 1.1 * max(max(values) for values in layers)
    title = f"The first singular values of the {name}, by layer"
    chart = Chart(
        title,
        f"Lines over {len(layers)} layers; in the middle {k} of them are apart from the others, "
        "which are near 0, if the task is represented in its rank.",
        layer_axis(len(layers)),
        Axis(0, high, label),
    )
    for i in reversed(range(max(map(len, layers)))):
        points = [(float(n), s[i]) for n, s in enumerate(layers, 1) if i < len(s)]
        series = 1 if i < k else 2
        chart.line(points, series)
        chart.dots(points, series, tip=f"singular value {i + 1}", fine=True)
    what = (
        r"The first singular values of the matrix of the $\alpha_\ell(x_i)$, divided by $\sqrt N$"
        if drawn == "representations"
        else r"The first singular values of $W_\ell$"
    )
    caption = f"{what}, for a task of rank {k}: the first {k} in blue, the others in orange."
    return Picture(f"low_rank_task-{name}", title, caption, chart.svg)


def _nonlinearity(result: Result, first: Run) -> Picture:
    """The impact of the activation against the layer: a line for each deep network of a task."""
    title = "What the activation changes, by layer"
    depth = first.settings["depth"]
    chart = Chart(
        title,
        "Lines over the hidden layers, near 0 in the middle and large at both ends.",
        layer_axis(depth - 1),
        Axis(0, 1, "relative change by the activation"),
        right=110,
    )
    tasks = _tasks(result)
    for series, (k, runs) in enumerate(tasks.items(), 1):
        for run in runs:
            chart.line(list(enumerate(map(float, run.measured["bends"]), 1)), series)
        chart.end_label(runs[0].measured["bends"][-1], f"rank {k}", series)
    caption = (
        r"$\|\tilde Z_\ell - \sigma(\tilde Z_\ell)\|_F / \|\tilde Z_\ell\|_F$ of the hidden "
        r"layers, $\tilde Z_\ell$ the matrix of their pre-activations: a line for each network of "
        f"depth {depth}."
    )
    return Picture("low_rank_task-nonlinearity", title, caption, chart.svg)


def _training(result: Result, first: Run) -> Picture:
    """‖θ‖²/L against the step, of the networks whose training is kept."""
    title = "The norm of the parameters during training"
    k = first.settings["used"]
    shown = {
        f"rank {k}": (1, [run for run in _tasks(result)[k] if run.drawn]),
        "larger start": (
            2,
            [run for run in result.runs if run.part == "large-start" and run.drawn],
        ),
    }
    costs = [c for _, runs in shown.values() for run in runs for c in run.drawn["per_layer"]]
    y = log_axis([*costs, PRINTED], "squared norm of the parameters per layer")
    assert y is not None  # PRINTED is positive
    chart = Chart(
        title,
        "Lines over the steps of the training, which fall and then stay. The dashed line is the "
        "number that the document prints.",
        Axis(0, max(first.drawn["steps"]), "step"),
        y,
        right=130,
    )
    chart.rule(y=PRINTED)
    for label, (series, runs) in shown.items():
        for run in runs:
            values = floored(run.drawn["per_layer"], y)
            chart.line(list(zip(map(float, run.drawn["steps"]), values, strict=True)), series)
        if runs:
            chart.end_label(floored(runs[0].drawn["per_layer"], y)[-1], label, series)
    caption = (
        r"$\|\theta\|^2/L$ against the step, for the task of rank "
        f"{k}. The document ends at about {PRINTED:g} (dashed); networks with larger first weights "
        "end higher, at one dimension more."
    )
    return Picture("low_rank_task-training", title, caption, chart.svg)


def _larger(result: Result) -> list[Run]:
    """The networks with larger first weights."""
    return [run for run in result.runs if run.part == "large-start"]


def _tasks(result: Result) -> dict[int, list[Run]]:
    """The deep networks by the rank of their task."""
    found: dict[int, list[Run]] = {}
    for run in result.runs:
        if run.part.startswith("rank-"):
            found.setdefault(run.settings["used"], []).append(run)
    return found
