"""The singular values of the Jacobians over the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.report.charts.audit.scales import floored, log_axis, whole_axis
from rankcheck.report.charts.picture import Picture
from rankcheck.report.svg import Chart

if TYPE_CHECKING:
    from rankcheck.audit.result import Audit

__all__ = ["jacobians"]

TITLE = "The singular values of the Jacobian over the data"
#: So many singular values are drawn, at most.
MOST = 40
#: Half the width of a box.
HALF = 0.25


def jacobians(audit: Audit) -> Picture | None:
    """The quantiles of s_i(Jf(x)) over the data, by i; None without data, or if all are 0."""
    if audit.data is None:
        return None
    many = audit.data.singular_values[:MOST]
    y = log_axis((s for one in many for s in (one.least, one.median, one.most)), "sᵢ(Jf(x))")
    if y is None:
        return None
    chart = Chart(
        TITLE,
        f"The least, the median and the largest of {len(many)} singular values over "
        f"{audit.data.points} points.",
        whole_axis(1, len(many), "i"),
        y,
    )
    for i, one in enumerate(many, 1):
        least, quarter, median, upper, most = floored(
            (one.least, one.quarter, one.median, one.three_quarters, one.most), y
        )
        series = 1 if i <= audit.rank else 2
        chart.line([(i, least), (i, most)], series)
        left, right = i - HALF, i + HALF
        chart.band([(left, upper), (right, upper)], [(left, quarter), (right, quarter)], series)
        chart.dots([(float(i), median)], series, tip=f"s_{i}: median {one.median:.3g}")
    caption = (
        "For each $i$ the singular value $s_i(Jf(x))$ over the data: the line from the least to "
        "the largest, the box for the middle half, the dot for the median; the first "
        f"$k = {audit.rank}$ in blue. A wide step after the $k$-th makes the rank clear. What is "
        "smaller than the axis shows, zeros among them, lies on its lower end."
    )
    return Picture("jacobians", TITLE, caption, chart.svg)
