"""How many points have which rank, and how clear the ranks are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.report.charts.audit.scales import TICKS, apart, whole_axis
from rankcheck.report.charts.picture import Picture
from rankcheck.report.figures import figure
from rankcheck.report.svg import Axis, Chart

if TYPE_CHECKING:
    from rankcheck.audit.result import Audit

__all__ = ["ranks"]

TITLE = "The rank of the Jacobian over the data"


def ranks(audit: Audit) -> Picture | None:
    """The histogram of the numerical ranks of Jf; None without data."""
    data = audit.data
    if data is None or not data.ranks:
        return None
    least, most = min(data.ranks), max(data.ranks)
    numbers = range(least, most + 1)
    counts = ", ".join(f"{data.ranks[k]} of rank {k}" for k in numbers if data.ranks.get(k))
    high = 1.15 * max(data.ranks.values())
    chart = Chart(
        TITLE,
        f"Of {data.points} points: {counts}.",
        whole_axis(least, most, "numerical rank of Jf(x)"),
        Axis(0, max(high, 1.0), "points", count=5),
        height=300,
    )
    chart.bars(*apart(least, (float(data.ranks.get(k, 0)) for k in numbers)))
    if len(numbers) <= TICKS:
        for k in numbers:
            if data.ranks.get(k):
                chart.label((k, data.ranks[k]), str(data.ranks[k]), anchor="middle", shift=(0, -6))
    gaps = (
        ""
        if data.gaps is None
        else f" The gap $s_k/s_{{k+1}}$ has the median {figure(data.gaps.median, 3)}, and is at "
        f"least {figure(data.gaps.least, 3)}."
    )
    undecided = f" At {data.undecided} points the rank is undecided." if data.undecided else ""
    caption = (
        "How many points have which numerical rank: how many singular values of $Jf(x)$ exceed "
        f"{figure(data.tolerance, 3)} times the largest one.{gaps}{undecided}"
    )
    return Picture("ranks", TITLE, caption, chart.svg)
