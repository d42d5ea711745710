"""What is claimed of a block or a network: what chains with the same map cost at least."""

from __future__ import annotations

from fractions import Fraction

import torch
from torch import Tensor

from rankcheck.audit.graph.graph import Graph
from rankcheck.linalg import power

__all__ = ["least_cost", "unclaimed"]


def least_cost(graph: Graph, s: Tensor, clear: Tensor, kinks: Tensor) -> float | None:
    r"""What every ReLU chain of the graph's depth L that computes the same function costs at least.

    .. math:: L \max_x \|Jf(x)\|_{S^{2/L}}^{2/L}

    over the points off the kinks of the graph. There f is differentiable, which is all that
    rank.jacobian-bounds-cost-at-kinks asks of a chain that computes f: where the chain has a unit
    at its kink, and off these, rank.jacobian-bounds-cost.

    Args:
        s: the singular values (N, r) of the Jacobians.
        clear: which of them are not rounding.
        kinks: which points are on kinks of the graph (N).

    Returns:
        None for a graph of which `unclaimed` says why, or with kinks at all points.
    """
    smooth = ~kinks
    if unclaimed(graph) or not bool(smooth.any()):
        return None
    powers = torch.where(clear, power(s, Fraction(2, graph.depth)), 0.0).sum(-1)
    return graph.depth * float(powers[smooth].max())


def unclaimed(graph: Graph) -> str:
    """Why no theorem speaks of a graph, in a sentence; empty if one does."""
    if graph.piecewise:
        if graph.depth == 1 and not all(layer.affine for layer in graph.layers.values()):
            return "its one layer has an activation beside it, and chains of one layer are affine"
        return "" if graph.depth else "it has no weights, so there is no chain to compare it with"
    others = [layer.title for layer in graph.layers.values() if not layer.piecewise]
    names = " and ".join(dict.fromkeys(others))
    return f"no theorem here is about {names}: the map is not piecewise linear"
