"""The hidden neurons and channels of a graph: which maps have them, and what they do on data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor, fx

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.linear_map import DiagonalMap

__all__ = ["Units", "represented", "units"]

#: Second moments are taken of representations of no more numbers.
NUMBERS = 1024


@dataclass(frozen=True)
class Units:
    """What comes out of a map and goes through an activation σ_a, and nowhere else.

    Attributes:
        layer: the node of the map.
        before: the node whose result is the activation's argument.
        after: the node of the activation.
        number: how many neurons or channels there are.
        last: whether they lie along the last axis, as neurons do; channels along the first.
    """

    layer: str
    before: str
    after: str
    number: int
    last: bool

    def split(self, values: Tensor) -> Tensor:
        """Values (N, n) of the node as (N, places, number)."""
        if self.last:
            return values.reshape(len(values), -1, self.number)
        return values.reshape(len(values), self.number, -1).mT


def units(graph: Graph) -> tuple[Units, ...]:
    """The hidden units of all maps that have some, in order.

    Between the map and the activation there may be what treats units apart: batch normalisation,
    dropout. The sum of a residual network ends the way, as its numbers belong to several maps.
    """
    found = []
    for node in graph.module.graph.nodes:
        layer = graph.layers.get(node.name)
        if layer is None or not layer.maps or isinstance(layer.maps[0], DiagonalMap):
            continue
        shape, number = graph.shapes[node.name], layer.maps[0].units
        last = layer.rowwise and shape[-1] == number
        if not last and shape[0] != number:
            continue
        before, after = node, _next(node)
        while after is not None and _keeps(graph, after, before):
            before, after = after, _next(after)
        if after is None or after.name not in graph.layers:
            continue
        slope = graph.layers[after.name].slope
        if slope is not None and slope != 1:
            found.append(Units(node.name, before.name, after.name, number, last))
    return tuple(found)


def represented(graph: Graph) -> tuple[str, ...]:
    """The nodes behind `units`, and the last one, that have no more than `NUMBERS` numbers."""
    *_, output = graph.module.graph.nodes
    names = [*(each.after for each in units(graph)), output.all_input_nodes[0].name]
    return tuple(name for name in dict.fromkeys(names) if math.prod(graph.shapes[name]) <= NUMBERS)


def _next(node: fx.Node) -> fx.Node | None:
    """The only node that uses this one's result; None if several do."""
    users = list(node.users)
    return users[0] if len(users) == 1 and users[0].op != "output" else None


def _keeps(graph: Graph, node: fx.Node, before: fx.Node) -> bool:
    """Whether a node treats every unit alone and is no activation."""
    layer = graph.layers.get(node.name)
    if layer is None or not layer.affine or len(node.all_input_nodes) != 1:
        return False
    if node.name not in graph.shapes:  # several tensors
        return False
    same = math.prod(graph.shapes[node.name]) == math.prod(graph.shapes[before.name])
    return same and (layer.title in ("nothing", "batch norm"))
