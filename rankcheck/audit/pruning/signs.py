"""What is known of the signs of hidden neurons: at points, on a box, or everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

from rankcheck.audit.part import batch_size
from rankcheck.networks import Network
from rankcheck.networks.evaluation import leaky
from rankcheck.regions import regions

__all__ = ["Claim", "Signs", "at_points", "everywhere", "holds", "on_box"]

#: Regions are enumerated up to so many inputs, by the most hidden neurons that are tried then.
REGIONS = {1: 400, 2: 256, 3: 80, 4: 40}

#: A layer and a neuron of it, from 0, and the sign that it is said to have: 1 or −1.
Claim = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Signs:
    """Bools of the shape (n_ℓ) for each hidden layer.

    Attributes:
        above: the pre-activation is known to be ≥ 0.
        below: it is known to be ≤ 0.
    """

    above: tuple[Tensor, ...]
    below: tuple[Tensor, ...]

    def __or__(self, other: Signs) -> Signs:
        """What is known by one of the two."""
        above = zip(self.above, other.above, strict=True)
        below = zip(self.below, other.below, strict=True)
        return Signs(tuple(a | b for a, b in above), tuple(a | b for a, b in below))


def holds(signs: Signs, claims: Iterable[Claim]) -> bool:
    """Whether all of these are known."""
    return all(
        bool((signs.above if sign > 0 else signs.below)[layer][neuron])
        for layer, neuron, sign in claims
    )


def at_points(net: Network, X: Tensor) -> Signs:
    """At the points X (N, n_0), in floats."""
    above = [torch.ones(n, dtype=torch.bool) for n in net.widths[1:-1]]
    below = [known.clone() for known in above]
    for x in X.split(batch_size(net)):
        for layer, z in enumerate(net.at(x).preactivations[:-1]):
            above[layer] &= (z >= 0).all(0)
            below[layer] &= (z <= 0).all(0)
    return Signs(tuple(above), tuple(below))


def everywhere(net: Network) -> Signs:
    """On all of ℝⁿ: where the signs of weights and biases alone decide, or nothing comes in."""
    low = net.weights[0].new_full(net.widths[:1], -inf)
    return _intervals(net, low, -low)


def on_box(net: Network, low: Tensor, high: Tensor) -> Signs:
    """On the box [low, high], by intervals and, in a small network, by all of its regions.

    Intervals are rounded outwards, and the list of regions is exact: both are proofs.
    """
    known = _intervals(net, low, high)
    if sum(net.widths[1:-1]) > REGIONS.get(net.widths[0], 0) or not bool((low < high).all()):
        return known
    patterns = torch.from_numpy(regions(net, low, high).patterns)
    parts = patterns.split(net.widths[1:-1], 1)
    exact = Signs(tuple(p.all(0) for p in parts), tuple(~p.any(0) for p in parts))
    return known | exact


def _intervals(net: Network, low: Tensor, high: Tensor) -> Signs:
    """Bounds of every pre-activation from those of the layer before, rounded outwards."""
    above, below = [], []
    for w, b in zip(net.weights[:-1], net.biases[:-1], strict=True):
        up, down = w.clamp(min=0), w.clamp(max=0)
        least = -_most(-up, low, -down, high, -b)
        most = _most(up, high, down, low, b)
        above.append(least >= 0)
        below.append(most <= 0)
        ends = leaky(least, net.slope), leaky(most, net.slope)
        low, high = torch.minimum(*ends), torch.maximum(*ends)
        crosses = (least < 0) & (most > 0)  # then 0 is among the values, the least if a < 0
        low = torch.where(crosses, low.clamp(max=0), low)
    return Signs(tuple(above), tuple(below))


def _most(one: Tensor, x: Tensor, two: Tensor, y: Tensor, b: Tensor) -> Tensor:
    """At least one · x + two · y + b, where 0 times infinity is 0; infinite where in doubt."""
    terms = torch.stack([torch.where(w == 0, 0.0, w * v) for w, v in ((one, x), (two, y))])
    total = terms.sum((0, 2)) + b
    sizes = terms.abs().sum((0, 2)) + b.abs()
    rounding = (2 * one.shape[1] + 2) * torch.finfo(b.dtype).eps * sizes
    inexact = (((one != 0) & (x != 0)) | ((two != 0) & (y != 0))).any(1)  # may underflow
    bound = total + rounding + inexact * torch.finfo(b.dtype).tiny
    return torch.where(bound.isnan(), inf, bound)
