"""Vertices of linear regions in rational arithmetic, which decides every doubtful sign."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from flint import fmpq, fmpq_mat

Floats: TypeAlias = np.ndarray


def rational(number: float | Fraction) -> fmpq:
    """The exact rational value of a float or Fraction."""
    return fmpq(*number.as_integer_ratio())


def rational_matrix(entries: Floats) -> fmpq_mat:
    """The exact rational matrix of a matrix of floats."""
    rows, columns = entries.shape
    return fmpq_mat(rows, columns, [rational(x) for x in entries.ravel().tolist()])


class RationalVertices:
    """Exact coordinates and pre-activations of vertices, computed on first use.

    Args:
        weights, biases: the layers of N networks, (N, n_l, n_{l−1}) and (N, n_l).
        slopes: of their activations.
        corners: (n, d), the vertices 0..n−1; each later one lies between two earlier ones.
        owner: (n,), the network of each corner, and of the vertices between corners.

    Attributes:
        families: the later vertices in their order, as they were added: those above, those below,
            the layer, and the neuron.
    """

    def __init__(
        self,
        weights: Sequence[Floats],
        biases: Sequence[Floats],
        slopes: Sequence[Fraction],
        corners: Floats,
        owner: np.ndarray,
    ) -> None:
        self._weights, self._biases, self._slopes = weights, biases, slopes
        self._corners, self._owner = corners, dict(enumerate(owner.tolist()))
        self._points: dict[int, list[fmpq]] = {}
        self._firsts, self._count = [0], len(corners)
        self.families: list[tuple[np.ndarray, np.ndarray, int, int]] = []
        self._preactivations: dict[tuple[int, int], list[fmpq]] = {}
        self._layers: dict[tuple[int, int], tuple[fmpq_mat, list[fmpq]]] = {}

    def add(self, above: np.ndarray, below: np.ndarray, layer: int, neuron: int) -> None:
        """Add vertices where the neuron vanishes between ``above`` (> 0) and ``below`` (< 0)."""
        self._firsts.append(self._count)
        self.families.append((above, below, layer, neuron))
        self._count += len(above)

    def _parents(self, vertex: int) -> tuple[int, int, int, int]:
        family = bisect_right(self._firsts, vertex) - 1
        above, below, layer, neuron = self.families[family - 1]
        child = vertex - self._firsts[family]
        return int(above[child]), int(below[child]), layer, neuron

    def point(self, vertex: int) -> list[fmpq]:
        """The d coordinates of a vertex."""
        waiting = [vertex]
        while waiting:
            v = waiting[-1]
            if v < len(self._corners):
                self._points[v] = [rational(x) for x in self._corners[v].tolist()]
            if v in self._points:
                waiting.pop()
                continue
            above, below, layer, neuron = self._parents(v)
            unknown = [p for p in (above, below) if p not in self._points]
            if unknown:
                waiting.extend(unknown)
                continue
            p, q = (self.preactivations(end, layer)[neuron] for end in (above, below))
            share = p / (p - q)
            ends = zip(self._points[above], self._points[below], strict=True)
            self._points[v] = [x + share * (y - x) for x, y in ends]
            self._owner[v] = self._owner[above]
        return self._points[vertex]

    def preactivations(self, vertex: int, layer: int) -> list[fmpq]:
        """α̃_{layer+1} at a vertex (``layer`` counts from 0)."""
        known = self._preactivations.get((vertex, layer))
        if known is None:
            point = self.point(vertex)
            known = self.evaluate(point, layer, self._owner[vertex])
            self._preactivations[vertex, layer] = known
        return known

    def evaluate(self, point: list[fmpq], layer: int, network: int = 0) -> list[fmpq]:
        """α̃_{layer+1} of a network at any rational point."""
        slope = rational(self._slopes[network])
        h = z = point
        for k in range(layer + 1):
            W, b = self._layer(k, network)
            z = [x + y for x, y in zip((W * fmpq_mat(len(h), 1, h)).entries(), b, strict=True)]
            h = [x if x >= 0 else slope * x for x in z]
        return z

    def _layer(self, layer: int, network: int) -> tuple[fmpq_mat, list[fmpq]]:
        known = self._layers.get((layer, network))
        if known is None:
            bias = [rational(x) for x in self._biases[layer][network].tolist()]
            known = rational_matrix(self._weights[layer][network]), bias
            self._layers[layer, network] = known
        return known
