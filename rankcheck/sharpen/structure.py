"""What is special about arrays of rationals: zeros, structure, and how they are related."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from rankcheck import balls
from rankcheck.balls import BallArray

#: Pairs are compared among so many arrays at most.
COMPARED = 12


@dataclass(frozen=True)
class Fact:
    """That some things have a property: `is zero`, and `are zero` of several.

    Attributes:
        weight: how telling it is.
        tells_entries: whether it says which entries are 0 or equal.
    """

    subject: str
    one: str
    many: str
    weight: float
    tells_entries: bool = False


def enumerated(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def of_arrays(arrays: Mapping[str, np.ndarray]) -> Iterator[Fact]:
    """The facts of arrays of Fractions, by name."""
    for name, array in arrays.items():
        if not array.any():
            yield Fact(name, "is zero", "are zero", 10)
        elif array.size > 1:
            structure = (
                list(_of_matrix(name, array)) if min(array.shape) > 1 < array.ndim < 3 else []
            )
            yield from structure
            if not any(fact.tells_entries for fact in structure):
                yield from _of_entries(name, array)
    rest = {name: array for name, array in arrays.items() if array.any()}
    if len(rest) <= COMPARED:
        yield from _of_pairs(rest)


def _of_matrix(name: str, A: np.ndarray) -> Iterator[Fact]:
    """Facts of a matrix of more than one row and column."""
    m, n = A.shape
    square = m == n
    gram = A.T @ A if n <= m else A @ A.T
    rank = int(balls.rank(BallArray.exact(A.tolist())))
    if square and _is_scalar(A):
        if A[0, 0] == 1:
            yield Fact(name, "is the identity", "are the identity", 9, True)
        else:
            one, many = "is a multiple of the identity", "are multiples of the identity"
            yield Fact(name, one, many, 9, True)
        return
    if _is_scalar(gram):
        if square and set(A.flat) == {0, 1}:
            yield Fact(name, "is a permutation matrix", "are permutation matrices", 9, True)
            return
        if square:
            one, many = "a multiple of an orthogonal matrix", "multiples of orthogonal matrices"
            yield Fact(name, f"is {one}", f"are {many}", 8)
        else:
            yield Fact(name, "has equal singular values", "have equal singular values", 8)
    elif rank < min(m, n):
        yield Fact(name, f"has rank {rank}", f"have rank {rank}", 7)
        if rank > 1 and _proportional(gram @ gram, gram):
            what = "singular values that are equal or 0"
            yield Fact(name, f"has {what}", f"have {what}", 6)
    if square and not (A - np.diag(np.diag(A))).any():
        yield Fact(name, "is diagonal", "are diagonal", 6, True)
    elif square and (A == A.T).all():
        yield Fact(name, "is symmetric", "are symmetric", 4)
    elif square and (A == -A.T).all():
        yield Fact(name, "is skew-symmetric", "are skew-symmetric", 5)


def _is_scalar(A: np.ndarray) -> bool:
    """Whether a square matrix is a multiple of the identity."""
    return bool((A[0, 0] * np.eye(len(A), dtype=int) == A).all())


def _of_entries(name: str, array: np.ndarray) -> Iterator[Fact]:
    entries, zeros = list(array.flat), array.size - int(np.count_nonzero(array))
    if len(set(entries)) == 1:
        yield Fact(name, "has equal entries", "have equal entries", 6)
    elif len({abs(entry) for entry in entries}) == 1:
        what = "entries that are equal up to their signs"
        yield Fact(name, f"has {what}", f"have {what}", 6)
    elif zeros == array.size - 1:
        yield Fact(name, "has one entry that is not 0", "have one entry that is not 0", 6)
    elif zeros:
        subject = f"{zeros} of the {array.size} entries of {name}"
        yield Fact(subject, "is 0" if zeros == 1 else "are 0", "are 0", 3 + zeros / array.size)
    if array.ndim == 1 and (array * array).sum() == 1:
        yield Fact(name, "has norm 1", "have norm 1", 2)


def _of_pairs(arrays: Mapping[str, np.ndarray]) -> Iterator[Fact]:
    """How arrays are related; of equal ones the first stands for all."""
    classes: list[list[str]] = []
    for name, array in arrays.items():
        same = [c for c in classes if _same(arrays[c[0]], array)]
        if same:
            same[0].append(name)
        else:
            classes.append([name])
    for some in classes:
        if len(some) > 1:
            yield Fact(enumerated(some), "are equal", "are equal", 8)
    for first, second in combinations([some[0] for some in classes], 2):
        A, B, both = arrays[first], arrays[second], f"{first} and {second}"
        if _same(A, -B):
            yield Fact(both, "are opposite", "are opposite", 8)
        elif A.ndim == B.ndim == 2 and min(A.shape) > 1 and _same(A.T, B):
            yield Fact(second, f"is the transpose of {first}", f"are the transpose of {first}", 7)
        elif A.size > 1 and A.shape == B.shape and _proportional(A, B):
            yield Fact(both, "are proportional", "are proportional", 7)
        elif A.ndim == B.ndim == 1 and A.size > 1 and A.shape == B.shape and A @ B == 0:
            yield Fact(both, "are orthogonal", "are orthogonal", 5)


def _same(A: np.ndarray, B: np.ndarray) -> bool:
    return A.shape == B.shape and bool((A == B).all())


def _proportional(A: np.ndarray, B: np.ndarray) -> bool:
    """Whether two arrays that are not zero are multiples of one another."""
    place = next(i for i, entry in enumerate(B.flat) if entry)
    return bool((A * B.flat[place] == B * A.flat[place]).all())
