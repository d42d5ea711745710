"""The pictures of an audit: what its layers, its data and its Jacobians look like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.faces.report.charts.picture import Picture
from rankcheck.faces.report.charts.scales import (
    MANY,
    apart,
    floored,
    layer_axis,
    log_axis,
    on_pixels,
    size_axis,
    whole_axis,
)
from rankcheck.faces.report.svg import Axis, Chart

if TYPE_CHECKING:
    from rankcheck.audit.result import Audit

#: So many singular values are drawn, at most.
VALUES = 40
#: Half the width of a box.
BOX = 0.25


def pictures(audit: Audit) -> list[Picture]:
    """The pictures of an audit, in the order of its page; those of the data only with data."""
    drawn = [spectra(audit), costs(audit), jacobians(audit)]
    return [picture for picture in drawn if picture is not None]


def spectra(audit: Audit) -> Picture:
    """The singular values of every W_ℓ, the k largest ones in another colour."""
    layers, k = audit.layers, audit.rank
    values = [one.singular_values for one in layers]
    y = size_axis([s for many in values for s in many], "singular values")
    chart = Chart(
        "The singular values of the layers",
        f"{sum(map(len, values))} singular values of {len(layers)} layers. The {k} largest ones of "
        "each have a colour of their own.",
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
