"""The cost beyond the rank times the depth, against its bound, by rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.report.charts.audit.scales import whole_axis
from rankcheck.report.charts.picture import Picture
from rankcheck.report.svg import Axis, Chart

if TYPE_CHECKING:
    from rankcheck.audit.result import Audit

__all__ = ["excess"]

TITLE = "The excess cost against its bound"


def excess(audit: Audit) -> Picture | None:
    """‖θ‖² − kL and the largest 2 Σ_{i ≤ k} log s_i(Jf(x)) for every k; None without data."""
    if audit.data is None or not audit.data.bounds:
        return None
    bounds = sorted(audit.data.bounds, key=lambda one: one.rank)
    upper = [(float(one.rank), one.excess) for one in bounds]
    lower = [(float(one.rank), one.logs) for one in bounds if one.logs is not None]
    values = [value for _, value in [*upper, *lower]]
    low, high = min([*values, 0.0]), max([*values, 0.0])
    room = 0.08 * (high - low) or 1.0
    chart = Chart(
        TITLE,
        "The excess cost for every rank, and the largest sum of logarithms over the data, which is "
        "at most as large.",
        whole_axis(bounds[0].rank, bounds[-1].rank, "rank k"),
        Axis(low - room, high + room),
        right=130,
    )
    chart.rule(y=0.0)
    for points, series, name in ((upper, 1, "‖θ‖² − kL"), (lower, 2, "2 Σ log sᵢ")):
        if points:
            chart.line(points, series)
            chart.dots(points, series, tip=name)
            chart.end_label(points[-1][1], name, series)
    caption = (
        r"For every $k$: $\|\theta\|^2 - kL$ in blue is at least the largest "
        r"$2 \sum_{i \le k} \log s_i(Jf(x))$ over the data, in orange. The distance of the two "
        f"at $k = {audit.rank}$ is what the network pays beyond what its Jacobians need."
    )
    return Picture("excess", TITLE, caption, chart.svg)
