"""Whether points lie on kinks of a graph, where it need not be differentiable."""

from __future__ import annotations

import torch
from torch import Tensor, fx
from torch.func import vmap

from rankcheck.audit.graph.graph import Graph

__all__ = ["Kinks"]

#: A kink of other layers is looked for so near, relative to the largest number that goes in,
NEAR = 1e-10
#: and is there if the sum of both differences exceeds this share of the step.
BENT = 1e-4
#: Layers whose result is 0, if no number that goes in is negative, only where all of them are.
_KEEPING = ("shape", "nothing", "max pooling", "mean pooling")


class Kinks:
    """What finds the points on kinks of one graph.

    An activation σ_a has its kink at 0, and a number that goes in is 0 or not. Other piecewise
    linear layers g, such as max pooling or ReLU6, are on a kink at z if g(z + d) + g(z − d) − 2g(z)
    is not 0 for a small d that is drawn once. Numbers of z that a ReLU has cut off stay as they
    are: a window in which all of them are 0 is no kink, as it stays so around the point.

    A kink at z that d does not show has a probability of about 10⁻⁴, and points nearer to a kink
    than 10⁻¹⁰ of the numbers there count as kinks.
    """

    def __init__(self, graph: Graph, device: str = "cpu") -> None:
        draw = torch.Generator().manual_seed(0)
        zeros: dict[str, None] = {}
        self._others: list[tuple[str, bool, Graph, Tensor]] = []
        for node in graph.module.graph.nodes:
            layer = graph.layers.get(node.name)
            if layer is None or not layer.piecewise or layer.affine or layer.slope == 1:
                continue
            moving = [one for one in node.all_input_nodes if one.op != "get_attr"]
            if layer.slope is not None:
                zeros[moving[0].name] = None
            elif len(moving) == 1:
                before = moving[0]
                part = graph.between(before.name, node.name)
                step = torch.randn(part.widths[0], generator=draw, dtype=torch.float64).to(device)
                self._others.append((before.name, _is_cut(graph, before), part, step))
        self._zeros = tuple(zeros)
        self.nodes = tuple(dict.fromkeys((*zeros, *(name for name, *_ in self._others))))

    def at(self, values: dict[str, Tensor]) -> Tensor | None:
        """Which points are on kinks (N), by the results of `nodes` (N, n); None without any."""
        found: Tensor | None = None
        for name in self._zeros:
            here = (values[name] == 0).any(-1)
            found = here if found is None else found | here
        for name, cut, part, step in self._others:
            z = values[name]
            size = z.abs().amax(-1, keepdim=True).clamp_min(torch.finfo(z.dtype).tiny)
            d = NEAR * size * step
            if cut:
                d = torch.where(z == 0, 0.0, d)
            f = vmap(part.at)
            bend = (f(z + d) - f(z)) + (f(z - d) - f(z))
            here = (bend.abs() > BENT * NEAR * size).any(-1)
            found = here if found is None else found | here
        return found


def _is_cut(graph: Graph, node: fx.Node) -> bool:
    """Whether a node's zeros come from numbers that a ReLU has cut off, and from these alone."""
    while node.name in graph.layers and graph.layers[node.name].title in _KEEPING:
        node = node.all_input_nodes[0]
    return node.name in graph.layers and graph.layers[node.name].slope == 0
