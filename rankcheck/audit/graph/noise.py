r"""The rounding of the Jacobian of a graph, estimated by one perturbed evaluation.

The rounding of a node's result is at most a few ε of it, and that of a product with weights of n
numbers in a row at most (n + 1) ε of the sum of the absolute values, to first order in ε, twice the
unit of rounding. So the Jacobian is taken once more, with every parameter changed by (n + 1) ε of
itself and every node's result by `NODE` ε of itself, up or down by signs that are drawn once and
are always the same. Derivatives change by the same shares, as a node is changed by a factor. Those
of functions such as tanh, 1 − tanh², err by some ε of 1 and not of themselves, so these are changed
by `NODE` ε besides. What the Jacobian changes by is a rounding error that could have been: errors
in one product add up like √n at random, and the change is made as if they were n, so it is too
large as a rule.

Its Frobenius norm, no less than the operator norm by which singular values can change, is estimated
by `PROBES` Gaussian vectors v, for which the mean of ‖ΔJ v‖² is ‖ΔJ‖_F², and doubled for safety. It
is an estimate and no bound: `tests/audit/test_graph_points.py` compares it with the true errors, on
networks where these are known. At a point whose unit is within rounding of a kink, a mask may flip;
then the Jacobian is not known there, and the estimate says so.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable

import torch
from torch import Tensor, fx
from torch.func import jvp, vmap

from rankcheck.audit.graph.graph import Graph, same_names

__all__ = ["PROBES", "Rounding"]

#: ε by which the results of nodes are changed.
NODE = 4
#: Vectors by which the norm of the change is estimated.
PROBES = 4
SAFETY = 2.0
EPSILON = torch.finfo(torch.float64).eps


class Rounding:
    """What estimates the rounding of the Jacobians of one graph."""

    def __init__(self, graph: Graph, device: str = "cpu") -> None:
        draw = torch.Generator().manual_seed(0)

        def signs(shape: tuple[int, ...]) -> Tensor:
            return (torch.randint(0, 2, shape, generator=draw).double() * 2 - 1).to(device)

        self._graph = graph
        self._module = same_names(copy.deepcopy(graph.module), graph)
        with torch.no_grad():
            for p in self._module.parameters():
                terms = math.prod(p.shape[1:]) if p.ndim > 1 else 0
                p.mul_(1 + (terms + 1) * EPSILON * signs(tuple(p.shape)))
        self._factors = {
            name: 1 + NODE * EPSILON * signs((1, *shape)) for name, shape in graph.shapes.items()
        }
        self._smooth = {
            name: NODE * EPSILON * signs((1, *graph.shapes[name]))
            for name, layer in graph.layers.items()
            if not layer.piecewise and not layer.maps and name in graph.shapes
        }
        normal = torch.randn(PROBES, graph.widths[0], generator=draw, dtype=torch.float64)
        self._probes = normal.to(device) / math.sqrt(PROBES)

    def of(self, X: Tensor, J: Tensor | None = None) -> Tensor:
        """An estimate of the rounding of the Jacobians at X (N, n_0), in operator norm, (N).

        Args:
            J: these Jacobians (N, n_L, n_0), if they are known.
        """
        images = self._images(self._graph.at, X) if J is None else J @ self._probes.mT
        difference = self._images(self._at, X) - images
        return SAFETY * difference.square().sum((-1, -2)).sqrt()

    def _images(self, at: Callable[[Tensor], Tensor], X: Tensor) -> Tensor:
        """The products of the Jacobians with the probes, (N, n_L, PROBES)."""

        def images(x: Tensor) -> Tensor:
            def along(v: Tensor) -> Tensor:
                tangent: Tensor = jvp(at, (x,), (v,))[1]
                return tangent

            return vmap(along, out_dims=-1)(self._probes)

        return vmap(images)(X)

    def _at(self, x: Tensor) -> Tensor:
        changed = _Changed(self._module, self._factors, self._smooth)
        value: Tensor = changed.run(x.reshape(1, *self._graph.shape))
        return value.reshape(-1)


class _Changed(fx.Interpreter):
    """Runs a graph and multiplies each tensor in it by a factor of its shape.

    To what is a smooth function of one tensor of its shape, a multiple of this tensor is added that
    is 0 and whose derivative is not.
    """

    def __init__(
        self, module: fx.GraphModule, factors: dict[str, Tensor], smooth: dict[str, Tensor]
    ) -> None:
        super().__init__(module)
        self._factors, self._smooth = factors, smooth

    def run_node(self, n: fx.Node) -> object:
        value = super().run_node(n)
        factor = self._factors.get(n.name)
        if factor is None or n.op == "get_attr" or not torch.is_floating_point(value):
            return value
        if n.name in self._smooth and len(n.all_input_nodes) == 1:
            z = self.env[n.all_input_nodes[0]]
            if z.shape == value.shape:
                value = value + self._smooth[n.name] * (z - z.detach())
        return value * factor
