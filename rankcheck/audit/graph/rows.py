"""Parts of a network that treat rows, such as tokens, alike and alone: as maps of one row.

The Jacobian of such a part at T rows is T Jacobians of one row along a diagonal. They are measured
each for itself, and a row is a point.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from rankcheck.audit.graph.blocks import Block
from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.linear_map import DenseMap, DiagonalMap, LinearMap

__all__ = ["in_rows", "number_of_rows", "of_one_row", "rows_of"]


def number_of_rows(graph: Graph) -> int | None:
    """How many rows a point of the graph has, each treated alike and alone.

    Returns:
        None if rows are not treated alike and alone, or there is only one.
    """
    rows = math.prod(graph.shape[:-1])
    if rows == 1 or not all(layer.rowwise for layer in graph.layers.values()):
        return None
    return rows


def of_one_row(graph: Graph) -> Graph:
    """What such a graph does with one row; with the same parameters, and maps of one copy.

    Args:
        graph: of which `number_of_rows` is not None.
    """
    shapes = {name: _row(shape) for name, shape in graph.shapes.items()}
    layers = {
        name: replace(layer, maps=tuple(map(_one_copy, layer.maps)))
        for name, layer in graph.layers.items()
    }
    return replace(graph, shape=_row(graph.shape), shapes=shapes, layers=layers)


def in_rows(part: Block) -> Block | None:
    """A block of one row; None if it does not treat several rows alike and alone."""
    if number_of_rows(part.graph) is None:
        return None
    return replace(
        part,
        graph=of_one_row(part.graph),
        branch=None if part.branch is None else of_one_row(part.branch),
        shortcut=None if part.shortcut is None else of_one_row(part.shortcut),
    )


def rows_of(graph: Graph, X: Tensor, most: int) -> Tensor:
    """Rows of points (N, n_0) of such a graph, (K, n_0/T), K ≤ `most`.

    They are all NT rows, or `most` of them: of points at even distances, and of every place equally
    often.
    """
    rows = math.prod(graph.shape[:-1])
    each = X.reshape(len(X), rows, -1)
    if len(X) * rows <= most:
        return each.flatten(0, 1)
    number = torch.arange(most)
    return each[number * len(X) // most, number % rows]


def _row(shape: tuple[int, ...]) -> tuple[int, ...]:
    """As many axes as before, all of length 1 but the last."""
    return (*(1 for _ in shape[:-1]), *shape[-1:])


def _one_copy(one: LinearMap) -> LinearMap:
    return replace(one, copies=1) if isinstance(one, DenseMap | DiagonalMap) else one
