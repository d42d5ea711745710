"""The regions of a network: patterns, vertices, affine maps, volumes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import fmpq, fmpq_mat

from rankcheck.regions.exact import Floats, rational, rational_matrix
from rankcheck.regions.splitting import Complex


@dataclass(frozen=True, eq=False)
class Regions:
    r"""Every activation region of one network in a box, in no particular order.

    A region is a d-dimensional polytope on which no hidden neuron changes sign, so that f is affine
    there; neighbours may have the same affine map. The regions tile the box. A neuron that vanishes
    on all of a region counts as inactive there; the Jacobian does not depend on it.

    Attributes:
        weights, biases, slope: the network, L layers.
        low, high: the box, shape (d,).
        cells: the vertices as the splitting left them. ``cells.points[cells.members[i:j]]``, with
            i, j = ``cells.starts[r:r + 2]``, are the vertices of region r; see :class:`Complex`.

    Which regions there are, and which vertices each has, is exact. Floating-point numbers
    (vertices, interior points, Jacobians, volumes) are rounded; the ``exact_*`` methods return
    rationals.
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

    @property
    def vertex_error(self) -> float:
        """A bound on how far a coordinate of a float vertex lies from the true vertex."""
        return float(self.cells.errors.max(initial=0.0))

    @property
    def decided_exactly(self) -> int:
        """How many vertices had a sign too close to call in floats, and got it from rationals."""
        return self.cells.decided

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
        rows = self.exact_vertices(region)
        return [sum(column, Fraction(0)) / len(rows) for column in zip(*rows, strict=True)]

    # Affine maps

    @cached_property
    def _affine(self) -> Floats:
        """(n_L, R, d + 1): Jf beside f − Jf·x. One matrix product a layer, for all regions."""
        count, d = len(self), len(self.low)
        identity = np.eye(d, d + 1)[:, None, :]
        state = np.broadcast_to(identity, (d, count, d + 1))
        done = 0
        for layer, (W, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            if layer > 0:
                active = self.patterns[:, done : done + len(state)].T[..., None]
                state = np.where(active, state, float(self.slope) * state)
                done += len(state)
            state = (W @ state.reshape(len(state), -1)).reshape(len(b), count, d + 1)
            state[..., d] += b[:, None]
        return state

    @property
    def jacobians(self) -> Floats:
        """Jf on each region, shape (R, n_L, d)."""
        return self._affine[..., :-1].transpose(1, 0, 2)

    @property
    def offsets(self) -> Floats:
        """f(x) − Jf·x on each region, shape (R, n_L)."""
        return self._affine[..., -1].T

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

    @cached_property
    def simplices(self) -> tuple[np.ndarray, np.ndarray]:
        """A triangulation of every region: of which region (T,), and its d + 1 vertices (T, d + 1).

        Vertices are rows of ``cells.points``. Each face is a cone from its first vertex over its
        facets that do not contain it (Cohen & Hickey 1979), for all regions at once. A facet is the
        set of vertices of the face at which some further constraint is tight; sets of lower
        dimension run out of vertices before they reach d + 1.
        """
        tight = self.cells.tight
        of_vertex, constraint = np.nonzero(tight)
        first = np.searchsorted(of_vertex, np.arange(len(tight) + 1))
        members, starts = self.cells.members, self.cells.starts
        chain = np.empty((len(self), 0), dtype=np.intp)
        region = np.arange(len(self))
        for dimension in range(len(self.low), 0, -1):
            apex = members[starts[:-1]]
            chain = np.column_stack((chain, apex))
            # (face, vertex, constraint tight there but not at the apex of the face)
            face = np.repeat(np.arange(len(apex)), np.diff(starts))
            number = np.diff(first)[members]
            entry = np.repeat(np.arange(len(members)), number)
            offset = np.arange(len(entry)) - np.repeat(np.cumsum(number) - number, number)
            bit = constraint[first[members[entry]] + offset]
            keep = ~tight[apex[face[entry]], bit]
            entry, bit = entry[keep], bit[keep]
            key = face[entry] * tight.shape[1] + bit
            order = np.argsort(key, kind="stable")
            key, vertex, face = key[order], members[entry[order]], face[entry[order]]
            begins = np.flatnonzero(np.diff(key, prepend=-1))
            sizes = np.diff(begins, append=len(key))
            face = face[begins]
            # A face of this dimension needs as many vertices; each is counted once.
            enough = sizes >= dimension
            once = _first_of_each(face, tight, vertex, begins) & enough
            taken = np.repeat(once, sizes)
            members, sizes, face = vertex[taken], sizes[once], face[once]
            starts = np.concatenate(([0], np.cumsum(sizes)))
            chain, region = chain[face], region[face]
        return region, np.column_stack((chain, members[starts[:-1]]))

    def volume(self) -> Floats:
        """The d-dimensional volume of each region, shape (R,). They add up to that of the box."""
        region, corners = self.simplices
        points = self.cells.points[corners]
        edges = points[:, 1:] - points[:, :1]
        content = np.abs(np.linalg.det(edges)) / math.factorial(len(self.low))
        return np.bincount(region, weights=content, minlength=len(self))

    def exact_volume(self) -> list[Fraction]:
        """The volume of each region as a rational."""
        region, corners = self.simplices
        d, point = len(self.low), self.cells.rationals.point
        volumes = [fmpq(0)] * len(self)
        for r, simplex in zip(region.tolist(), corners.tolist(), strict=True):
            origin, *others = map(point, simplex)
            edges = [x - o for other in others for x, o in zip(other, origin, strict=True)]
            volumes[r] += abs(fmpq_mat(d, d, edges).det()) / math.factorial(d)
        return _fractions(volumes)


def _fractions(numbers: list[fmpq]) -> list[Fraction]:
    return [Fraction(int(x.p), int(x.q)) for x in numbers]


def _first_of_each(
    face: np.ndarray, tight: np.ndarray, vertex: np.ndarray, begins: np.ndarray
) -> np.ndarray:
    """Which sets of vertices of a face are new: two are equal when all constraints tight on one
    are tight on the other, as each holds every vertex of the face where its constraint is tight.
    """
    if len(begins) == 0:
        return np.zeros(0, dtype=bool)
    closure = np.packbits(np.bitwise_and.reduceat(tight[vertex], begins, axis=0), axis=1)
    rows = np.column_stack((face[:, None].view(np.uint8).reshape(len(face), -1), closure))
    keys = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()
    once = np.zeros(len(begins), dtype=bool)
    once[np.unique(keys, return_index=True)[1]] = True
    return once
