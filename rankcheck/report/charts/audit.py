"""The pictures of an audit: what its layers, its data and its Jacobians look like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.report.charts.picture import Picture
from rankcheck.report.charts.scales import (
    MANY,
    TICKS,
    apart,
    floored,
    layer_axis,
    log_axis,
    on_pixels,
    size_axis,
    whole_axis,
)
from rankcheck.report.figures import figure
from rankcheck.report.svg import Axis, Chart

if TYPE_CHECKING:
    from rankcheck.audit.result import Audit

__all__ = ["pictures"]

#: So many singular values of each layer are drawn, at most.
LINES = 30
#: So many singular values are drawn, at most.
VALUES = 40
#: Half the width of a box.
BOX = 0.25


def pictures(audit: Audit) -> list[Picture]:
    """The pictures of an audit, in the order of its page; those of the data only with data."""
    drawn = [
        spectra(audit),
        representations(audit),
        costs(audit),
        excess(audit),
        jacobians(audit),
        ranks(audit),
    ]
    return [picture for picture in drawn if picture is not None]


def spectra(audit: Audit) -> Picture:
    """The singular values of every W_ℓ, the k largest ones in another colour."""
    layers, k = audit.layers, audit.rank
    values = [one.singular_values for one in layers]
    y = size_axis([s for many in values for s in many], "singular values")
    near = sum(one.near_one for one in layers)
    chart = Chart(
        "The singular values of the layers",
        f"{len(layers)} layers; {near} of their {sum(map(len, values))} singular values are near "
        f"one. The {k} largest ones of each have a colour of their own.",
        layer_axis(len(layers)),
        y,
    )
    if y.low <= 1 <= y.high:
        chart.rule(y=1.0)
    numbered = list(enumerate(values, 1))
    first = [(float(n), s) for n, many in numbered for s in floored(many[:k], y)]
    rest = [(float(n), s) for n, many in numbered for s in floored(many[k:], y)]
    fine = len(layers) > MANY
    chart.dots(on_pixels(rest, y), 2, tip="the other singular values", fine=fine)
    chart.dots(on_pixels(first, y), 1, tip=f"the {k} largest singular values", fine=fine)
    caption = (
        f"Every singular value of every $W_\\ell$; the $k = {k}$ largest ones of a layer in blue, "
        "the others in orange. In a deep network whose cost per layer is near $k$, almost every "
        "layer has $k$ singular values near $1$, the dashed line, and no others."
    )
    caption += (
        "" if y.scale == "linear" else " What is smaller than the axis shows lies on its lower end."
    )
    return Picture("spectra", chart.title, caption, chart.svg)


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
        "Where the data go",
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
    return Picture("representations", chart.title, caption, chart.svg)


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


def costs(audit: Audit) -> Picture:
    """‖W_ℓ‖_F² and ‖b_ℓ‖² as a bar, with lines at k and at ‖θ‖²/L."""
    layers, k, ceiling = audit.layers, audit.rank, audit.ceiling
    whole = [one.weights + one.bias for one in layers]
    chart = Chart(
        "What each layer costs",
        f"The cost of each of {len(layers)} layers; the mean is {ceiling:.4g}, and the rank "
        f"{audit.rank_text}.",
        layer_axis(len(layers)),
        Axis(0, 1.12 * max([*whole, float(k), ceiling, 1e-12]), "‖W‖² + ‖b‖²"),
        right=110,
    )
    chart.bars(*apart(1, whole), 2)
    chart.bars(*apart(1, (one.weights for one in layers)), 1)
    chart.rule(y=ceiling, series=3)
    chart.rule(y=float(k))
    chart.end_label(ceiling, f"mean {ceiling:.3g}", 3)
    chart.end_label(float(k), f"rank {audit.rank_text}", 0)
    caption = (
        r"The cost of a layer: $\|W_\ell\|_F^2$ in blue, and $\|b_\ell\|^2$ in orange on top of "
        f"it. The dashed lines are the mean $\\|\\theta\\|^2/L$ and the rank "
        f"$k = {audit.rank_text}$: of the networks of one function the least mean tends to "
        "the rank as they get deeper."
    )
    return Picture("costs", chart.title, caption, chart.svg)


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
        "The excess cost against its bound",
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
    return Picture("excess", chart.title, caption, chart.svg)


def jacobians(audit: Audit) -> Picture | None:
    """The quantiles of s_i(Jf(x)) over the data, by i; None without data, or if all are 0."""
    if audit.data is None:
        return None
    many = audit.data.singular_values[:VALUES]
    y = log_axis((s for one in many for s in (one.least, one.median, one.most)), "sᵢ(Jf(x))")
    if y is None:
        return None
    chart = Chart(
        "The singular values of the Jacobian over the data",
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
        left, right = i - BOX, i + BOX
        chart.band([(left, upper), (right, upper)], [(left, quarter), (right, quarter)], series)
        chart.dots([(float(i), median)], series, tip=f"s_{i}: median {one.median:.3g}")
    caption = (
        "For each $i$ the singular value $s_i(Jf(x))$ over the data: the line from the least to "
        "the largest, the box for the middle half, the dot for the median; the first "
        f"$k = {audit.rank}$ in blue. A wide step after the $k$-th makes the rank clear. What is "
        "smaller than the axis shows, zeros among them, lies on its lower end."
    )
    return Picture("jacobians", chart.title, caption, chart.svg)


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
        "The rank of the Jacobian over the data",
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
    return Picture("ranks", chart.title, caption, chart.svg)
