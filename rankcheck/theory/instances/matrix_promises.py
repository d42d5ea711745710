"""Promises of the classes of matrices: sizes, number, symmetry, rank and spectrum."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch

from rankcheck.theory import linalg
from rankcheck.theory.instances.promises import Promise, at_most, inside


def each(says: str, holds: Callable[[Any], Any]) -> Promise:
    """A promise about every matrix."""
    return Promise(says, lambda o, *found: all_entries(holds(A) for A in found))


def each_pair(says: str, holds: Callable[[Any, Any], Any]) -> Promise:
    """A promise about every complex matrix X + iY."""
    return Promise(
        says,
        lambda o, *found: all_entries(
            holds(X, Y) for X, Y in zip(found[::2], found[1::2], strict=True)
        ),
    )


def all_entries(found: Iterable[Any]) -> Any:
    """Whether all entries of all arrays are true."""
    return functools.reduce(torch.logical_and, [torch.as_tensor(f).all(-1).all(-1) for f in found])


def _condition(o: Any, *found: Any) -> Any:
    """Of positive semidefinite matrices: the largest eigenvalue against the least positive one."""
    good = []
    for A in found:
        s, rank = linalg.singular_values(A), linalg.rank(A)
        positive = torch.arange(s.shape[-1], device=rank.device) < rank.unsqueeze(-1)
        least = torch.where(positive, s, s[..., :1]).amin(-1)
        good.append(at_most(s[..., 0], o.condition * least))
    return functools.reduce(torch.logical_and, good)


SIZE = Promise(
    "all are n × n for one n in the range",
    lambda o, *found: (
        inside(o.size, found[0].shape[-1])
        and all(A.shape[-2:] == (found[0].shape[-1],) * 2 for A in found)
    ),
)
COUNT = Promise("there are so many", lambda o, *found: len(found) == o.count)
PAIRS = Promise(
    "there are so many, two real matrices each", lambda o, *found: len(found) == 2 * o.count
)
SYMMETRY = each("A = Aᵀ", lambda A: A.mT == A)
CONDITION = Promise("no quotient of positive eigenvalues is larger", _condition)
RANK = Promise(
    "unless None, the rank is this one",
    lambda o, *found: (
        o.rank is None
        or functools.reduce(torch.logical_and, [linalg.rank(A) == o.rank for A in found])
    ),
)
