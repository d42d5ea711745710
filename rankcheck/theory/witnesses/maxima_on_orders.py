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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt
import torch

from rankcheck.theory.linalg import Array
from rankcheck.theory.witnesses.max_of_seven import MaxSum
from rankcheck.theory.witnesses.maxima import MaxIdentity, MaxTerm, Sum

Integers = npt.NDArray[np.int64]
_Form = tuple[Integers, Integers, Integers]


@dataclass(frozen=True)
class OrderForm:
    """⟨linear, y⟩ + Σ_p kinks[p] [⟨p, y⟩]_+ in the coordinates y of the module's docstring."""

    linear: tuple[Fraction, ...]
    kinks: dict[tuple[int, ...], Fraction]

    @property
    def denominator(self) -> int:
        """The least positive integer that makes all coefficients whole."""
        return math.lcm(*(c.denominator for c in (*self.linear, *self.kinks.values())))

    def __call__(self, x: Array) -> Array:
        """Its value times ``denominator`` where x_0 ≤ ... ≤ x_{n−1}: numbers (*B, n) to (*B).

        On floats or balls; integers stay integers.
        """
        coefficients = np.array([self.linear, *self.kinks])
        coefficients[0] *= self.denominator
        coefficients[:, :-1] -= coefficients[:, 1:].copy()  # y_k = x_k − x_{k−1}
        shares = [int(c * self.denominator) for c in self.kinks.values()]
        values = x @ x.new_tensor(coefficients.astype(np.int64).tolist()).mT
        return values[..., 0] + torch.relu(values[..., 1:]) @ x.new_tensor(shares)


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


def form_on_order(terms: Iterable[MaxTerm], order: Sequence[int]) -> OrderForm:
    """The normal form of a sum of terms where x[order[0]] ≤ x[order[1]] ≤ ...

    >>> form_on_order([MaxTerm(1, [(0, 2)], [(1,)])], (0, 1, 2)).linear  # it is x_2 there
    (Fraction(1, 1), Fraction(1, 1), Fraction(1, 1))

    Raises:
        ValueError: ``order`` is not one of 0, ..., n − 1, or a position is n or more.
    """
    n, terms = len(order), tuple(terms)
    if sorted(order) != list(range(n)):
        raise ValueError(f"received the order {tuple(order)}; it has each of 0, ..., n - 1 once")
    tops = np.cumsum(1 << np.array(order, dtype=np.int64)[::-1])[::-1]
    forms = []
    for term in terms:
        F, G = (values_on_sets(n, side)[tops] for side in (term.left, term.right))
        forms.append(_form(np.maximum(F, G), (F - G)[None, :], np.ones(1, dtype=np.int64)))
    return _sum(n, terms, forms, 1)


