"""All singular values of the weight matrices, layer by layer, against the line at one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.report.charts.audit.scales import MANY, floored, layer_axis, log_axis, on_pixels
from rankcheck.report.charts.picture import Picture
from rankcheck.report.svg import Axis, Chart

if TYPE_CHECKING:
    from rankcheck.audit.result import Audit

__all__ = ["spectra"]

TITLE = "The singular values of the layers"
#: Up to this singular value the axis is linear, so that 0 and 1 are both seen.
LINEAR = 4.0


def spectra(audit: Audit) -> Picture:
    """The singular values of every W_ℓ, the k largest ones in another colour."""
    k, layers = audit.rank, audit.layers
    values = [one.singular_values for one in layers]
    largest = max((s for many in values for s in many), default=0.0)
    label = "singular values"
    axis = None if largest <= LINEAR else log_axis((s for many in values for s in many), label)
    y = Axis(0, max(1.25, 1.08 * largest), label) if axis is None else axis
    near = sum(one.near_one for one in layers)
    chart = Chart(
        TITLE,
        f"{len(layers)} layers; {near} of their {sum(map(len, values))} singular values are near "
        f"one. The {k} largest ones of each layer have a colour of their own.",
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
    floor = "" if axis is None else " What is smaller than the axis shows lies on its lower end."
    caption = (
        f"Every singular value of every $W_\\ell$; the $k = {k}$ largest ones of a layer in blue, "
        "the others in orange. In a deep network whose cost per layer is near $k$, almost every "
        f"layer has $k$ singular values near $1$, the dashed line, and no others.{floor}"
    )
    return Picture("spectra", TITLE, caption, chart.svg)
