"""Triangulating many polytopes at once, each given by its vertices and their tight constraints."""

from __future__ import annotations

import numpy as np

from rankcheck.theory.regions.ragged import blocks, starts_of


def triangulate(
    members: np.ndarray, starts: np.ndarray, tight: np.ndarray, dimension: int
) -> tuple[np.ndarray, np.ndarray]:
    """Simplices that tile polytopes of the given dimension: the polytope and the vertices of each.

    Polytope i has the vertices ``members[starts[i]:starts[i + 1]]``; ``tight`` (words, V) has a bit
    for each constraint that is tight at a vertex, and every facet is the set of vertices where some
    constraint is tight. Degenerate vertices and redundant constraints are allowed.

    Each face is a cone from its first vertex over those of its facets that do not contain it
    (Cohen & Hickey, *Two algorithms for determining volumes of convex polyhedra*, 1979). All faces
    of one dimension are handled together.
    """
    numbers, lower = _unpacked(tight)
    of_vertex, constraint = np.nonzero(numbers)
    first = np.searchsorted(of_vertex, np.arange(tight.shape[1] + 1))
    chain = np.empty((len(starts) - 1, 0), dtype=np.intp)
    polytope = np.arange(len(starts) - 1)
    for _ in range(dimension):
        apex = members[starts[:-1]]
        chain = np.column_stack((chain, apex))
        # Entries (face, vertex, constraint tight at the vertex but not at the apex of the face).
        face = np.repeat(np.arange(len(apex)), np.diff(starts))
        entry, position = blocks(first[members], np.diff(first)[members])
        bit = constraint[position]
        keep = ~numbers[apex[face[entry]], bit]
        entry, bit = entry[keep], bit[keep]
        # Sets of vertices of one face with one tight constraint.
        key = face[entry] * numbers.shape[1] + bit
        order = np.argsort(key, kind="stable")
        key, vertex = key[order], members[entry[order]]
        begins = np.flatnonzero(np.diff(key, prepend=-1))
        sizes = np.diff(begins, append=len(key))
        face, bit = np.divmod(key[begins], numbers.shape[1])
        facet = _is_facet(
            bit,
            lower,
            _common(tight, vertex, begins),
            _common(tight, members, starts[:-1])[:, face],
        )
        members = vertex[np.repeat(facet, sizes)]
        starts = starts_of(sizes[facet])
        chain, polytope = chain[face[facet]], polytope[face[facet]]
    return polytope, np.column_stack((chain, members[starts[:-1]]))


def _unpacked(tight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The bits as bools (V, 64·words), and for each bit the words with all lower bits set."""
    words, bits = len(tight), 64 * len(tight)
    shifts = np.arange(64, dtype=np.uint64)
    one = (tight.T[:, :, None] >> shifts) & np.uint64(1)
    lower = np.zeros((words, bits), dtype=np.uint64)
    for word in range(words):
        lower[word, 64 * (word + 1) :] = ~np.uint64(0)
        lower[word, 64 * word : 64 * (word + 1)] = (np.uint64(1) << shifts) - np.uint64(1)
    return one.astype(bool).reshape(-1, bits), lower


def _common(tight: np.ndarray, vertex: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """The constraints that are tight at all vertices of each block, as words."""
    if len(begins) == 0:
        return np.zeros((len(tight), 0), dtype=np.uint64)
    return np.bitwise_and.reduceat(tight[:, vertex], begins, axis=1)


def _is_facet(
    bit: np.ndarray, lower: np.ndarray, closure: np.ndarray, face_closure: np.ndarray
) -> np.ndarray:
    """Whether a set of vertices is a facet of its face that no lower constraint defines.

    ``closure`` holds the constraints that are tight on the whole set, ``face_closure`` those on the
    whole face. Any other constraint in the first but not in the second is tight on a proper subset
    of the face that contains this set: either the same facet, or a larger set, and then this set is
    no facet. So of the constraints of a facet only the lowest passes. A face of lower dimension may
    pass as well, but it runs out of facets before it yields a simplex.
    """
    return (closure & ~face_closure & lower[:, bit] == 0).all(axis=0)
