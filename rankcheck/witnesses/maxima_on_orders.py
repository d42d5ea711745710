r"""Combinations of maxima on the cone of an order, and which of them are the maximum of n numbers.

On the cone $x_{\pi(0)} \le \dots \le x_{\pi(n-1)}$ every point is

$$x = y_0 1_{T_0} + \dots + y_{n-1} 1_{T_{n-1}}, \qquad T_k = \{\pi(k), \dots, \pi(n-1)\},\quad
  y_1, \dots, y_{n-1} \ge 0,$$

and a maximum $m_S = \max_{i \in S} x_i$ is linear in y: the sum of the $y_k$ whose $T_k$ meets S. A
sum of $c\, \max(F, G) = c\, G + c\, [F - G]_+$ with sums F, G of maxima is therefore

$$\langle a, y\rangle + \sum_p C_p\, [\langle p, y\rangle]_+$$

there, with different primitive integer vectors p (coprime entries, the first that is not zero
positive) whose hyperplanes meet the interior of the cone; where F − G has one sign on the cone,
there is no kink. These functions of y are linearly independent, because each bends at points where
no other one does. So a and the C_p are a *normal form*: two sums are equal on the cone if and only
if their forms are. It decides, without points and without regions, whether a sum is the maximum,
which has the form a = (1, ..., 1) without kinks, and makes linear equations of the search for
identities.

A mean over all permutations is symmetric, so that one order is enough for it.

Used by field.max-of-seven and examples/max_identities.py.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt
import torch

from rankcheck.linalg import Array
from rankcheck.witnesses.max_of_seven import MaxSum
from rankcheck.witnesses.maxima import MaxIdentity, MaxTerm

__all__ = [
    "OrderForm",
    "SortedMean",
    "form_on_order",
    "is_linear_on_orders",
    "is_maximum",
    "mean_form",
    "sorted_mean",
    "values_on_sets",
]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class OrderForm:
    """⟨linear, y⟩ + Σ_p kinks[p] [⟨p, y⟩]_+ in the coordinates y of the module's docstring."""

    linear: tuple[Fraction, ...]
    kinks: dict[tuple[int, ...], Fraction]


def values_on_sets(n: int, side: Iterable[Iterable[int]]) -> Integers:
    """The values of a sum of maxima at the indicators of all sets of positions: (2^n,).

    The indicator of the set with bits S is 1 at position i if bit i of S is set. The value is the
    number of maxima whose set meets it.

    >>> values_on_sets(2, [(0, 1), (1,)]).tolist()
    [0, 1, 2, 2]

    Raises:
        ValueError: a position is n or more.
    """
    chosen = np.arange(1 << n)
    total = np.zeros_like(chosen)
    for positions in side:
        bits = sum(1 << i for i in {*positions})
        if bits >> n:
            raise ValueError(
                f"received the positions {tuple(positions)} and n = {n}; they are 0, ..., n - 1"
            )
        total += (chosen & bits) > 0
    return total


@dataclass(frozen=True)
class SortedMean:
    """(⟨linear, x⟩ + Σ_k shares_k max(⟨left_k, x⟩, ⟨right_k, x⟩)) / scale, in integers.

    Args:
        linear: (n,).
        left, right: (K, n), nowhere both positive.
        shares: (K,).
        scale: a positive number.
    """

    linear: tuple[int, ...]
    left: tuple[tuple[int, ...], ...]
    right: tuple[tuple[int, ...], ...]
    shares: tuple[int, ...]
    scale: int

    def __call__(self, x: Array) -> Array:
        """Its value times ``scale`` at numbers (*B, n), floats or balls: (*B)."""
        linear, shares = x.new_tensor(self.linear), x.new_tensor(self.shares)
        F, G = (x @ x.new_tensor(side).mT for side in (self.left, self.right))
        return x @ linear + torch.maximum(F, G) @ shares


