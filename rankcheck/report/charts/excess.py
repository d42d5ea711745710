"""What a network costs beyond its rank times its depth: linear maps, and the shear."""

from __future__ import annotations

import torch

from rankcheck.costs import cost_expansion
from rankcheck.costs import excess as beyond
from rankcheck.linalg import log_pseudo_determinant
from rankcheck.report.charts.picture import Picture
from rankcheck.report.svg import Axis, Chart
from rankcheck.witnesses import (
    balanced_cone_network,
    cone_network,
    interpolated_shares,
    shear_network,
)

__all__ = ["excess"]

TITLE = "The excess cost of deep networks"
DEPTHS = (4, 6, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128)
#: The exponents γ of the stretch exp(L^−γ) of the shear.
GAMMAS = (0.75, 0.9)


def excess() -> Picture:
    """‖θ‖² − kL of networks of rank k, against the depth, with the limits 2 log|A|_+ and 0."""
    A = torch.diag(torch.tensor([4.0, 1.5], dtype=torch.float64))
    identity, roots = torch.eye(2, dtype=torch.float64), A.diagonal()
    limit = 2 * float(log_pseudo_determinant(A))
    one = roots.new_ones(())
    lines = {
        "interpolated": [
            (
                L,
                float(
                    beyond(cone_network(A, identity, identity, identity, interpolated_shares(L)), 2)
                ),
            )
            for L in DEPTHS
        ],
        "balanced": [
            (L, float(beyond(balanced_cone_network(roots ** (1 / L), [identity] * (L + 1)), 2)))
            for L in DEPTHS
        ],
    }
    for gamma in GAMMAS:
        lines[f"shear, γ = {gamma:g}"] = [
            (L, float(beyond(shear_network(L, (one * float(L) ** -gamma).exp(), one), 3)))
            for L in DEPTHS
        ]
    expansion = [(L, float(cost_expansion(A, L)) - 2 * L) for L in DEPTHS]
    chart = Chart(
        TITLE,
        f"The cost beyond the rank times the depth. For a linear map it falls to {limit:.3g}, for "
        "the shear to 0.",
        Axis(4, 128, "depth L", "log", ticks={n: str(n) for n in (4, 8, 16, 32, 64, 128)}),
        Axis(0, 7, "‖θ‖² − kL"),
        right=170,
    )
    chart.rule(y=limit)
    chart.line(expansion, 0, dashed=True)
    for series, (name, points) in enumerate(lines.items(), 1):
        chart.line(points, series)
        chart.end_label(points[-1][1], name, series)
    caption = (
        "The linear map $A$ of rank $k = 2$ on a cone, by interpolated kernels and at its least "
        r"cost: the excess $\|\theta\|^2 - kL$ falls to $2 \log |A|_+$, the dashed line. The "
        "dashed curve is three terms of the expansion of the least cost. The excess of the shear, "
        r"stretched by $e^{L^{-\gamma}}$, falls to $0$, although the shear has two Jacobians."
    )
    return Picture("excess", TITLE, caption, chart.svg)
