"""The curves of a history: costs, ranks, singular values, the excess, and shares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rankcheck.report.charts.picture import Picture
from rankcheck.report.charts.scales import MANY, floored, log_axis
from rankcheck.report.figures import figure
from rankcheck.report.svg import WIDE, Axis, Chart

if TYPE_CHECKING:
    from rankcheck.audit.history.result import History

__all__ = ["pictures"]

#: Places that are so uneven that half of them lie in this share of the axis are drawn evenly.
CROWDED = 0.1
#: At most so many places are named at an axis where they are drawn evenly.
TICKS = 12
#: Costs of which the largest one is so many times the least have a logarithmic axis.
APART = 100.0


def pictures(history: History) -> list[Picture]:
    """The curves of a history that has a checkpoint, those of the data only with data."""
    drawn = [
        _costs(history),
        _ranks(history),
        _values(history),
        _excess(history),
        _shares(history),
    ]
    return [picture for picture in drawn if picture is not None]


def _costs(history: History) -> Picture | None:
    names = {
        "cost": "cost",
        "balanced": "balanced",
        "least_cost": "least",
    }
    least = (
        " Every chain of this depth with the function of a checkpoint costs at least the line "
        "*least*, because of its largest Jacobian on the data."
    )
    caption = (
        r"The cost $\|\theta\|^2$ of each checkpoint in blue, and in orange what it costs after "
        "balancing its neurons, which keeps the function."
    )
    return _curves(
        history,
        "costs",
        "What the network costs",
        caption + (least if history.curve("least_cost") else ""),
        names,
        "‖θ‖²",
    )


def _ranks(history: History) -> Picture | None:
    names = {"cost_per_layer": "‖θ‖²/L", "rank": "rank of Jf", "index_rank": "of mean JᵀJ"}
    caption = (
        r"The cost per layer $\|\theta\|^2/L$ in blue against the rank of $Jf$ at most points in "
        "orange: of the networks of one function the least cost per layer tends to the rank as "
        "they get deeper. An open dot is a rank that the gap does not separate."
    )
    if not history.curve("index_rank"):
        names = {"cost_per_layer": "‖θ‖²/L", "rank": "rank"}
        caption = caption.replace("$Jf$ at most points", "most layers")
    return _curves(history, "ranks", "The cost per layer and the rank", caption, names, "")


def _values(history: History) -> Picture | None:
    names = {f"s_{i}": f"s{'₁₂₃₄'[i - 1]}" for i in range(1, 5) if history.curve(f"s_{i}")}
    caption = (
        "The medians over the data of the largest singular values of $Jf(x)$. Where one of them "
        "falls away from those above it, the rank becomes clear. What is smaller than the axis "
        "shows, zeros among them, lies on its lower end."
    )
    return _curves(
        history, "values", "The singular values of the Jacobian", caption, names, "sᵢ", log=True
    )


def _excess(history: History) -> Picture | None:
    caption = (
        r"What the network costs beyond the rank, $\|\theta\|^2 - kL$, with the rank $k$ of the "
        "same checkpoint: it jumps where the rank does."
    )
    return _curves(
        history, "excess", "The excess over the rank", caption, {"excess": ""}, "‖θ‖² − kL"
    )


def _shares(history: History) -> Picture | None:
    names = {"saved": "saved", "undecided": "undecided"}
    names = {name: text for name, text in names.items() if history.curve(name)}
    caption = (
        "The share of the cost that balancing saves, in blue: at a minimum of a loss with weight "
        "decay it is 0."
        + (
            " In orange the share of the points at which the rank of $Jf$ is not clear."
            if "undecided" in names
            else ""
        )
    )
    return _curves(
        history, "shares", "What balancing saves", caption, names, "per cent", scale=100.0
    )


def _curves(
    history: History,
    name: str,
    title: str,
    caption: str,
    names: Mapping[str, str],
    label: str,
    *,
    log: bool = False,
    scale: float = 1.0,
) -> Picture | None:
    """A line for each figure that is there; None without any."""
    curves = {one: history.curve(one) for one in names}
    values = [scale * value for curve in curves.values() for _, value in curve]
    if not values:
        return None
    y = _axis(values, label, log=log)
    if y is None:
        return None
    x, at = _places(history)
    count = len(history.checkpoints)
    texts = [text for text in names.values() if text]
    chart = Chart(
        title,
        f"{count} checkpoints. {_spoken(curves, names, scale)}",
        x,
        y,
        right=24 + WIDE * max(map(len, texts), default=0),
    )
    unclear = {
        (one, place)
        for place, checkpoint in zip(history.places, history.checkpoints, strict=True)
        for one, text in checkpoint.ranks.items()
        if not text.isdigit()
    }
    for series, (one, curve) in enumerate(curves.items(), 1):
        heights = floored((scale * value for _, value in curve), y)
        points = [(at[place], v) for (place, _), v in zip(curve, heights, strict=True)]
        if not points:
            continue
        chart.line(points, series)
        open_ = [(one, place) in unclear for place, _ in curve]
        for (place, value), point, ring in zip(curve, points, open_, strict=True):
            where = f"{x.label} {place}"
            tip = f"{names[one]} {figure(scale * value)}{'?' if ring else ''}, {where}".strip()
            if ring:
                chart.rings([point], series, tip=tip)
            elif count <= MANY:
                chart.dots([point], series, tip=tip, fine=True)
        if names[one]:
            chart.end_label(points[-1][1], names[one], series)
    return Picture(name, title, caption, chart.svg)


def _spoken(
    curves: Mapping[str, Sequence[tuple[int, float]]], names: Mapping[str, str], scale: float
) -> str:
    """The first and the last value of each curve, for people who hear the page."""
    return "; ".join(
        f"{names[name] or name} from {scale * curve[0][1]:.4g} to {scale * curve[-1][1]:.4g}"
        for name, curve in curves.items()
        if curve
    )


def _axis(values: Sequence[float], label: str, *, log: bool) -> Axis | None:
    """A linear axis from 0, or from the least value if that is negative; or a logarithmic one."""
    low, high = min(values), max(values)
    if log or (low > 0 and high > APART * low):
        return log_axis(values, label)
    room = 0.08 * (high - min(low, 0.0)) or 1.0
    return Axis(low - room if low < 0 else 0.0, max(high, 0.0) + room, label)


def _places(history: History) -> tuple[Axis, dict[int, float]]:
    """The axis of the checkpoints, and where each place is on it."""
    places = sorted(set(history.places))
    label = history.unit if history.stepped else "checkpoint"
    first, last = places[0], places[-1]
    middle = places[len(places) // 2]
    if last > first and not middle - first < CROWDED * (last - first):
        return Axis(float(first), float(last), label), {place: float(place) for place in places}
    every = math.ceil(len(places) / TICKS)
    ticks = {float(n): f"{place}" for n, place in enumerate(places) if n % every == 0}
    axis = Axis(-0.5, len(places) - 0.5, label, ticks=ticks)
    return axis, {place: float(n) for n, place in enumerate(places)}
