"""Scalings of variables that change no sign: of boxes around 0, all but a ring need no proof.

Weights w say that a polynomial has one weight if ``p(t^w x) = t^c p(x)`` for all t > 0. Where a
goal has a weight c > 0 and all facts have weights, a point at which the goal is negative can be
moved outwards: so a box that is one around it, made smaller, holds no such point if the rest of
that one holds none.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

import numpy as np
import scipy
from flint import fmpz_mat

from rankcheck.algebra.polynomials import Coefficients

__all__ = ["scalings"]

#: Weights are quotients of whole numbers up to this.
_LARGEST = 12


def scalings(
    goal: Coefficients,
    others: Sequence[Coefficients],
    names: Sequence[str],
    entries: Sequence[bool],
) -> np.ndarray:
    """Weights, a row each, that are not negative, for which all polynomials have one weight.

    Args:
        goal: has a positive weight.
        others: facts, and ``r^k − f`` of roots.
        names: the variables, entries first.
        entries: for each entry, whether it may have a weight; the weights of entries are returned.
    """
    free = [i for i in range(len(names)) if i >= len(entries) or entries[i]]
    place = {name: i for i, name in enumerate(names)}
    rows: list[list[int]] = []
    for polynomial in (goal, *others):
        vectors = [_vector(dict(one), place) for one in polynomial]
        rows += [[one[i] - vectors[0][i] for i in free] for one in vectors[1:]]
    found: list[list[int]] = []
    if not goal or (rows and fmpz_mat(rows).rank() == len(free)):
        return np.zeros((0, len(entries)), dtype=np.int64)
    first = _vector(dict(next(iter(goal))), place)
    for chosen in [i for i in free if i < len(entries)]:
        answer = scipy.optimize.linprog(
            np.ones(len(free)),
            A_eq=rows or None,
            b_eq=[0.0] * len(rows) or None,
            bounds=[(float(i == chosen), None) for i in free],
        )
        if not answer.success:
            continue
        near = [Fraction(value).limit_denominator(_LARGEST) for value in answer.x.tolist()]
        scale = lcm(*(value.denominator for value in near))
        weights = [int(value * scale) for value in near]
        exact = all(_dot(row, weights) == 0 for row in rows)
        full = _vector(dict(zip((names[i] for i in free), weights, strict=True)), place)
        one = [weight // gcd(*weights) for weight in full[: len(entries)]]
        if exact and min(weights) >= 0 and _dot(first, full) > 0 and one not in found:
            found.append(one)
    return np.array(found, dtype=np.int64).reshape(len(found), len(entries))


def _vector(powers: dict[str, int], place: dict[str, int]) -> list[int]:
    vector = [0] * len(place)
    for name, exponent in powers.items():
        vector[place[name]] = exponent
    return vector


def _dot(left: Sequence[int], right: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(left, right, strict=True))
