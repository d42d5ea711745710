"""Derivatives of graphs at points, in the point and in the parameters, by bounded memory."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.func import jacrev, jvp, vjp, vmap

from rankcheck.audit.graph.graph import Graph

__all__ = ["gradient_rows", "jacobians", "size", "traces"]


def size(graph: Graph) -> int:
    """How many numbers its nodes compute at one point, the point among them."""
    numbers = graph.widths[0]
    for shape in graph.shapes.values():
        count = 1
        for length in shape:
            count *= length
        numbers += count
    return numbers


def jacobians(graph: Graph, X: Tensor, chunk: int | None = None) -> Tensor:
    """Jf(x_i) of points (N, n_0), as (N, n_L, n_0), by the mode that takes fewer products.

    Args:
        chunk: so many rows or columns of the Jacobians at a time.
    """
    before, after = graph.widths
    if before >= after:
        return vmap(jacrev(graph.at, chunk_size=chunk))(X)
    directions = torch.eye(before, dtype=X.dtype, device=X.device)

    def at(x: Tensor) -> Tensor:
        def along(v: Tensor) -> Tensor:
            column: Tensor = jvp(graph.at, (x,), (v,))[1]
            return column

        return vmap(along, out_dims=1, chunk_size=chunk)(directions)

    return vmap(at)(X)


def traces(graph: Graph, X: Tensor, chunk: int | None = None) -> Tensor:
    """tr Θ(x_i, x_i), the squared derivatives of f(x_i) in all parameters, summed, (N).

    Each parameter counts once, wherever it is used. `chunk` is as for `jacobians`.
    """
    parameters = graph.parameters

    def at(x: Tensor) -> Tensor:
        value, pull = vjp(lambda p: graph.at(x, p), parameters)[:2]

        def squared(row: Tensor) -> Tensor:
            gradients = pull(row)[0].values()
            return torch.stack([(g * g).sum() for g in gradients]).sum()

        rows = torch.eye(len(value), dtype=value.dtype, device=value.device)
        return vmap(squared, chunk_size=chunk)(rows).sum()

    return X.new_zeros(len(X)) if not parameters else vmap(at)(X)


def gradient_rows(graph: Graph, X: Tensor) -> Tensor:
    """The derivatives of f(x_i) in all parameters, (N n_L, P), the output fastest."""
    parameters = graph.parameters

    def at(x: Tensor) -> dict[str, Tensor]:
        gradients: dict[str, Tensor] = jacrev(lambda p: graph.at(x, p))(parameters)
        return gradients

    found = vmap(at)(X)
    outputs = graph.widths[1]
    return torch.cat([g.reshape(len(X) * outputs, -1) for g in found.values()], -1)
