"""What each layer costs: weights and bias, stacked, against the rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.report.charts.audit.scales import apart, layer_axis
from rankcheck.report.charts.picture import Picture
from rankcheck.report.svg import Axis, Chart

if TYPE_CHECKING:
    from rankcheck.audit.result import Audit

__all__ = ["costs"]

TITLE = "What each layer costs"


def costs(audit: Audit) -> Picture:
    """‖W_ℓ‖_F² and ‖b_ℓ‖² as a bar, with lines at k and at ‖θ‖²/L."""
    layers, k = audit.layers, audit.rank
    whole = [one.weights + one.bias for one in layers]
    ceiling = audit.ceiling
    high = 1.12 * max([*whole, float(k), ceiling, 1e-12])
    chart = Chart(
        TITLE,
        f"The cost of each of {len(layers)} layers; the mean is {ceiling:.4g}, and the rank {k}.",
        layer_axis(len(layers)),
        Axis(0, high, "‖W‖² + ‖b‖²"),
        right=110,
    )
    chart.bars(*apart(1, whole), 2)
    chart.bars(*apart(1, (one.weights for one in layers)), 1)
    chart.rule(y=ceiling, series=3)
    chart.rule(y=float(k))
    chart.end_label(ceiling, f"mean {ceiling:.3g}", 3)
    chart.end_label(float(k), f"rank {k}", 0)
    caption = (
        r"The cost of a layer: $\|W_\ell\|_F^2$ in blue, and $\|b_\ell\|^2$ in orange on top of "
        f"it. The dashed lines are the mean $\\|\\theta\\|^2/L$ and the rank $k = {k}$: of the "
        "networks of one function the least mean tends to the rank as they get deeper."
    )
    return Picture("costs", TITLE, caption, chart.svg)
