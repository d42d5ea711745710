"""The regions of a network: patterns, vertices, affine maps, volumes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import fmpq, fmpq_mat

from rankcheck.theory.regions.exact import Floats, rational, rational_matrix
from rankcheck.theory.regions.splitting import Complex
from rankcheck.theory.regions.triangulation import triangulate

REGIONS_AT_ONCE = 1 << 12


@dataclass(frozen=True, eq=False)
class Regions:
    r"""Every activation region of one network in a box, in no particular order.

    A region is a d-dimensional polytope on which no hidden neuron changes sign, so that f is affine
    there; neighbours may have the same affine map. The regions tile the box. A neuron that vanishes
    on all of a region counts as inactive there; the Jacobian does not depend on it.

    Attributes:
        weights, biases, slope: the network, L layers.
        low, high: the box, shape (d,).
        cells: the result of the splitting. ``cells.points[cells.members[i:j]]``, with
            i, j = ``cells.starts[r:r + 2]``, are the vertices of region r; see :class:`Complex`.

    The list of regions and the vertices of each are exact as combinatorial data. Floating-point
    numbers (coordinates, interior points, Jacobians, volumes) are rounded; the ``exact_*`` methods
    return rationals.
    """

    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]
    slope: Fraction
    low: Floats
    high: Floats
    cells: Complex

    def __len__(self) -> int:
        return len(self.cells.starts) - 1

    def __repr__(self) -> str:
        widths = (self.weights[0].shape[1], *map(len, self.biases))
        return f"<{len(self)} regions of a network of widths {widths}>"

    @property
    def patterns(self) -> np.ndarray:
        """Which hidden neurons are active, layer after layer: bools (R, n_1 + ... + n_{L−1})."""
        return self.cells.patterns

    def vertices(self, region: int) -> Floats:
        """The vertices of one region, shape (n, d), in no particular order."""
        return self.cells.points[self._members(region)]

    def exact_vertices(self, region: int) -> list[list[Fraction]]:
        """The vertices of one region, in the same order, as rationals."""
        point = self.cells.rationals.point
        return [_fractions(point(v)) for v in self._members(region).tolist()]

    def _members(self, region: int) -> np.ndarray:
        begin, end = self.cells.starts[region : region + 2]
        return self.cells.members[begin:end]

    @cached_property
    def interior(self) -> Floats:
        """The mean of the vertices of each region, shape (R, d): strictly inside.

        Rounding can push it out of a region thinner than about 1e-15: see exact_interior.
        """
        starts = self.cells.starts
        total = np.add.reduceat(self.cells.points[self.cells.members], starts[:-1], axis=0)
        return total / np.diff(starts)[:, None]

    def exact_interior(self, region: int) -> list[Fraction]:
        """The mean of the vertices of one region: strictly inside, whatever its size."""
        return np.mean(np.array(self.exact_vertices(region), dtype=object), axis=0).tolist()

    # Affine maps

    @cached_property
    def _affine(self) -> Floats:
        """(R, n_L, d + 1): Jf beside f − Jf·x."""
        pieces = [
            self._affine_maps(self.patterns[begin : begin + REGIONS_AT_ONCE])
            for begin in range(0, len(self), REGIONS_AT_ONCE)
        ]
        return np.concatenate(pieces)

    def _affine_maps(self, patterns: np.ndarray) -> Floats:
        """One matrix product a layer for all patterns; intermediate arrays are (n_l, R, d + 1)."""
        count, d = len(patterns), len(self.low)
        state = np.broadcast_to(np.eye(d, d + 1)[:, None, :], (d, count, d + 1))
        done = 0
        for layer, (W, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            if layer > 0:
                active = patterns[:, done : done + len(state)].T[..., None]
                state = np.where(active, state, float(self.slope) * state)
                done += len(state)
            state = (W @ state.reshape(len(state), -1)).reshape(len(b), count, d + 1)
            state[..., d] += b[:, None]
        return state.transpose(1, 0, 2)

    @property
    def jacobians(self) -> Floats:
        """Jf on each region, shape (R, n_L, d)."""
        return self._affine[..., :-1]

    @property
    def offsets(self) -> Floats:
        """f(x) − Jf·x on each region, shape (R, n_L)."""
        return self._affine[..., -1]

    def exact_jacobian(self, region: int) -> fmpq_mat:
        """Jf on one region over the rationals, n_L × d."""
        first, *rest = self.rational_weights
        slope, done, J = rational(self.slope), 0, first
        for W in rest:
            rows = J.tolist()
            active = self.patterns[region, done : done + len(rows)].tolist()
            done += len(rows)
            masked = [
                entry if on else slope * entry
                for row, on in zip(rows, active, strict=True)
                for entry in row
            ]
            J = W * fmpq_mat(J.nrows(), J.ncols(), masked)
        return J

    @cached_property
    def rational_weights(self) -> list[fmpq_mat]:
        """W_1, ..., W_L over the rationals."""
        return [rational_matrix(w) for w in self.weights]

    # Volumes

    def volume(self) -> Floats:
        """The d-dimensional volume of each region, shape (R,). The sum is the volume of the box."""
        volumes = np.zeros(len(self))
        for region, corners in simplices(self.cells):
            points = self.cells.points[corners]
            edges = points[:, 1:] - points[:, :1]
            content = np.abs(np.linalg.det(edges)) / math.factorial(len(self.low))
            volumes += np.bincount(region, weights=content, minlength=len(self))
        return volumes

    def exact_volume(self) -> list[Fraction]:
        """The volume of each region as a rational."""
        d, point = len(self.low), self.cells.rationals.point
        volumes = [fmpq(0)] * len(self)
        for region, corners in simplices(self.cells):
            for r, simplex in zip(region.tolist(), corners.tolist(), strict=True):
                origin, *others = map(point, simplex)
                edges = [x - o for other in others for x, o in zip(other, origin, strict=True)]
                volumes[r] += abs(fmpq_mat(d, d, edges).det()) / math.factorial(d)
        return _fractions(volumes)


def simplices(cells: Complex) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """A triangulation of every cell, in pieces of some thousand cells each.

    Yields the cell of each simplex, (T,), and its d + 1 vertices, (T, d + 1), which are rows of
    ``cells.points``.
    """
    count, d = len(cells.starts) - 1, cells.points.shape[1]
    for begin in range(0, count, REGIONS_AT_ONCE):
        starts = cells.starts[begin : min(begin + REGIONS_AT_ONCE, count) + 1]
        used, members = np.unique(cells.members[starts[0] : starts[-1]], return_inverse=True)
        cell, corners = triangulate(members, starts - starts[0], cells.tight[:, used], d)
        yield cell + begin, used[corners]


def _fractions(numbers: list[fmpq]) -> list[Fraction]:
    return [Fraction(int(x.p), int(x.q)) for x in numbers]