def mean_form(n: int, *terms: MaxTerm) -> OrderForm:
    """The normal form, where x_0 ≤ ... ≤ x_{n−1}, of the mean of a sum over all permutations.

    Raises:
        ValueError: a position is n or more, or the counts do not fit into 64 bits.

    >>> mean_form(3, MaxTerm(1, [(0,)], [(1,)])).linear  # two of the three pairs meet {2}
    (Fraction(1, 1), Fraction(1, 1), Fraction(2, 3))
    """
    forms = [_mean_form(n, term.left, term.right) for term in terms]
    return _sum(n, terms, forms, math.factorial(n))


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
        return mean_form(n, *identity.terms) == OrderForm((Fraction(1),) * n, {})
    terms, scale = identity.expanded, identity.denominator
    values = sum(
        int(t.coefficient * scale)
        * np.maximum(values_on_sets(n, t.left), values_on_sets(n, t.right)).astype(object)
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
        ValueError: a position is n or more, or n is more than 12.

    >>> is_linear_on_orders(4, MaxTerm(1, [(0, 1)], [(2, 3)]))
    True
    >>> is_linear_on_orders(4, MaxTerm(1, [(0, 1), (0, 2)], [(0, 3), (1, 2)]))
    False
    """
    if n > 12:
        raise ValueError(f"received n = {n}; all pairs of sets are compared for at most 12 numbers")
    sign = np.sign(values_on_sets(n, term.left) - values_on_sets(n, term.right))
    chosen = np.arange(1 << n)
    nested = (chosen[:, None] & chosen) == chosen[:, None]
    return not sign[-1] and not (nested & (sign[:, None] * sign < 0)).any()


def _sum(n: int, terms: Iterable[MaxTerm], forms: Iterable[_Form], orders: int) -> OrderForm:
    """The form of a sum of terms, given their forms with coefficient 1; kinks that cancel go."""
    coefficients = [term.coefficient for term in terms]
    scale = math.lcm(*(c.denominator for c in coefficients))
    linear = np.zeros(n, dtype=object)
    vectors, shares = [np.empty((0, n), dtype=np.int64)], [np.empty(0, dtype=object)]
    for c, (values, rows, times) in zip(coefficients, forms, strict=True):
        factor = int(c * scale)
        linear += factor * values.astype(object)
        vectors.append(rows)
        shares.append(factor * times.astype(object))
    first, place = _distinct(np.concatenate(vectors))
    total = np.zeros(len(first), dtype=object)
    np.add.at(total, place, np.concatenate(shares))
    kept = np.flatnonzero(total)
    return OrderForm(
        tuple(Fraction(a, scale * orders) for a in linear),
        {
            tuple(p): Fraction(c, scale * orders)
            for p, c in zip(first[kept].tolist(), total[kept], strict=True)
        },
    )


@lru_cache(maxsize=1024)
def _mean_form(n: int, left: Sum, right: Sum) -> _Form:
    """n! times the form of the mean of max(left, right)."""
    F, G = (values_on_sets(n, side) for side in (left, right))
    values, vectors, shares = _form(_sums_by_size(n, np.maximum(F, G)), *_profiles(n, F - G))
    return values, vectors.astype(np.int16), shares  # `_profiles` sees to it that they fit


def _form(values: Integers, vectors: Integers, times: Integers) -> _Form:
    """Linear part, kinks and their shares, of a sum of max(F, G) over chains of sets.

    Args:
        values: the sum of max(F, G) at the n-th, ..., first set of the chains: (n,).
        vectors: the values of F − G at these sets, for different chains: (N, n).
        times: how many chains have them: (N,).
    """
    bends = (vectors[:, 0] != 0) | ((vectors.min(1) < 0) & (vectors.max(1) > 0))
    vectors, times = vectors[bends], times[bends]
    first = np.take_along_axis(vectors, (vectors != 0).argmax(1)[:, None], 1)
    sizes = np.gcd.reduce(vectors, axis=1)
    vectors = np.sign(first) * vectors // sizes[:, None]
    shares = times * sizes
    # The value at the k-th unit vector is a_k + Σ_p C_p [p_k]_+.
    return values - shares @ np.maximum(vectors, 0), vectors, shares


def _distinct(rows: Integers) -> tuple[Integers, Integers]:
    """The different rows of (N, m), and which of them each row is.

    As one number a row, where that fits: numpy sorts numbers far faster than rows.
    """
    least = int(rows.min(initial=0))
    base = int(rows.max(initial=0)) - least + 1
    if base ** rows.shape[1] >= 2**62:
        distinct, place = np.unique(rows, axis=0, return_inverse=True)
        return distinct, place.ravel()
    codes = (rows.astype(np.int64) - least) @ base ** np.arange(rows.shape[1], dtype=np.int64)
    _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    return rows[first], place


def _sums_by_size(n: int, values: Integers) -> Integers:
    """The sums of a function of sets over all n! chains, at their n-th, ..., first set: (n,)."""
    orders = math.factorial(n)
    return np.array(
        [int(values[s].sum()) * (orders // len(s)) for s in _subsets(n)[0][:0:-1]], dtype=np.int64
    )


def _profiles(n: int, values: Integers) -> tuple[Integers, Integers]:
    """The values of a function of sets at the n-th, ..., first set of all n! chains of sets.

    From the full set down, the beginnings of vectors that end in the same set are counted together.

    Returns:
        The different vectors (N, n), and how many chains have each (N,).

    Raises:
        ValueError: n! times |value| does not fit into 64 bits, or |value| into 16.
    """
    largest = int(np.abs(values).max())
    if largest >= 2**15 or math.factorial(n) * largest >= 2**63:
        raise ValueError(f"received n = {n} and differences up to {largest}; counts would overflow")
    sets, below = _subsets(n)
    least, base = int(values.min()), int(np.ptp(values)) + 1
    vectors, times = values[sets[n]][:, None], np.ones(1, dtype=np.int64)
    start = end = np.zeros(1, dtype=np.int64)  # the beginning of each count, and its last set
    for k in range(n, 1, -1):
        smaller = below[k][end].ravel()
        level = values[sets[k - 1]][smaller] - least
        keys = (np.repeat(start, k) * base + level) * len(sets[k - 1]) + smaller
        order = np.argsort(keys)
        keys = keys[order]
        new = np.flatnonzero(np.diff(keys, prepend=-1))
        times = np.add.reduceat(np.repeat(times, k)[order], new)
        longer, end = np.divmod(keys[new], len(sets[k - 1]))
        first = np.diff(longer, prepend=-1) > 0
        start, longer = np.cumsum(first) - 1, longer[first]
        vectors = np.column_stack((vectors[longer // base], longer % base + least))
    return vectors, np.add.reduceat(times, np.flatnonzero(np.diff(start, prepend=-1)))


@cache
def _subsets(n: int) -> tuple[list[Integers], list[Integers]]:
    """The sets of k = 0, ..., n positions as bits, and the places of those with one element less.

    The second are (sets of k, k), into the sets of k − 1.
    """
    bits = np.arange(1 << n)
    sizes = np.bitwise_count(bits)
    sets = [bits[sizes == k] for k in range(n + 1)]
    below = [np.empty((1, 0), dtype=np.int64)]
    for k in range(1, n + 1):
        less = sets[k][:, None] & ~(1 << np.arange(n))
        smaller = less[less != sets[k][:, None]].reshape(-1, k)
        below.append(np.searchsorted(sets[k - 1], smaller))
    return sets, below
