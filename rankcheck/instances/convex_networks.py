r"""Networks whose outputs are convex functions of their input.

With a slope in [0, 1) the activation is convex and nondecreasing. So the output is convex where no
weight after the first layer is negative (Amos, Xu, Kolter, arXiv 1609.07152, without their
connections from the input to later layers).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch

from rankcheck.instances.kinks import clear_of_boundaries
from rankcheck.instances.networks import (
    DEPTH,
    DIFFERENTIABLE,
    POINTS,
    WIDTH,
    Range,
    draw_widths,
    slope,
)
from rankcheck.instances.promises import Promise, at_most, has_slope, promises
from rankcheck.instances.source import Source, instances
from rankcheck.networks.network import Network


def _not_negative(net: Network) -> Any:
    """Whether the weights after the first layer are ≥ 0, (*batch, their number)."""
    return torch.cat([(w >= 0).flatten(-2) for w in net.weights[1:]], -1)


def _below_the_chords(net: Network, x: Any) -> Any:
    """Whether f is at most its mean in the middle of two points, (*batch, N − 1, n_L)."""
    first, second = x[..., :-1, :], x[..., 1:, :]
    return at_most(net((first + second) / 2), (net(first) + net(second)) / 2)


@instances
@promises(
    DIFFERENTIABLE,
    Promise(
        "no weight after the first layer is negative",
        lambda o, net, _: net.depth == 1 or _not_negative(net),
    ),
    Promise(
        "in the middle of two points f is at most the mean of its values there",
        lambda o, net, x: x.shape[-2] == 1 or _below_the_chords(net, x),
    ),
    depth=DEPTH,
    width=WIDTH,
    points=POINTS,
    leaky=Promise(
        "the slope lies in [0, 1); if False, it is 0",
        lambda o, net, _: has_slope("nonnegative" if o.leaky else "relu", net.slope),
    ),
)
def input_convex_networks(
    source: Source,
    *,
    depth: Range = (1, 4),
    width: Range = (1, 4),
    points: Range = (2, 4),
    leaky: bool = True,
) -> tuple[Network, Any]:
    """A network convex in its input, and N points, `(*batch, N, n_0)`, differentiable at each."""
    widths = draw_widths(source, depth, width)
    weights: list[Any] = []
    biases: list[Any] = []
    for m, n in pairwise(widths):
        low, high = (0.0, 2.0) if weights else (-4.0, 4.0)
        weights.append(source.tensor(n, m, low=low, high=high))
        biases.append(source.tensor(n, low=-4.0, high=4.0))
    net = Network(weights, biases, slope(source, "nonnegative" if leaky else "relu"))
    x = source.tensor(source.integer(*points), widths[0])
    return clear_of_boundaries(source, net, x), x
