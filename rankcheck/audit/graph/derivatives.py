"""Derivatives of graphs at points, in the point and in the parameters, by bounded memory."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.func import jacrev, jvp, vjp, vmap

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.largest import largest_singular_values
from rankcheck.audit.model import ModelError

__all__ = ["jacobians", "kernel_top", "largest", "traces"]

#: The derivatives in all parameters are kept if they are no more numbers than this,
ENTRIES = 2**23
#: or if they have no more rows or columns.
FEW = 2


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


def largest(graph: Graph, x: Tensor, number: int) -> Tensor:
    """The largest singular values of Jf(x) at one point x (n_0), by products alone.

    Raises:
        ModelError: if they are not found; they are too close together.
    """
    pull = vjp(graph.at, x)[1]

    def apply(v: Tensor) -> Tensor:
        image: Tensor = jvp(graph.at, (x,), (v.to(x.device),))[1]
        return image.cpu()

    def transpose(u: Tensor) -> Tensor:
        gradient: Tensor = pull(u.to(x.device))[0]
        return gradient.cpu()

    try:
        return largest_singular_values(apply, transpose, graph.widths[0], number)
    except ArithmeticError as error:
        raise ModelError(
            f"a Jacobian of {' × '.join(map(str, reversed(graph.widths)))} is too large "
            f"for its matrix, and of it {error}"
        ) from error


def kernel_top(graph: Graph, X: Tensor) -> float:
    """The largest eigenvalue of Θ(X, X), over all parameters, each counted once."""
    parameters = graph.parameters
    numbers = sum(p.numel() for p in parameters.values())
    rows = len(X) * graph.widths[1]
    if not numbers:
        return 0.0
    if min(rows, numbers) <= FEW or rows * numbers <= ENTRIES:
        R = _gradient_rows(graph, X)
        gram = R @ R.mT if rows <= numbers else R.mT @ R
        return max(0.0, float(torch.linalg.eigvalsh(gram)[-1]))

    def values(p: dict[str, Tensor]) -> Tensor:
        return vmap(lambda x: graph.at(x, p))(X).reshape(-1)

    pull = vjp(values, parameters)[1]

    def apply(v: Tensor) -> Tensor:
        parts = v.to(X.device).split([p.numel() for p in parameters.values()])
        tangents = {
            name: part.reshape(p.shape)
            for (name, p), part in zip(parameters.items(), parts, strict=True)
        }
        image: Tensor = jvp(values, (parameters,), (tangents,))[1]
        return image.cpu()

    def transpose(u: Tensor) -> Tensor:
        gradients = pull(u.to(X.device))[0].values()
        return torch.cat([g.reshape(-1) for g in gradients]).cpu()

    return float(largest_singular_values(transpose, apply, rows, 1)[0]) ** 2


def _gradient_rows(graph: Graph, X: Tensor) -> Tensor:
    """The derivatives of f(x_i) in all parameters, (N n_L, P), the output fastest."""

    def at(x: Tensor) -> dict[str, Tensor]:
        gradients: dict[str, Tensor] = jacrev(lambda p: graph.at(x, p))(graph.parameters)
        return gradients

    rows = len(X) * graph.widths[1]
    return torch.cat([g.reshape(rows, -1) for g in vmap(at)(X).values()], -1)
