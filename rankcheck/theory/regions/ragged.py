"""Lists of different lengths stored in one array, with the index where each list starts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def with_room(array: np.ndarray, rows: int) -> np.ndarray:
    """The array, or a copy with twice ``rows`` rows if it has fewer."""
    if rows <= len(array):
        return array
    longer = np.zeros((2 * rows, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


def starts_of(sizes: np.ndarray) -> np.ndarray:
    """Where each block starts, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(sizes)))


def blocks(starts: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The indices in all blocks, one block after another, and the block of each index."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return owner, np.arange(len(owner)) + (starts - starts_of(sizes)[:-1])[owner]


def pieces(sizes: np.ndarray, limit: int) -> Iterator[slice]:
    """Consecutive slices of blocks with about ``limit`` indices each."""
    ends = np.cumsum(sizes)
    if len(ends) == 0 or ends[-1] <= limit:
        yield slice(0, len(sizes))
        return
    cuts = np.unique(np.searchsorted(ends, np.arange(limit, ends[-1], limit), side="right"))
    for begin, end in zip((0, *cuts), (*cuts, len(sizes)), strict=True):
        yield slice(begin, end)
