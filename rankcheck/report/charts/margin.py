"""How the margin of a hunt fell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rankcheck.hunt.result import Fall
from rankcheck.report.charts.picture import Picture
from rankcheck.report.charts.scales import stairs
from rankcheck.report.svg import Axis, Chart
from rankcheck.stored import StoredError, build

__all__ = ["margin"]

#: Smaller margins are drawn as equality.
SMALLEST = 1e-16
#: The rows of equality and of violations lie below the smallest margin, by this share of the axis.
ROW = 0.15


def margin(hunt: Mapping[str, Any]) -> Picture:
    """The least margin of each strategy against the number of instances that were evaluated.

    Args:
        hunt: one of the `hunts` that `rankcheck hunt --json` writes, or `Hunt.to_json()`.

    Raises:
        StoredError: if its history is not one.
    """
    falls, total = _read(hunt)
    claim = str(hunt.get("claim", ""))
    positive = [fall.margin for fall in falls if fall.margin >= SMALLEST]
    decades = max(1, math.ceil(-math.log10(min(positive, default=1.0))))
    zero, violated = (10 ** (-decades * (1 + row * ROW)) for row in (1, 2))
    step = math.ceil(decades / 4)
    scale = Axis(10.0**-decades, 2.0, scale="log", count=decades // step + 1).marks()
    first = min((fall.instances for fall in falls), default=1)
    last = max([total, *(fall.instances for fall in falls)])
    low = 10.0 ** math.floor(math.log10(max(first, 1)))
    chart = Chart(
        f"How the margin of a hunt fell: {claim}" if claim else "How the margin of a hunt fell",
        f"The least margin of each strategy; {last} instances were evaluated."
        if falls
        else "No margin was measured.",
        Axis(low, max(10 * low, last), "instances", "log", count=5),
        Axis(violated, 2.0, "least margin", "log", ticks={**scale, zero: "0", violated: "< 0"}),
        right=110,
    )

    def height(margin: float) -> float:
        return violated if margin < 0 else zero if margin < SMALLEST else min(margin, 2.0)

    chart.rule(y=zero)
    for number, strategy in enumerate(dict.fromkeys(fall.strategy for fall in falls)):
        series = number % 5 + 1
        points = [
            (float(max(fall.instances, low)), height(fall.margin))
            for fall in falls
            if fall.strategy == strategy
        ]
        chart.line(stairs(points, float(max(last, low))), series)
        worst = min(fall.margin for fall in falls if fall.strategy == strategy)
        chart.dots(points, series, tip=f"{strategy}: {worst:.3g}")
        chart.end_label(points[-1][1], strategy, series)
    if not falls:
        middle = math.sqrt(low * max(10 * low, last))
        chart.label((middle, math.sqrt(2 * zero)), "no margin was measured", anchor="middle")
    caption = (
        r"The margin of an instance is $(\mathrm{rhs} - \mathrm{lhs})$ relative to the larger "
        "side: $0$ at equality, and below $0$ where the statement fails. The steps are the least "
        "margin that each strategy of the hunt had found, against the instances that were "
        "evaluated until then."
    )
    return Picture("margin", "How the margin of a hunt fell", caption, chart.svg)


def _read(hunt: Mapping[str, Any]) -> tuple[list[Fall], int]:
    """The history, and the number of instances."""
    history = hunt.get("history", [])
    if not isinstance(history, list):
        raise StoredError("the history of a hunt is a list")
    falls = [build(Fall, one, foreign=True) for one in history]
    if any(not math.isfinite(fall.margin) or fall.instances < 0 for fall in falls):
        raise StoredError("the history of a hunt has finite margins, and counts instances")
    counts = hunt.get("counts")
    total = counts.get("evaluated") if isinstance(counts, Mapping) else 0
    return falls, total if type(total) is int else 0