def sorted_mean(identity: MaxIdentity) -> SortedMean:
    """A mean over all permutations at numbers x_0 ≤ ... ≤ x_{n−1}, where many maxima are the same.

    There a maximum over positions is the number at the last of them. What the two sums of a maximum
    have in common is linear, max(kF, kG) is k max(F, G), and maxima that cancel are left out.

    >>> sorted_mean(MaxIdentity(3, (MaxTerm(1, [(0, 1)], [(0, 2)]),))).linear
    (0, 0, 2)

    Raises:
        ValueError: the identity is a :class:`MaxSum`.
    """
    if isinstance(identity, MaxSum):
        raise ValueError("received a MaxSum; it is no mean, and depends on the order")
    n, chains = identity.n, _chains(identity.n)
    factor = math.lcm(*(term.coefficient.denominator for term in identity.terms))
    linear = [0] * n
    shares = Counter[tuple[tuple[int, ...], ...]]()
    for term in identity.terms:
        tops = [values_on_sets(n, side)[chains] for side in (term.left, term.right)]
        F, G = (top - np.pad(top[:, 1:], ((0, 0), (0, 1))) for top in tops)
        common = np.minimum(F, G)
        rows, times = _distinct(np.hstack((F - common, G - common)))
        sides = rows.reshape(-1, 2, n)
        share = int(term.coefficient * factor)
        linear = [a + share * int(b) for a, b in zip(linear, common.sum(0), strict=True)]
        for pair, count in zip(sides, times, strict=True):
            size = int(np.gcd.reduce(pair, axis=None))
            if size:
                key = tuple(sorted(map(tuple, (pair // size).tolist())))
                shares[key] += share * size * int(count)
    kept = {key: share for key, share in shares.items() if share}
    return SortedMean(
        tuple(linear),
        tuple(left for left, _ in kept),
        tuple(right for _, right in kept),
        tuple(kept.values()),
        factor * math.factorial(n),
    )


def form_on_order(terms: Iterable[MaxTerm], order: Sequence[int]) -> OrderForm:
    """The normal form of a sum of terms where x[order[0]] ≤ x[order[1]] ≤ ...

    >>> form_on_order([MaxTerm(1, [(0, 2)], [(1,)])], (0, 1, 2)).linear  # it is x_2 there
    (Fraction(1, 1), Fraction(1, 1), Fraction(1, 1))

    Raises:
        ValueError: ``order`` is not one of 0, ..., n − 1, or a position is n or more.
    """
    n = len(order)
    if sorted(order) != list(range(n)):
        raise ValueError(f"received the order {tuple(order)}; it has each of 0, ..., n - 1 once")
    tops = np.cumsum(1 << np.array(order, dtype=np.int64)[::-1])[::-1]
    return _sum(n, (_form(n, term, tops[None, :]) for term in terms))


def mean_form(n: int, term: MaxTerm) -> OrderForm:
    """The normal form, where x_0 ≤ ... ≤ x_{n−1}, of the mean of a term over all permutations.

    Raises:
        ValueError: a position is n or more.

    >>> mean_form(3, MaxTerm(1, [(0,)], [(1,)])).linear  # two of the three pairs meet {2}
    (Fraction(1, 1), Fraction(1, 1), Fraction(2, 3))
    """
    form = _form(n, term, _chains(n))
    orders = math.factorial(n)
    return OrderForm(
        tuple(a / orders for a in form.linear), {p: c / orders for p, c in form.kinks.items()}
    )


def is_maximum(identity: MaxIdentity) -> bool:
    """Whether it is max(x_0, ..., x_{n−1}) for all real numbers: exact, so a proof or a disproof.

    A mean over permutations is decided by its form on one order. A :class:`MaxSum` is the maximum
    if it is at the indicators of all sets, and its terms that are not linear on all orders have no
    kink together.

    >>> is_maximum(MaxSum(4, (MaxTerm(1, [(0, 1)], [(2, 3)]),)))
    True
    """
    n = identity.n
    if not isinstance(identity, MaxSum):
        form = _sum(n, (mean_form(n, term) for term in identity.terms))
        return form == OrderForm((Fraction(1),) * n, {})
    terms, scale = identity.expanded, identity.denominator
    values = sum(
        int(t.coefficient * scale)
        * np.maximum(values_on_sets(n, t.left), values_on_sets(n, t.right))
        for t in terms
    )
    bent = [term for term in terms if not is_linear_on_orders(n, term)]
    return bool((np.asarray(values)[1:] == scale).all()) and not any(
        form_on_order(bent, order).kinks
        for order in itertools.permutations(range(n) if bent else ())
    )


def is_linear_on_orders(n: int, term: MaxTerm) -> bool:
    """Whether the term is linear on the cone of each order of n numbers.

    It is if left − right is zero where all numbers are equal, and has no opposite signs on two
    nested sets.

    Raises:
        ValueError: a position is n or more.

    >>> is_linear_on_orders(4, MaxTerm(1, [(0, 1)], [(2, 3)]))
    True
    >>> is_linear_on_orders(4, MaxTerm(1, [(0, 1), (0, 2)], [(0, 3), (1, 2)]))
    False
    """
    sign = np.sign(values_on_sets(n, term.left) - values_on_sets(n, term.right))
    chosen = np.arange(1 << n)
    nested = (chosen[:, None] & chosen) == chosen[:, None]
    return not sign[-1] and not (nested & (sign[:, None] * sign < 0)).any()


def _sum(n: int, forms: Iterable[OrderForm]) -> OrderForm:
    """The form of a sum; kinks that cancel are left out."""
    linear, kinks = [Fraction(0)] * n, defaultdict[tuple[int, ...], Fraction](Fraction)
    for form in forms:
        linear = [a + b for a, b in zip(linear, form.linear, strict=True)]
        for p, c in form.kinks.items():
            kinks[p] += c
    return OrderForm(tuple(linear), {p: c for p, c in kinks.items() if c})


def _form(n: int, term: MaxTerm, tops: Integers) -> OrderForm:
    """The sum of the forms of a term over chains of sets (N, n), the largest set first."""
    F, G = (values_on_sets(n, side)[tops] for side in (term.left, term.right))
    D = F - G
    positive = (D[:, 0] == 0) & (D >= 0).all(1)
    bends = (D[:, 0] != 0) | ((D > 0).any(1) & (D < 0).any(1))
    linear = G.sum(0) + D[positive].sum(0)
    kinks = defaultdict[tuple[int, ...], Fraction](Fraction)
    vectors, times = _distinct(D[bends])
    for vector, count in zip(vectors, times, strict=True):
        size = int(np.gcd.reduce(vector))
        if next(int(d) for d in vector if d) < 0:  # [−z]_+ = [z]_+ − z
            linear = linear + count * vector
            size = -size
        kinks[tuple((vector // size).tolist())] += term.coefficient * int(count) * abs(size)
    return OrderForm(tuple(term.coefficient * int(a) for a in linear), dict(kinks))


def _distinct(rows: Integers) -> tuple[Integers, Integers]:
    """The different rows (N, m), and how often each occurs.

    As one number a row, where that fits: numpy sorts numbers far faster than rows.
    """
    least = rows.min(initial=0)
    base = int(rows.max(initial=0) - least) + 1
    if base ** rows.shape[1] >= 2**62:
        return np.unique(rows, axis=0, return_counts=True)
    codes = (rows - least) @ base ** np.arange(rows.shape[1], dtype=np.int64)
    _, first, times = np.unique(codes, return_index=True, return_counts=True)
    return rows[first], times


@cache
def _chains(n: int) -> Integers:
    """T_0 ⊃ T_1 ⊃ ... of each order, as bits: (n!, n)."""
    orders = np.array([*itertools.permutations(range(n))], dtype=np.int64)
    return np.cumsum(1 << orders, axis=1)[:, ::-1].copy()
