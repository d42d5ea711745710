"""The singular values of the layers of a deep network, and how near they are to an isometry."""

from __future__ import annotations

import math

import torch

from rankcheck.linalg import singular_values
from rankcheck.networks import Network, balance_neurons
from rankcheck.report.charts.picture import Picture
from rankcheck.report.svg import Axis, Chart
from rankcheck.witnesses import identity_layers
from rankcheck.witnesses.projections import bottleneck, one_sided_distances

__all__ = ["singular"]

TITLE = "Almost all layers are near an isometry"
DEPTH = 20


def singular() -> Picture:
    """The singular values of every layer of a balanced network of rank 2 and of depth 20.

    With them, the distance of each layer from the nearest partial isometry of rank 2.
    """
    net, x = _network()
    at = bottleneck(net, x)
    k = int(at.rank)
    distances = one_sided_distances(net, x, at.rank).clamp(min=0).sqrt().tolist()
    values = [singular_values(W).tolist() for W in net.weights]
    mean = math.sqrt(float(at.slack) / DEPTH)
    chart = Chart(
        TITLE,
        f"A balanced network of depth {DEPTH} and rank {k}. Inside, each layer has {k} singular "
        "values near one, and no others.",
        Axis(0.5, DEPTH + 0.5, "layer", ticks={n: str(n) for n in (1, 5, 10, 15, 20)}),
        Axis(0, 1.5, "singular values; distance"),
    )
    chart.rule(y=1.0)
    chart.line([(layer, d) for layer, d in enumerate(distances, 1)], 2)
    chart.rule(y=mean, series=2)
    first = [(float(layer), s) for layer, many in enumerate(values, 1) for s in many[:k]]
    rest = [(float(layer), s) for layer, many in enumerate(values, 1) for s in many[k:]]
    chart.dots(rest, 3, tip="the other singular values")
    chart.dots(first, 1, tip=f"the first {k} singular values")
    middle = DEPTH / 2
    chart.label((middle, 1.3), f"first {k} singular values", 1, anchor="middle")
    chart.label((middle, 0.6), "bound of the mean", 2, anchor="middle")
    chart.label((middle, 0.06), "distance", 2, anchor="middle")
    caption = (
        f"A balanced network of depth $L = {DEPTH}$ and rank $k = {k}$. Almost every layer has $k$ "
        "singular values near $1$ and no others; the line is the distance "
        r"$\|W_\ell - U_\ell V_\ell^\top\|_F$ from the nearest partial isometry. Its root mean "
        r"square is at most $((\|\theta\|^2 - kL - 2 \log |Jf(x)|_+)/L)^{1/2}$, the dashed line."
    )
    return Picture("singular", TITLE, caption, chart.svg)


def _network() -> tuple[Network, torch.Tensor]:
    """A network through R² with 16 identity layers, balanced, and a point in its domain x ≥ 0."""
    g = Network.of([[[2, 0, 1], [0, 2, -1], [1, 1, 1], [1, -1, 0]], [[1, 0, 1, 0], [0, 3, 0, 3]]])
    h = Network.of([[[1, 0], [0, 1], [1, -1]], [[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 2]]])
    x = torch.ones(3, dtype=torch.float64)
    return balance_neurons(identity_layers(h, g, DEPTH, torch.zeros_like(x[:2]))), x
