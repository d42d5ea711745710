r"""Splitting boxes into the cells on which no hidden neuron changes sign.

**Method.** The cells after some neurons form a polyhedral complex, kept as a pool of vertices and
the list of vertices of each cell. The next neuron is affine on every cell, so its signs at the
vertices tell which cells it cuts. A cut cell gets a new vertex on each edge whose ends have
opposite signs, and becomes two. Two vertices of a cell span an edge exactly when no third vertex of
the cell satisfies all the constraints that are tight at both (Fukuda & Prodon, *Double description
method revisited*, 1996); "constraints" are the faces of the box and the earlier neurons, which have
one sign on each cell. General position is not assumed: vertices of any degree, duplicated neurons,
pairs ±x and neurons that vanish on a whole cell are not special cases.

All cells that a neuron cuts are split together, in numpy. So are those of many networks of the same
widths: a vertex belongs to one network, and the networks share the pools and nothing else.

**Numbers.** The combinatorics is exact; coordinates are rounded. Every float value y (a coordinate
or a pre-activation at a vertex) has a bound e on its error, and its sign is known when |y| > e. All
other signs are decided in rational arithmetic (every float is a rational number), and the vertex
then gets correctly rounded values. With u = 2⁻⁵³ and γ = (n + 4)u:

* a layer of fan-in n: e(Wh + b) = |W|(e(h) + γ|h|) + γ|b|, and
  e(σ_a(z)) = max(1, |a|)(e(z) + 2u|z|);
* a vertex at the share t = p/(p + q) of the way from y₀ to y₁, where the neuron is p > 0 at one end
  and −q < 0 at the other, with errors e_p < p and e_q < q:
  |δt| ≤ 4u + (q·e_p + p·e_q)/((p + q)(p + q − e_p − e_q)) and
  e(y) = max(e(y₀), e(y₁)) + |δt|(|y₁ − y₀| + e(y₀) + e(y₁)) + 4u(|y₀| + |y₁|).

The bounds are raised by 2⁻²⁰ for their own rounding, and kept above 2⁻⁸⁰⁰ unless they are exactly
zero, so that nothing underflows. Most signs follow without numbers: between two vertices where a
neuron is ≥ 0 it is ≥ 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from flint import fmpq

from rankcheck.theory.regions.exact import Floats, RationalVertices
from rankcheck.theory.regions.ragged import blocks, pieces, starts_of, with_room

ZERO, POSITIVE, NEGATIVE, MIXED = 0, 1, 2, 3
"""Codes of signs. The code of a cell is the bitwise or of the codes of its vertices."""

UNIT = 2.0**-53
RAISED = 1 + 2.0**-20
TINY = 2.0**-400
PAIRS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Complex:
    """The cells of boxes: a pool of vertices, and for each cell its vertices and its signs.

    ``points`` (V, d) holds every vertex once, each coordinate within ``errors`` (V, d) of the true
    one. Cell i has the vertices ``members[starts[i]:starts[i + 1]]``. ``patterns`` (R, H) tells for
    each hidden neuron whether it is positive inside. ``tight`` (words, V) has a bit, 64 to a word,
    for each of the 2d faces of the box and each of the H hidden neurons: set where it vanishes at
    the vertex (of equal or opposite neurons of a layer, only the first is marked). ``networks``
    (R,) is the number of the network of each cell, and ascends; cells of several networks have no
    vertex in common. ``decided`` counts the vertices that needed rational arithmetic.
    """

    points: Floats
    errors: Floats
    members: np.ndarray
    starts: np.ndarray
    patterns: np.ndarray
    tight: np.ndarray
    networks: np.ndarray
    rationals: RationalVertices
    decided: int


def split_boxes(
    weights: Sequence[Floats],
    biases: Sequence[Floats],
    slopes: Sequence[Fraction],
    low: Floats,
    high: Floats,
    *,
    exact: bool = False,
) -> Complex:
    """The cells of N boxes, each for the hidden layers of its own network.

    Args:
        weights, biases: of each layer (N, n_l, n_{l−1}) and (N, n_l).
        slopes: N of them.
        low, high: the corners (N, d).
        exact: decide every sign that needs numbers in rational arithmetic.
    """
    work = _Splitting(weights, biases, slopes, low, high, exact)
    for layer, b in enumerate(biases):
        work.enter(layer)
        for neuron in range(b.shape[1]):
            work.split(neuron)
        work.leave()
    return work.result()


class _Splitting:
    """The complex while it is split.

    Vertices 0..count−1 and cells 0..len−1 are rows of arrays with spare room at the end. Cell i has
    the vertices ``members[starts[i]:starts[i] + sizes[i]]``; members of cells that have been split
    are removed at the end of the layer. Vertex v belongs to the network ``owner[v]``.
    """

    def __init__(
        self,
        weights: Sequence[Floats],
        biases: Sequence[Floats],
        slopes: Sequence[Fraction],
        low: Floats,
        high: Floats,
        exact: bool,
    ) -> None:
        self.weights, self.biases, self.exact = weights, biases, exact
        self.slope = np.array([float(a) for a in slopes])[:, None]
        networks, self.d = low.shape
        d = self.d
        upper = corner_bits(d)
        corners = np.where(upper, high[:, None], low[:, None]).reshape(-1, d)
        self.owner = np.repeat(np.arange(networks), len(upper))
        upper = np.tile(upper, (networks, 1))
        self.rationals = RationalVertices(weights, biases, slopes, corners, self.owner)
        self.count = len(corners)
        words = math.ceil((2 * d + sum(b.shape[1] for b in biases)) / 64)
        self.tight = np.zeros((words, self.count), dtype=np.uint64)
        for axis in range(d):
            self._mark(2 * axis, ~upper[:, axis])
            self._mark(2 * axis + 1, upper[:, axis])
        # Coordinates, then pre-activations of the current layer, and bounds on their errors.
        self.values = corners
        self.errors = np.zeros_like(corners)
        self.codes = np.zeros((self.count, 0), dtype=np.uint8)
        self.members = np.arange(self.count)
        self.sizes = np.full(networks, 2**d)
        self.starts = starts_of(self.sizes)[:-1]
        self.patterns = np.zeros((networks, 0), dtype=bool)
        self.layer, self.first_bit, self.decided = -1, 2 * d, 0

    def _mark(self, bit: int, where: np.ndarray, start: int = 0) -> None:
        word, shift = divmod(bit, 64)
        self.tight[word, start : self.count] |= where.astype(np.uint64) << np.uint64(shift)

    # Layers

    def enter(self, layer: int) -> None:
        """Compute the pre-activations of the next layer at all vertices."""
        W, b = self.weights[layer], self.biases[layer]
        old, bound = self.values[: self.count], self.errors[: self.count]
        owner = self.owner = self.owner[: self.count]
        h, e = old, bound
        if layer > 0:
            z, slope = old[:, self.d :], self.slope[owner]
            h = np.where(z > 0, z, slope * z)
            steepest = np.maximum(1.0, np.abs(slope))
            e = steepest * (bound[:, self.d :] + 2 * UNIT * np.abs(z))
        # Against underflow every nonzero factor is at least TINY.
        gamma = (W.shape[2] + 4) * UNIT
        size = _at_least_tiny(e + gamma * np.abs(h))
        with np.errstate(over="ignore", invalid="ignore"):
            z = _products(W, h, owner) + b[owner]
            e = _products(_at_least_tiny(np.abs(W)), size, owner)
            e = RAISED * (e + gamma * _at_least_tiny(np.abs(b))[owner])
        self.values = np.concatenate((old[:, : self.d], z), axis=1)
        self.errors = np.concatenate((bound[:, : self.d], e), axis=1)
        self.codes = np.full(z.shape, MIXED, dtype=np.uint8)
        self.tight = self.tight[:, : self.count].copy()
        self.layer = layer
        self.first = _equal_up_to_sign(W, b)
        self._decide(0)
        self.cell_codes = np.bitwise_or.reduceat(self.codes[self.members], self.starts, axis=0)
        self.origin = np.arange(len(self.sizes))
        self.cells, self.used = len(self.sizes), len(self.members)

    def leave(self) -> None:
        """Store the signs of the layer on all cells, and drop the members of split cells."""
        n = self.cells
        self.sizes = self.sizes[:n].copy()
        _, living = blocks(self.starts[:n], self.sizes)
        self.members, self.starts = self.members[living], starts_of(self.sizes)[:-1]
        positive = self.cell_codes[:n] == POSITIVE
        self.patterns = np.concatenate((self.patterns[self.origin[:n]], positive), axis=1)
        self.first_bit += self.first.shape[1]

    def _decide(self, start: int) -> None:
        """Decide the signs that ``codes`` hold as MIXED, for the vertices from ``start`` on.

        Afterwards every pre-activation is zero or exceeds its error bound, as its code says.
        """
        d, rows = self.d, slice(start, self.count)
        codes = self.codes[rows]
        z, e = self.values[rows, d:], self.errors[rows, d:]
        seen = (z > e) * np.uint8(POSITIVE) | (z < -e) * np.uint8(NEGATIVE)
        certain_zero = (codes == MIXED) & (e == 0) & (z == 0)
        doubtful = (codes != ZERO) & (seen == ZERO) & ~certain_zero
        if self.exact:
            doubtful |= codes == MIXED
        np.copyto(codes, seen, where=codes == MIXED)
        for row in np.flatnonzero(doubtful.any(axis=1)).tolist():
            self._correct(start + row)
        zero = codes == ZERO
        z[zero] = 0
        e[zero] = 0

    def _correct(self, vertex: int) -> None:
        """Give one vertex its correctly rounded values and exact signs."""
        point = self.rationals.point(vertex)
        z = self.rationals.preactivations(vertex, self.layer)
        exact = [_nearest(y) for y in (*point, *z)]
        self.values[vertex] = exact
        self.errors[vertex] = [
            0 if y == 0 else UNIT * abs(x) + TINY**2
            for x, y in zip(exact, (*point, *z), strict=True)
        ]
        self.codes[vertex] = [POSITIVE if y > 0 else NEGATIVE if y < 0 else ZERO for y in z]
        self.decided += 1

    # One neuron

    def split(self, neuron: int) -> None:
        """Split every cell on which the neuron of this layer takes both signs."""
        distinct = self.first[self.owner[: self.count], neuron] == neuron
        zero = self.codes[: self.count, neuron] == ZERO
        self._mark(self.first_bit + neuron, zero & distinct)
        cut = np.flatnonzero(self.cell_codes[: self.cells, neuron] == MIXED)
        if len(cut) == 0:
            return
        sizes = self.sizes[cut]
        cell, entries = blocks(self.starts[cut], sizes)
        members = self.members[entries]
        code = self.codes[members, neuron]
        u, v = self._edges(members, code, sizes, cell)
        born = self._add_vertices(members[u], members[v], neuron)
        # Cell c becomes its half 2c, where the neuron is >= 0; the half 2c + 1 is a new cell.
        above, below, new = code != NEGATIVE, code != POSITIVE, cell[u]
        half = np.concatenate((2 * cell[above], 2 * cell[below] + 1, 2 * new, 2 * new + 1))
        vertex = np.concatenate((members[above], members[below], born, born))
        vertex = vertex[np.argsort(half, kind="stable")]
        sizes = np.bincount(half, minlength=2 * len(cut))
        starts = starts_of(sizes)[:-1]
        codes = np.bitwise_or.reduceat(self.codes[vertex], starts, axis=0)
        self.members = with_room(self.members, self.used + len(vertex))
        self.members[self.used : self.used + len(vertex)] = vertex
        halves = starts + self.used, sizes, np.repeat(self.origin[cut], 2), codes
        self.used += len(vertex)
        begin, self.cells = self.cells, self.cells + len(cut)
        for name, values in zip(("starts", "sizes", "origin", "cell_codes"), halves, strict=True):
            array = with_room(getattr(self, name), self.cells)
            array[cut], array[begin : self.cells] = values[::2], values[1::2]
            setattr(self, name, array)

    def _edges(
        self, members: np.ndarray, code: np.ndarray, sizes: np.ndarray, cell: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Edges of the cells from a positive to a negative vertex, as positions in ``members``."""
        tight = self.tight[:, members]
        starts = starts_of(sizes)
        plus, minus = np.flatnonzero(code == POSITIVE), np.flatnonzero(code == NEGATIVE)
        below = np.bincount(cell[minus], minlength=len(sizes))
        first_below = starts_of(below)
        partners = below[cell[plus]]
        edges: list[tuple[np.ndarray, np.ndarray]] = []
        for piece in pieces(partners, PAIRS_AT_ONCE):
            owner, other = blocks(first_below[cell[plus[piece]]], partners[piece])
            u, v = plus[piece][owner], minus[other]
            common = tight[:, u] & tight[:, v]
            enough = np.bitwise_count(common).sum(axis=0) >= self.d - 1
            u, v, common = u[enough], v[enough], common[:, enough]
            owner, third = blocks(starts[cell[u]], sizes[cell[u]])
            missing = np.bitwise_or.reduce(common[:, owner] & ~tight[:, third], axis=0)
            edge = np.bincount(owner[missing == 0], minlength=len(u)) == 2
            edges.append((u[edge], v[edge]))
        return np.concatenate([u for u, _ in edges]), np.concatenate([v for _, v in edges])

    def _add_vertices(self, u: np.ndarray, v: np.ndarray, neuron: int) -> np.ndarray:
        """Add the vertices where the neuron vanishes between u (> 0) and v (< 0), one per edge."""
        edges, index = np.unique(u * np.intp(self.count) + v, return_inverse=True)
        u, v = edges // self.count, edges % self.count
        start, self.count = self.count, self.count + len(edges)
        self.values = with_room(self.values, self.count)
        self.errors = with_room(self.errors, self.count)
        self.codes = with_room(self.codes, self.count)
        self.owner = with_room(self.owner, self.count)
        self.owner[start : self.count] = owner = self.owner[u]
        self.tight = with_room(self.tight.T, self.count).T
        self.tight[:, start : self.count] = self.tight[:, u] & self.tight[:, v]
        y0, y1, e0, e1 = self.values[u], self.values[v], self.errors[u], self.errors[v]
        column = self.d + neuron
        p, q, e_p, e_q = y0[:, column], -y1[:, column], e0[:, column], e1[:, column]
        with np.errstate(all="ignore"):
            t = p / (p + q)
            shift = 4 * UNIT + (q * e_p + p * e_q) / ((p + q) * (p + q - e_p - e_q))
            shift = np.where(shift <= 1, shift, 1.0)[:, None]  # not >, or nan would stay
            step, size, error = y1 - y0, np.abs(y0) + np.abs(y1), np.maximum(e0, e1)
            values = y0 + t[:, None] * step
            errors = error + shift * (np.abs(step) + e0 + e1) + 4 * UNIT * size
            errors = RAISED * errors + TINY**2 * ((size > 0) | (error > 0))
        self.values[start : self.count], self.errors[start : self.count] = values, errors
        codes = self.codes[u] | self.codes[v]
        codes[self.first[owner] == neuron] = ZERO
        self.codes[start : self.count] = codes
        self.rationals.add(u, v, self.layer, neuron)
        self._mark(self.first_bit + neuron, np.ones(len(edges), dtype=bool), start)
        self._decide(start)
        return start + index

    def result(self) -> Complex:
        networks = self.owner[self.members[self.starts]]
        order = np.argsort(networks, kind="stable")
        sizes = self.sizes[order]
        _, entries = blocks(self.starts[order], sizes)
        points = self.values[: self.count, : self.d].copy()
        errors = self.errors[: self.count, : self.d].copy()
        if self.exact:
            for i in range(self.count):
                points[i] = [_nearest(x) for x in self.rationals.point(i)]
            errors = UNIT * np.abs(points)
        return Complex(
            points=points,
            errors=errors,
            members=self.members[entries],
            starts=starts_of(sizes),
            patterns=self.patterns[order],
            tight=self.tight[:, : self.count].copy(),
            networks=networks[order],
            rationals=self.rationals,
            decided=self.decided,
        )


