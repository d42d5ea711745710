r"""The maxima of two sums of maxima, up to permutations of the numbers.

$\max(F, G)$ with sums F, G of k maxima over sets of at most r positions: the symmetric group
permutes them, and a symmetric function such as the maximum needs the means of one of each orbit
only. Left out are pairs with a common summand, $\max(H + F, H + G) = H + \max(F, G)$, unless F = G.

Used by examples/max_identities.py.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from rankcheck.witnesses.maxima import MaxTerm

__all__ = ["term_orbits"]

#: Sums times permutations, in one table of four bytes each.
LARGEST_TABLE = 2**25


def term_orbits(n: int, rank: int, summands: int, smallest: int = 1) -> Iterator[MaxTerm]:
    """One max(F, G) of each orbit, with coefficient 1.

    Args:
        n: how many numbers.
        rank: the size of the largest sets.
        summands: how many maxima F has, and G; a maximum may occur twice.
        smallest: the size of the smallest sets.

    Raises:
        ValueError: not 1 ≤ smallest ≤ rank ≤ n or summands < 1, or the images of all sums under all
            permutations are more than ``LARGEST_TABLE``.

    >>> [(t.left, t.right) for t in term_orbits(3, 2, 1, smallest=2)]
    [(((0, 1),), ((0, 1),)), (((0, 1),), ((0, 2),))]
    """
    if not 1 <= smallest <= rank <= n or summands < 1:
        raise ValueError(
            f"received n = {n}, sets of {smallest} to {rank} positions and {summands} summands; "
            "1 <= smallest <= rank <= n and summands >= 1"
        )
    count = math.comb(
        sum(math.comb(n, k) for k in range(smallest, rank + 1)) + summands - 1, summands
    )
    if count * math.factorial(n) > LARGEST_TABLE:
        raise ValueError(
            f"received {count} sums and {math.factorial(n)} permutations; at most {LARGEST_TABLE} "
            "images fit into a table. Take fewer summands, or larger smallest sets"
        )
    return _orbits(n, rank, summands, smallest)


def _orbits(n: int, rank: int, summands: int, smallest: int) -> Iterator[MaxTerm]:
    sets = [s for k in range(smallest, rank + 1) for s in itertools.combinations(range(n), k)]
    sums = np.array(
        [*itertools.combinations_with_replacement(range(len(sets)), summands)], dtype=np.int32
    )
    images = _images(n, sets, sums)
    first = images.min(0)  # the first sum of each orbit
    for i in np.flatnonzero(first == np.arange(len(sums))):
        fixing = images[images[:, i] == i]
        seen = first < i
        seen |= (sums[:, :, None] == sums[i]).any((1, 2))
        seen[i] = False
        for j in range(len(sums)):
            if seen[j]:
                continue
            seen[fixing[:, j]] = True
            if first[j] == i:  # the same pair, with the sides exchanged
                other = images[np.argmax(images[:, j] == i), i]
                seen[fixing[:, other]] = True
            left, right = ([sets[k] for k in sums[side]] for side in (i, j))
            yield MaxTerm(1, left, right)


def _images(
    n: int, sets: list[tuple[int, ...]], sums: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    """The number of the image of each sum under each permutation: (n!, number of sums)."""
    place = {s: k for k, s in enumerate(sets)}
    powers = len(sets) ** np.arange(sums.shape[1] - 1, -1, -1, dtype=np.int64)
    codes = sums @ powers
    found = np.empty((math.factorial(n), len(sums)), dtype=np.int32)
    for row, order in enumerate(itertools.permutations(range(n))):
        image = np.array([place[tuple(sorted(order[i] for i in s))] for s in sets], dtype=np.int32)
        found[row] = np.searchsorted(codes, np.sort(image[sums], axis=1) @ powers)
    return found
