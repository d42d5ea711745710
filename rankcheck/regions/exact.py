"""Vertices of linear regions in rational arithmetic, which decides every doubtful sign."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
from flint import fmpq, fmpq_mat

Floats: TypeAlias = np.ndarray


def rational(number: float | Fraction) -> fmpq:
    """The exact rational value of a float or Fraction."""
    return fmpq(*Fraction(number).as_integer_ratio())


def rational_matrix(entries: Floats) -> fmpq_mat:
    """The exact rational matrix of a matrix of floats."""
    rows, columns = entries.shape
    return fmpq_mat(rows, columns, [rational(x) for x in entries.ravel().tolist()])


class RationalVertices:
    """Exact coordinates and pre-activations of vertices, computed on first use.

    Args:
        weights, biases: the hidden layers.
        slope: of the activation.
        corners: (n, d), the vertices 0..n−1; each later one lies between two earlier ones.
    """

    def __init__(
        self,
        weights: Sequence[Floats],
        biases: Sequence[Floats],
        slope: Fraction,
        corners: Floats,
    ) -> None:
        self._weights, self._biases, self._slope = weights, biases, slope
        self._corners = corners
        self._points: dict[int, list[fmpq]] = {}
        # Vertices are added in families: the first of each, then parents, layer and neuron.
        self._firsts, self._count = [0], len(corners)
        self._families: list[tuple[np.ndarray, np.ndarray, int, int]] = []
        self._preactivations: dict[tuple[int, int], list[fmpq]] = {}

    @cached_property
    def layers(self) -> list[tuple[fmpq_mat, list[fmpq]]]:
        """Weights and biases."""
        biases = [[rational(x) for x in b.tolist()] for b in self._biases]
        return list(zip(map(rational_matrix, self._weights), biases, strict=True))

    def add(self, above: np.ndarray, below: np.ndarray, layer: int, neuron: int) -> None:
        """Add vertices where the neuron vanishes between ``above`` (> 0) and ``below`` (< 0)."""
        self._firsts.append(self._count)
        self._families.append((above, below, layer, neuron))
        self._count += len(above)

    def _parents(self, vertex: int) -> tuple[int, int, int, int]:
        family = bisect_right(self._firsts, vertex) - 1
        above, below, layer, neuron = self._families[family - 1]
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
        return self._points[vertex]

    def preactivations(self, vertex: int, layer: int) -> list[fmpq]:
        """α̃_{layer+1} at a vertex (``layer`` counts from 0)."""
        known = self._preactivations.get((vertex, layer))
        if known is None:
            known = self.evaluate(self.point(vertex), layer)
            self._preactivations[vertex, layer] = known
        return known

    def evaluate(self, point: list[fmpq], layer: int) -> list[fmpq]:
        """α̃_{layer+1} at any rational point."""
        slope = rational(self._slope)
        h = z = point
        for W, b in self.layers[: layer + 1]:
            z = [x + y for x, y in zip((W * fmpq_mat(len(h), 1, h)).entries(), b, strict=True)]
            h = [x if x >= 0 else slope * x for x in z]
        return z
