r"""The cheapest parameters with the same function that rescaling hidden units reaches.

The cost is a sum of terms w e^{2(u_i − u_j)}, one for each weight from unit j to unit i and each
bias, with u = 0 for what is no hidden unit: convex in u, the logarithms of the factors. At the
minimum what goes into each unit is what goes out, as in `rankcheck.networks.balancing`, which does
this for chains.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.scalable import Scalable, UnitMap
from rankcheck.audit.result import Balanced

__all__ = ["Rescaled", "balance", "balance_inside", "imbalance", "rescale"]

#: Units are balanced if |in − out| is at most this share of in + out.
TOLERANCE = 1e-12
#: Values are compared at so many points at a time.
POINTS = 64


@dataclass(frozen=True, eq=False)
class Rescaled:
    """Parameters with the same function.

    Attributes:
        parameters: all of a network, as `Graph.at` takes them.
        saved: by how much ‖θ‖² is smaller, at least 0.
        converged: whether the cheapest ones were found; if not, they are those of the network.
    """

    parameters: dict[str, Tensor]
    saved: float
    converged: bool = True


def imbalance(one: Scalable) -> float:
    """The largest |in − out| / (in + out) of some units; 0 for a unit without both.

    `in` is the squared norm of the incoming weights and the bias (for a norm, γ² + β²), and `out`
    that of the weights that read the unit.
    """
    enter, leave = one.balance()
    total = enter + leave
    return float(((enter - leave).abs() / torch.where(total > 0, total, 1.0)).max())


def balance_inside(part: Graph, found: Sequence[Scalable]) -> tuple[float | None, float | None]:
    """`imbalance` and `balanced` of a block, as `BlockFacts` has them.

    Args:
        found: those of the whole network; used are those that come out of a map of the part and
            are read there alone.
    """
    nodes = part.layers.keys()
    here = [u for u in found if {u.node, *u.reading} <= nodes]
    scaled = rescale(part, here) if any(one.homogeneous for one in here) else None
    largest = max(map(imbalance, here), default=None)
    if scaled is None or not scaled.converged:
        return largest, None
    return largest, part.stored_cost - scaled.saved


def balance(graph: Graph, found: Sequence[Scalable], X: Tensor | None = None) -> Balanced:
    """The cost after rescaling, and how much the values at points X (N, n_0) change by rounding."""
    scaled = rescale(graph, found)
    change = None
    if X is not None:
        largest = different = 0.0
        for x in X.split(POINTS):
            with torch.no_grad():
                here = graph(x)
                there = torch.vmap(lambda one: graph.at(one, scaled.parameters))(x)
            largest = max(largest, float(here.abs().max()))
            different = max(different, float((here - there).abs().max()))
        change = different / largest if largest else different
    return Balanced(graph.stored_cost - scaled.saved, change, scaled.converged)


def rescale(graph: Graph, found: Sequence[Scalable]) -> Rescaled:
    """Multiply each of these units by the factor that makes the cost least.

    Units behind which something is not homogeneous are left as they are. What a dead unit has (no
    weights go in, or none out) is set to zero, the limit of the cheapest scales.
    """
    found = [one for one in found if one.homogeneous]
    weights = _Weights(found)
    if not weights.balance():
        return Rescaled(graph.parameters, 0.0, converged=False)
    parameters, before, after = dict(graph.parameters), [0.0], [0.0]
    for node, one in weights.maps.items():
        rows, columns = weights.factors(node)
        scaled = one.scaled(rows, columns)
        old = one.weight, one.offset
        for name, new, was in zip(one.parameters, scaled, old, strict=True):
            if name is not None and new is not None and was is not None:
                _put(parameters, graph.parameters, name, new, was)
                before.append(float((was * was).sum()))
                after.append(float((new * new).sum()))
    saved = math.fsum(before) - math.fsum(after)
    return Rescaled(parameters, saved) if saved > 0 else Rescaled(graph.parameters, 0.0)


def _put(
    parameters: dict[str, Tensor],
    stored: Mapping[str, Tensor],
    name: str,
    new: Tensor,
    was: Tensor,
) -> None:
    """Put values in the place of what is a view of a stored parameter."""
    if parameters[name] is stored[name]:
        parameters[name] = stored[name].clone()
    offset = (was.data_ptr() - stored[name].data_ptr()) // was.element_size()
    parameters[name].as_strided(was.shape, was.stride(), offset).copy_(new)


class _Weights:
    """The squared weights of some maps between hidden units, and the factors of these."""

    def __init__(self, found: Sequence[Scalable]) -> None:
        self.found = found
        self.maps: dict[str, UnitMap] = {}
        self._read: dict[str, tuple[int, Tensor]] = {}
        for index, one in enumerate(found):
            self.maps[one.node] = one.source
            for node, reader, read in one.readers:
                self.maps[node] = reader
                self._read[node] = index, read
        self._sources = {one.node: index for index, one in enumerate(found)}
        self._logs = [torch.zeros(one.source.units, dtype=torch.float64) for one in found]
        self._squares = {node: self._between(node) for node in self.maps}
        self._biases = {
            one.node: torch.zeros_like(log) if one.source.offset is None else one.source.offset**2
            for one, log in zip(found, self._logs, strict=True)
        }

    def balance(self) -> bool:
        """Find the factors; whether that succeeded."""
        alive = self._alive()
        longest = self._longest()
        relaxed = 2 / (1 + math.sin(math.pi / (longest + 1)))
        for sweep in range(200 * (longest + 1)):
            worst = 0.0
            for index, (log, lives) in enumerate(zip(self._logs, alive, strict=True)):
                enter, leave = (torch.where(lives, x, 1.0) for x in self._sums(index))
                worst = max(worst, float(((enter - leave).abs() / (enter + leave)).max()))
                step = (leave / enter).log() / 4 * (1 if sweep <= longest else relaxed)
                log += step
                self._multiply(index, (2 * step).exp(), (-2 * step).exp())
            if worst <= TOLERANCE:
                break
        else:
            return False
        for log, lives in zip(self._logs, alive, strict=True):
            log[~lives] = -math.inf
        return True

    def factors(self, node: str) -> tuple[Tensor, Tensor]:
        """By what a map's rows and columns are multiplied."""
        one = self.maps[node]
        rows, columns = torch.ones(one.units).double(), torch.ones(one.squares().shape[1]).double()
        if node in self._sources:
            rows = self._logs[self._sources[node]].exp()
        if node in self._read:
            index, read = self._read[node]
            log = self._logs[index][read]
            columns = torch.where(log > -math.inf, (-log).exp(), 0.0)
        return rows, columns

    def _between(self, node: str) -> Tensor:
        """The squared weights of a map from hidden unit to unit, or from all inputs together."""
        squares = self.maps[node].squares()
        if node not in self._read:
            return squares.sum(1, keepdim=True)
        index, read = self._read[node]
        summed = squares.new_zeros(len(squares), len(self._logs[index]))
        return summed.index_add_(1, read, squares)

    def _sums(self, index: int) -> tuple[Tensor, Tensor]:
        """What goes into these units, and what goes out."""
        one = self.found[index]
        enter = self._squares[one.node].sum(1) + self._biases[one.node]
        leave = [self._squares[node].sum(0) for node, _, _ in one.readers]
        return enter, torch.stack(leave).sum(0)

    def _multiply(self, index: int, enter: Tensor, leave: Tensor) -> None:
        one = self.found[index]
        self._squares[one.node] *= enter.unsqueeze(1)
        self._biases[one.node] = self._biases[one.node] * enter
        for node, _, _ in one.readers:
            self._squares[node] *= leave

    def _alive(self) -> list[Tensor]:
        """Units with something in and out; without the others, further ones may be dead."""
        alive = [torch.ones_like(log, dtype=torch.bool) for log in self._logs]
        changed = True
        while changed:
            changed = False
            for index in range(len(alive)):
                enter, leave = self._sums(index)
                lives = (enter > 0) & (leave > 0)
                if not torch.equal(lives, alive[index]):
                    alive[index], changed = lives, True
                    self._multiply(index, lives.double(), lives.double())
        return alive

    def _longest(self) -> int:
        """The most hidden units that follow one another on a path."""
        length = [1] * len(self.found)
        for index in reversed(range(len(self.found))):
            after = [self._sources.get(node) for node, _, _ in self.found[index].readers]
            length[index] += max((length[i] for i in after if i is not None), default=0)
        return max(length, default=0)