def corner_bits(d: int) -> np.ndarray:
    """For each corner of a box in its order the axes on which it is the upper end: (2^d, d)."""
    return np.array(list(product((False, True), repeat=d)), dtype=bool).reshape(-1, d)


def _products(W: Floats, h: Floats, owner: np.ndarray) -> Floats:
    """W h for each vertex, with the W of its network: (V, n)."""
    if len(W) == 1:
        return h @ W[0].T
    return np.einsum("vj,vij->vi", h, W[owner])


def _equal_up_to_sign(W: Floats, b: Floats) -> np.ndarray:
    """For each neuron of each network the first one of that network that is ± it: ints (N, n)."""
    rows = np.concatenate((W, b[..., None]), axis=2)
    leading = np.take_along_axis(rows, (rows != 0).argmax(axis=2)[..., None], axis=2)
    first = []
    for network in np.where(leading < 0, -rows, rows).tolist():
        seen: dict[tuple[float, ...], int] = {}
        first.append([seen.setdefault(tuple(row), i) for i, row in enumerate(network)])
    return np.array(first, dtype=np.intp).reshape(b.shape)


def _at_least_tiny(size: Floats) -> Floats:
    return np.where(size == 0, 0.0, np.maximum(size, TINY))


def _nearest(y: fmpq) -> float:
    return int(y.p) / int(y.q)
