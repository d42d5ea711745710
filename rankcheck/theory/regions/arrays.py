r"""The linear regions of every network of a batch, as arrays that a claim computes with.

Networks of one shape have different numbers of regions, so the arrays are as long as the longest
list. What is beyond the end of a list repeats its first region: a maximum, a minimum, an "all" or
an "any" over the axis R needs no mask, and a sum takes ``present``.

Which regions there are is decided exactly (:mod:`rankcheck.theory.regions.splitting`), and it does
not depend on the other networks of the batch. Numbers are those of the kind at hand. On balls
vertices, Jacobians and volumes are exact rationals. In floats they are rounded, and gradients flow
through them: Jacobians by the masks, vertices as points where given units vanish. Counts and
patterns have none.

>>> import torch
>>> from rankcheck.networks import Network
>>> fold = torch.tensor([[[1.0], [-1.0]], [[1.0], [1.0]]], dtype=torch.float64)
>>> cells = region_arrays(Network.linear([fold, torch.ones(2, 1, 2, dtype=torch.float64)]), -1, 2)
>>> cells.count, cells.volumes.tolist()  # |x| and 2 relu(x)
(tensor([2, 2]), [[2.0, 1.0], [2.0, 1.0]])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import torch

from rankcheck.balls import as_batch, balls, is_ball
from rankcheck.theory.linalg import Array, Number, rank
from rankcheck.theory.networks import Network
from rankcheck.theory.networks.evaluation import AtPoints, leaky, leaky_derivative
from rankcheck.theory.regions.box import Corner, boxes
from rankcheck.theory.regions.cells import simplices
from rankcheck.theory.regions.ragged import blocks, starts_of
from rankcheck.theory.regions.splitting import TINY, Complex, corner_bits, split_boxes


def region_arrays(net: Network, low: Corner, high: Corner) -> RegionArrays:
    """Every activation region of each network of a batch, in its box.

    Args:
        net: networks of float64 tensors, or of balls that are exactly floats; batch axes *B.
        low, high: the corners, low < high: a number, d numbers, or an array of shape (*B, d).

    Raises:
        NoBallForm, TypeError, ValueError: as for :func:`rankcheck.regions.regions`.
    """
    if torch._C._are_functorch_transforms_active():
        return cast(Any, _OfOne(net, low, high))
    b = boxes(net, low, high, net.batch)
    cells = split_boxes(b.weights[:-1], b.biases[:-1], b.slopes, b.low, b.high)
    return RegionArrays(net, low, high, cells)


@dataclass(frozen=True, eq=False)
class RegionArrays:
    """The regions of each network of a batch; R is the largest number of them.

    Attributes:
        net: the networks, with batch axes *B.
        low, high: the corners of the boxes.
        cells: the cells of all boxes, those of a network together.
    """

    net: Network
    low: Corner
    high: Corner
    cells: Complex

    def __repr__(self) -> str:
        return f"<{len(self.cells.networks)} regions of networks {self.net}>"

    @cached_property
    def _counts(self) -> np.ndarray:
        return np.bincount(self.cells.networks, minlength=math.prod(self.net.batch))

    @cached_property
    def _regions(self) -> tuple[np.ndarray, np.ndarray]:
        """The cell of each region, (N, R), and whether it is one of the list."""
        return _padded(starts_of(self._counts)[:-1], self._counts)

    @cached_property
    def _members(self) -> tuple[np.ndarray, np.ndarray]:
        """The K vertices of each region, (N, R, K), and which of them repeat no other."""
        cells, (region, _) = self.cells, self._regions
        index, real = _padded(cells.starts[region], np.diff(cells.starts)[region])
        return cells.members[index], real

    def _tensor(self, array: np.ndarray) -> torch.Tensor:
        """The array (N, ...) as a tensor (*B, ...) on the device of the networks."""
        tensor = torch.from_numpy(array.reshape((*self.net.batch, *array.shape[1:])))
        return tensor.to(self.net.weights[0].device)

    # Lists

    @property
    def count(self) -> torch.Tensor:
        """How many regions there are, int64 (*B)."""
        return self._tensor(self._counts)

    @property
    def present(self) -> torch.Tensor:
        """Which regions are in the list and repeat no other, bools (*B, R)."""
        return self._tensor(self._regions[1])

    @property
    def patterns(self) -> torch.Tensor:
        """Which hidden units are active, layer after layer, bools (*B, R, n_1 + ... + n_{L−1})."""
        return self._tensor(self.cells.patterns[self._regions[0]])

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of regions of each network that share d vertices, (N, P, 2), and which are some."""
        cells, d = self.cells, self.net.widths[0]
        if d > 3:
            raise ValueError(
                f"received boxes of dimension {d}; neighbours are found up to dimension 3"
            )
        # All pairs of cells at a vertex, for all vertices.
        at = np.repeat(np.arange(len(cells.networks)), np.diff(cells.starts))
        order = np.lexsort((at, cells.members))
        at, vertex, sizes = at[order], cells.members[order], np.bincount(cells.members)
        first, second = blocks(starts_of(sizes)[vertex], sizes[vertex])
        pairs = np.stack((at[first], at[second]), axis=1)
        pairs, shared = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0, return_counts=True)
        # The cells of a box form a complex, so what two of them share is a face of both. In three
        # dimensions an edge has two vertices and a facet three or more; below, d suffice as well.
        pairs = pairs[shared >= d]
        networks = cells.networks[pairs[:, 0]]
        begin = starts_of(self._counts)[networks]
        pairs = np.concatenate((pairs - begin[:, None], [[0, 0]]))
        sizes = np.bincount(networks, minlength=len(self._counts))
        index, some = _padded(starts_of(sizes)[:-1], sizes)
        return pairs[np.where(some, index, -1)], some

    @property
    def neighbours(self) -> torch.Tensor:
        """Which pairs of `across` are pairs of neighbours, bools (*B, P); P ≥ 1.

        Two regions are neighbours if they have a facet in common. Each pair is listed once.

        Raises:
            ValueError: the dimension of the boxes is larger than 3.
        """
        return self._tensor(self._pairs[1])

    def across(self, values: Array) -> tuple[Array, Array]:
        """Of values (*B, R, ...) of the regions those of both regions of each pair, (*B, P, ...).

        What is beyond the last pair of neighbours is the first region beside itself.
        """
        axes = len(self.net.batch)
        pairs = self._pairs[0] + (np.arange(len(self._counts)) * values.shape[axes])[:, None, None]
        flat = values.flatten(0, axes)
        first, second = (self._tensor(pairs[..., side]) for side in (0, 1))
        return flat[first], flat[second]

    # Numbers

    @cached_property
    def _points(self) -> Array:
        """The vertices of all boxes, (V, d)."""
        net = self.net
        arrays: list[Any] = [*net.weights, *net.biases, net.slope, self.low, self.high]
        if is_ball(net.weights[0]):
            return self._replayed()
        points = torch.from_numpy(self.cells.points).to(net.weights[0].device)
        if not any(isinstance(x, torch.Tensor) and x.requires_grad for x in arrays):
            return points
        moved = self._replayed()
        return points + (moved - moved.detach())

    def _replayed(self) -> Array:
        """The vertices once more, by the steps of the splitting, in operations of torch."""
        net, d, vertices = self.net, self.net.widths[0], self.cells.rationals
        weights = [W.reshape(-1, *W.shape[-2:]) for W in net.weights]
        biases = [b.reshape(-1, b.shape[-1]) for b in net.biases]
        exact = is_ball(weights[0])
        networks = len(self._counts)
        owner = self._indices(np.repeat(np.arange(networks), 2**d))
        upper = self._indices(np.tile(corner_bits(d), (networks, 1)))
        low, high = (_corners(x, weights[0], net.batch, d) for x in (self.low, self.high))
        values = torch.where(upper, high[owner], low[owner])
        families = list(vertices.families)
        for layer, (W, b) in enumerate(zip(weights[:-1], biases[:-1], strict=True)):
            slope = net.slope if isinstance(net.slope, Number) else net.slope.reshape(-1, 1)[owner]
            h = leaky(values[:, d:], slope) if layer else values
            z = (W[owner] @ h.unsqueeze(-1)).squeeze(-1) + b[owner]
            values = torch.cat((values[:, :d], z), -1)
            while families and families[0][2] == layer:
                above, below, _, neuron = families.pop(0)
                start, end = (values[self._indices(side)] for side in (above, below))
                p, q = start[:, d + neuron, None], -end[:, d + neuron, None]
                if not exact:  # Rounding may have made them zero.
                    p, q = p.clamp_min(TINY), q.clamp_min(TINY)
                values = torch.cat((values, start + p / (p + q) * (end - start)))
                owner = torch.cat((owner, owner[self._indices(above)]))
        return values[:, :d]

    def _indices(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(self.net.weights[0].device)

    @cached_property
    def vertices(self) -> Array:
        """The vertices of each region, (*B, R, K, d), in no particular order.

        A region with fewer than K vertices repeats its first.
        """
        return self._points[self._tensor(self._members[0])]

    @cached_property
    def interior(self) -> Array:
        """The mean of the vertices of each region, (*B, R, d): inside, up to rounding."""
        real = self._tensor(self._members[1])
        total = torch.where(real.unsqueeze(-1), self.vertices, 0 * self.vertices).sum(-2)
        return total / real.sum(-1, keepdim=True)

    @cached_property
    def volumes(self) -> Array:
        """The d-dimensional volume of each region, (*B, R), and 0 for those that repeat one.

        The sum is the volume of the box.
        """
        d, (region, present) = self.net.widths[0], self._regions
        owner, corners = (np.concatenate(list(x)) for x in zip(*simplices(self.cells), strict=True))
        order = np.argsort(owner, kind="stable")
        sizes = np.bincount(owner, minlength=len(self.cells.networks))[region]
        starts = starts_of(np.bincount(owner, minlength=len(self.cells.networks)))[region]
        index, real = _padded(starts, sizes)
        points = self._points[self._tensor(corners[order][index])]
        contents = torch.linalg.det(points[..., 1:, :] - points[..., :1, :]).abs()
        counted = self._tensor(real & present[..., None])
        return torch.where(counted, contents, 0 * contents).sum(-1) / math.factorial(d)

    @cached_property
    def _at(self) -> AtPoints:
        net = self.net
        return _AtRegions(net.weights, net.biases, net.slope, self.interior, self.patterns)

    @property
    def jacobians(self) -> Array:
        """Jf on each region, (*B, R, n_L, d)."""
        return self._at.jacobian

    @property
    def jacobian_noise(self) -> Array:
        """A bound on the rounding error of the Jacobians in operator norm, (*B, R)."""
        return self._at.jacobian_noise

    @property
    def ranks(self) -> torch.Tensor:
        """rank Jf on each region, integers (*B, R): proved on balls, by a threshold in floats.

        The largest is the Jacobian rank rank_J(f; Ω).
        """
        return rank(self.jacobians, self.jacobian_noise)


class _OfOne:
    """`RegionArrays` of one network under `torch.func.vmap`, with R of the whole batch.

    All networks are split together, and each attribute is computed of all of them.
    """

    def __init__(self, net: Network, low: Corner, high: Corner) -> None:
        self.net = net
        self._arguments: list[Any] = [*net.weights, *net.biases, net.slope, low, high]
        self._cells: Complex | None = None

    def __getattr__(self, name: str) -> Any:
        return self._of_all(lambda regions: getattr(regions, name))

    def across(self, values: Array) -> tuple[Array, Array]:
        """As of `RegionArrays`."""
        return self._of_all(lambda regions, values: regions.across(values), values)

    def _of_all(self, function: Callable[..., Any], *others: Array) -> Any:
        """A function of the regions of all networks, and of arrays besides."""
        places = [i for i, x in enumerate(self._arguments) if isinstance(x, torch.Tensor)]

        def of_all(*arrays: Array) -> Any:
            arguments = [*self._arguments]
            for place, array in zip(places, arrays, strict=False):
                arguments[place] = array
            *parameters, slope, low, high = arguments
            depth = self.net.depth
            net = Network.unchecked_slope(parameters[:depth], parameters[depth:], slope)
            if self._cells is None:
                self._cells = region_arrays(net, low, high).cells
            return function(RegionArrays(net, low, high, self._cells), *arrays[len(places) :])

        return as_batch(of_all, *(self._arguments[i] for i in places), *others)


@dataclass(frozen=True, eq=False)
class _AtRegions(AtPoints):
    """A network at points whose activation patterns are known, whatever rounding did to them."""

    patterns: torch.Tensor

    @cached_property
    def _masks(self) -> tuple[Array, ...]:
        one = self.x.new_ones(())
        widths = [b.shape[-1] for b in self.biases[:-1]]
        layers = self.patterns.split(widths, -1) if widths else ()
        return tuple(
            leaky_derivative(torch.where(active, one, -one), self._wide_slope) for active in layers
        )

    @property
    def _points(self) -> tuple[int, ...]:
        return tuple(self.x.shape[:-1])


def _padded(starts: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The indices of blocks with a further axis as long as the longest block, at least 1.

    A shorter block repeats its first index; the bools tell what is in the block.
    """
    position = np.arange(max(1, sizes.max(initial=1)))
    inside = position < sizes[..., None]
    return starts[..., None] + np.where(inside, position, 0), inside


def _corners(numbers: Any, like: Array, batch: tuple[int, ...], d: int) -> Array:
    """A corner of each box, (N, d), as an array of the same kind."""
    if is_ball(like):
        array: Any = balls(numbers)
    elif isinstance(numbers, torch.Tensor):
        array = numbers
    else:
        array = torch.as_tensor(np.asarray(numbers, dtype=float), device=like.device)
    return array.expand(*batch, d).reshape(-1, d)
