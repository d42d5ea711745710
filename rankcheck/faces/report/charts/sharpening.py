"""The pictures of a sharpening: the ratio by shape, the frontier of a dial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from rankcheck.claims.signs import SIGNS
from rankcheck.faces.report.charts.picture import Picture
from rankcheck.faces.report.charts.scales import floored, log_axis, whole_axis
from rankcheck.faces.report.figures import figure
from rankcheck.faces.report.svg import TALL, WIDE, Axis, Chart, Point
from rankcheck.sharpen.sentences import between, even, key, limit, shown
from rankcheck.sharpen.sentences import frontier as frontier_sentence

Data = Mapping[str, Any]
#: Values of which the largest one is so many times the least one have a logarithmic axis.
APART = 30.0
#: A linear axis has at least this height, as a share of its largest value, and this room at its
#: ends, as a share of its height.
LEAST, ROOM = 0.1, 0.08
#: A larger number is drawn as this one.
LARGEST = 1e300
#: How the limit of a trend is named.
LIMIT = "the limit"
#: The series of what is proved, of what is false, and of what is extrapolated.
_PROVED, _FALSE, _BEYOND = 1, 2, 3


def ratios(by: Sequence[str], relation: Data) -> Picture | None:
    """The largest certified ratio by the size of the shapes.

    It shows the trend, too: its limit with its error, and what is expected next. None of fewer than
    two groups of shapes, or of groups with the same ratio.
    """
    groups = sorted(relation["by"], key=lambda one: one["key"])
    if len(groups) < 2 or even(relation):
        return None
    line = [(float(one["key"][0]), _value(one["best"]["ratio"])) for one in groups]
    trend = relation["trend"]
    beyond, ends = _extrapolated(trend)
    points = line + beyond
    x = _sizes(int(min(points)[0]), int(max(points)[0]), by[0])
    y = _axis(relation, [value for _, value in points] + ends)
    best = relation["best"]
    chart = Chart(
        f"The {_measure(relation)} by {by[0]}",
        f"{len(groups)} groups of shapes. The largest value is {shown(best['ratio'])}, at "
        f"{key(by, best['key'])}.",
        x,
        y,
        right=24 + WIDE * len(LIMIT) * bool(ends),
    )
    _equality(chart, relation, y)
    if ends:
        least, middle, most = floored(ends, y)
        sides = (x.low, x.high)
        chart.band([(at, most) for at in sides], [(at, least) for at in sides], _BEYOND)
        chart.rule(y=middle, series=_BEYOND)
        chart.end_label(middle, LIMIT, _BEYOND)
    for (_, value), place in zip(beyond, _on(y, beyond), strict=True):
        chart.rings([place], _BEYOND, tip=f"expected: {figure(value, 7)}")
    drawn = _on(y, line)
    chart.line(drawn, _PROVED)
    for point, (_, value) in zip(drawn, line, strict=True):
        chart.dots([point], _PROVED, tip=figure(value, 10))
    return Picture("ratios", chart.title, _caption(by, relation, trend), chart.svg)


def _caption(by: Sequence[str], relation: Data, trend: Data | None) -> str:
    """What the picture of the ratios shows."""
    caption = f"The largest {_formula(relation)} that is certified, by {by[0]}."
    if SIGNS[relation["kind"]].bound:
        caption += " The dashed line at $1$ is equality."
    if trend is not None and trend["limit"] is not None:
        caption += f" The other one is the limit that is extrapolated, {limit(trend)}, in its band."
    return caption + (" The open dot is expected next." if trend is not None else "")


def frontier(dial: Data) -> Picture | None:
    """The values of a dial that were tried, each at its largest certified ratio.

    None of fewer than two values.
    """
    probes = dial["probes"]
    if len(probes) < 2:
        return None
    values = [_value(one["ratio"]) for one in probes if one["ratio"] is not None]
    y = _scale([*values, 1.0], "largest lhs / rhs", top=2 * ROOM)
    low, high = float(Fraction(dial["low"])), float(Fraction(dial["high"]))
    room = 0.04 * (high - low)
    name = dial["name"]
    x = whole_axis(int(low), int(high), name) if dial["whole"] else None
    chart = Chart(
        f"Where {name} is false, and where it survived",
        f"{len(probes)} values of {name} were tried: {frontier_sentence(dial)}.",
        x or Axis(low - room, high + room, name),
        y,
    )
    gap = between(dial)
    if gap is not None:
        sides = [float(end) for end in gap]
        chart.band([(at, y.high) for at in sides], [(at, y.low) for at in sides], 0)
    chart.rule(y=1.0)
    for one in probes:
        ratio = one["ratio"]
        point = float(Fraction(one["value"])), y.low if ratio is None else _value(ratio)
        said = "no ratio is certified" if ratio is None else shown(ratio)
        if one["refuted"]:
            chart.dots(_on(y, [point]), _FALSE, tip=f"{one['value']} is false: {said}")
        else:
            chart.rings(_on(y, [point]), _PROVED, tip=f"{one['value']} survived: {said}")
    for ends, text, series in (
        (dial["false"], "proved false", _FALSE),
        (dial["survived"], "survived", _PROVED),
    ):
        if ends is not None:
            first, last = (float(Fraction(end)) for end in ends)
            left = first + last < low + high
            place = ((first if left else last), y.high)
            chart.label(place, text, series, anchor="start" if left else "end", shift=(0, TALL))
    caption = (
        f"Each value that was tried, at the largest {_RATIO} that is certified there: a filled dot "
        "is above the dashed line at $1$ and proves the statement false, an open one survived "
        "(without a certified ratio it lies on the axis)."
        + (
            ""
            if gap is None
            else f" Nothing is known in the shaded gap, from {gap[0]} to {gap[1]}."
        )
    )
    return Picture("frontier", chart.title, caption, chart.svg)


_RATIO = r"$\mathrm{lhs}/\mathrm{rhs}$"


def _measure(relation: Data) -> str:
    return "largest lhs / rhs" if SIGNS[relation["kind"]].bound else "largest deviation"


def _formula(relation: Data) -> str:
    """What is measured, in a caption."""
    if SIGNS[relation["kind"]].bound:
        return _RATIO
    return r"$|\mathrm{lhs} - \mathrm{rhs}| / \max(|\mathrm{lhs}|, |\mathrm{rhs}|)$"


def _value(ratio: str | float) -> float:
    """A ratio as a number that an axis can have."""
    return max(-LARGEST, min(float(ratio), LARGEST))


def _extrapolated(trend: Data | None) -> tuple[list[Point], list[float]]:
    """What is expected next, and the limit between the ends of its band; empty without them."""
    if trend is None:
        return [], []
    size, value = trend["next"]
    middle, error = trend["limit"], trend["error"]
    band = [] if middle is None else [middle - error, middle, middle + error]
    return [(float(size), _value(value))], band


def _sizes(low: int, high: int, label: str) -> Axis:
    """The axis of a size; a logarithmic one where the sizes are far apart."""
    if low > 0 and high / low >= APART:
        return Axis(low / 1.2, 1.2 * high, label, "log")
    return whole_axis(low, high, label)


def _axis(relation: Data, values: Sequence[float]) -> Axis:
    """The axis of a relation; that of a bound has 1 on it, so that the room is seen."""
    bound = SIGNS[relation["kind"]].bound
    return _scale([*values, 1.0] if bound else values, _measure(relation))


def _scale(values: Sequence[float], label: str, top: float = ROOM) -> Axis:
    """A linear axis for these values, or a logarithmic one where they are far apart."""
    least, most = min(values), max(values)
    if least > 0 and most / least >= APART:
        axis = log_axis([*values, least / 2], label)  # so that the least one is not on its end
        assert axis is not None
        return axis
    height = max(most - least, LEAST * max(abs(most), abs(least))) or 1.0
    return Axis(least - ROOM * height, least + (1 + top) * height, label)


def _equality(chart: Chart, relation: Data, y: Axis) -> None:
    """The rule of a bound, where the axis has it."""
    if SIGNS[relation["kind"]].bound and y.low <= 1 <= y.high:
        chart.rule(y=1.0)


def _on(axis: Axis, points: Sequence[Point]) -> list[Point]:
    """Points with their heights on the axis."""
    heights = floored((value for _, value in points), axis)
    return [(at, value) for (at, _), value in zip(points, heights, strict=True)]
