"""Where the data go: the singular values of the representations, layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.report.charts.audit.scales import MANY, floored, layer_axis, log_axis
from rankcheck.report.charts.picture import Picture
from rankcheck.report.svg import Chart

if TYPE_CHECKING:
    from rankcheck.audit.result import Audit

__all__ = ["representations"]

TITLE = "Where the data go"
#: So many singular values of each layer are drawn, at most.
LINES = 30


def representations(audit: Audit) -> Picture | None:
    """A line for each i: the i-th singular value of (α_ℓ(x_1), …, α_ℓ(x_N)) / √N against ℓ.

    None without data, or if all representations vanish.
    """
    values = [one.representation or () for one in audit.layers]
    y = log_axis((s for many in values for s in many[:LINES]), "singular values of the data")
    if y is None:
        return None
    k = audit.rank
    chart = Chart(
        TITLE,
        f"The singular values of the data after each of {len(values)} layers. Those after the "
        f"{k + 1} largest ones are directions that a layer has left out if they are small.",
        layer_axis(len(values)),
        y,
    )
    longest = min(max(map(len, values)), LINES)
    for i in reversed(range(longest)):
        series = 1 if i < k else 2
        for run in _runs(values, i):
            heights = floored((s for _, s in run), y)
            shown = [(float(n), s) for (n, _), s in zip(run, heights, strict=True)]
            if len(shown) > 1:
                chart.line(shown, series)
            if len(shown) == 1 or len(values) <= MANY:
                chart.dots(shown, series, tip=f"singular value {i + 1}", fine=True)
    more = max(map(len, values)) > LINES
    caption = (
        r"The singular values of the matrix of all $\alpha_\ell(x_i)$, divided by $\sqrt N$: a "
        f"line for each of them, the first $k = {k}$ in blue. They count the dimensions in which "
        "the data lie after a layer, the mean among them, so that data on a plane beside the "
        "origin have one more than the plane."
        + (f" The {LINES} largest ones are drawn." if more else "")
    )
    return Picture("representations", TITLE, caption, chart.svg)


def _runs(values: list[tuple[float, ...]], i: int) -> list[list[tuple[int, float]]]:
    """The i-th values of successive layers that have so many."""
    runs: list[list[tuple[int, float]]] = []
    for number, many in enumerate(values, 1):
        if i >= len(many):
            continue
        if runs and runs[-1][-1][0] == number - 1:
            runs[-1].append((number, many[i]))
        else:
            runs.append([(number, many[i])])
    return runs
