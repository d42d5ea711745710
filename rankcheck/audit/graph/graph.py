"""What a network computes, as a graph of operations that are all known by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, fx
from torch.func import functional_call

from rankcheck.audit.graph.layer import Layer
from rankcheck.audit.graph.linear_map import DiagonalMap

__all__ = ["Graph", "same_names"]


@dataclass(frozen=True, eq=False)
class Graph:
    """A network that need not be a chain, in float64 on the CPU, in eval mode.

    Points go in and come out flattened, (N, n_0) and (N, n_L). The network is called on one point
    at a time, with a first axis of length 1 (`torch.vmap` takes many), so that no point sees
    another one, and sizes in its graph are numbers.

    Attributes:
        module: of one input and one output; parameters and buffers have the names of the module
            that was traced.
        shape: of one point as the module takes it, without the first axis.
        layers: what is known of each operation, by the name of its node, in order.
        shapes: of what each node computes at one point, without the first axis.
        source: what it was read from, as in `Model`.
        assumed: what was assumed when it was read, a sentence each.
    """

    module: fx.GraphModule
    shape: tuple[int, ...]
    layers: Mapping[str, Layer]
    shapes: Mapping[str, tuple[int, ...]]
    source: str
    assumed: tuple[str, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        """With the names of the nodes, as `torch.fx` traces a graph anew where it is unpickled."""
        return {**vars(self), "names": [node.name for node in self.module.graph.nodes]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        names = state.pop("names")
        vars(self).update(state)
        _name(self.module, names)

    @cached_property
    def parameters(self) -> dict[str, Tensor]:
        """The parameters that occur, each once, by name; without gradient."""
        return {name: p.detach() for name, p in self.module.named_parameters()}

    @property
    def stored_cost(self) -> float:
        """‖θ‖², each parameter counted once."""
        return math.fsum(float((p * p).sum()) for p in self.parameters.values())

    @property
    def piecewise(self) -> bool:
        """Whether it is continuous and piecewise linear."""
        return all(layer.piecewise for layer in self.layers.values())

    @cached_property
    def depth(self) -> int:
        """The largest number of layers with weights on a path from the input to the output.

        Norms are none: a batch norm can be folded into the layer beside it.
        """
        longest: dict[fx.Node, int] = {}
        for node in self.module.graph.nodes:
            maps = self.layers[node.name].maps if node.name in self.layers else ()
            before = max((longest[one] for one in node.all_input_nodes), default=0)
            longest[node] = before + any(not isinstance(each, DiagonalMap) for each in maps)
        return max(longest.values())

    @cached_property
    def widths(self) -> tuple[int, int]:
        """(n_0, n_L)."""
        with torch.no_grad():
            return math.prod(self.shape), self.at(
                torch.zeros(math.prod(self.shape)).double()
            ).numel()

    def at(self, x: Tensor, parameters: Mapping[str, Tensor] | None = None) -> Tensor:
        """f(x) of one point x (n_0), with these parameters in place of its own."""
        point = x.reshape(1, *self.shape)
        if parameters is None:
            return self.module(point).reshape(-1)
        return functional_call(self.module, dict(parameters), (point,)).reshape(-1)

    def __call__(self, X: Tensor) -> Tensor:
        """f(x_i) of points (N, n_0), as (N, n_L)."""
        with torch.no_grad():
            return torch.vmap(self.at)(X)

    def values(self, X: Tensor, names: Iterable[str]) -> dict[str, Tensor]:
        """What these nodes compute at points (N, n_0), flattened (N, n); the input is `input`."""
        wanted = tuple(names)

        def at(x: Tensor) -> tuple[Tensor, ...]:
            seen: dict[str, Tensor] = {}
            _Recorder(self.module, seen, wanted).run(x.reshape(1, *self.shape))
            return tuple(seen[name].reshape(-1) for name in wanted)

        with torch.no_grad():
            return dict(zip(wanted, torch.vmap(at)(X), strict=True))

    def between(self, start: str, end: str) -> Graph:
        """What lies between two nodes, as a graph of its own.

        Args:
            start, end: names of nodes; every path from the input to `end` passes `start`.
        """
        old = self.module.graph
        nodes = {node.name: node for node in old.nodes}
        needed: set[fx.Node] = set()
        waiting = [nodes[end]]
        while waiting:
            node = waiting.pop()
            if node.name != start and node not in needed:
                needed.add(node)
                waiting += node.all_input_nodes
        new, copied = fx.Graph(), {}
        copied[nodes[start]] = new.placeholder("input")
        copied[nodes[start]].name = "input"
        for node in old.nodes:
            if node in needed:
                copied[node] = new.node_copy(node, copied.__getitem__)
                copied[node].name = node.name
        new.output(copied[nodes[end]])
        layers = {n.name: self.layers[n.name] for n in new.nodes if n.name in self.layers}
        return replace(
            self,
            module=fx.GraphModule(self.module, new),
            shape=self.shapes[start],
            layers=layers,
            shapes={
                "input": self.shapes[start],
                **{n.name: self.shapes[n.name] for n in needed if n.name in self.shapes},
            },
        )

    def map_parameters(self, change: Callable[[Tensor], Tensor]) -> dict[str, Tensor]:
        """The parameters, each changed, as `at` takes them."""
        return {name: change(p) for name, p in self.parameters.items()}


def same_names(copied: fx.GraphModule, graph: Graph) -> fx.GraphModule:
    """A copy of the graph's module, whose nodes get their names back."""
    return _name(copied, [node.name for node in graph.module.graph.nodes])


def _name(module: fx.GraphModule, names: Iterable[str]) -> fx.GraphModule:
    for node, name in zip(module.graph.nodes, names, strict=True):
        node.name = name
    return module


class _Recorder(fx.Interpreter):
    """Runs a graph and keeps what some of its nodes compute."""

    def __init__(
        self, module: fx.GraphModule, seen: dict[str, Tensor], wanted: tuple[str, ...]
    ) -> None:
        super().__init__(module)
        self._seen, self._wanted = seen, wanted

    def run_node(self, n: fx.Node) -> object:
        value = super().run_node(n)
        if n.name in self._wanted:
            self._seen[n.name] = value
        return value
