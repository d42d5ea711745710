r"""Maxima of n numbers as combinations of maxima of two sums of smaller maxima.

For a set S of positions let $m_S(x) = \max_{i \in S} x_i$. An identity

$$\max(x_1, \dots, x_n) = \sum_t c_t \cdot \frac1{n!} \sum_{\pi \in S_n}
  \max(F_t(\pi x), G_t(\pi x)), \qquad F_t, G_t\ \text{sums of}\ m_S,\ |S| \le r,$$

says that the maximum of n numbers takes one layer of maxima of r numbers and one layer of maxima of
two. With pairs, r = 2, both are hidden layers of a ReLU network: with $r_{ij} = [x_i - x_j]_+$

$$m_{ij} = x_j + r_{ij} = x_i + r_{ji}, \qquad \max(F, G) = [F - G]_+ + G,$$

and where F and G have equally many maxima, F − G is a combination of the $r_{ij}$ alone.

Used by :func:`rankcheck.witnesses.maximum_by_pairs` and field.max-of-five. Source of the statement
for five numbers: E. Bakaev, F. Brunck, C. Hertrich, J. Stade, A. Yehudayoff, *Better neural network
expressivity: subdividing the simplex*; the coefficients were found again by linear algebra over the
orbits of $S_5$. Such means are also the ansatz of K. Rueß et al., *Shallower ReLU network
representations via exact linear algebra*, arXiv:2607.21651.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

import torch

from rankcheck.theory.linalg import Array
from rankcheck.theory.networks.network import Network

#: The most maxima that an identity is expanded to, one by one.
MOST_MAXIMA = 2**22

Sum = tuple[tuple[int, ...], ...]
"""A sum of maxima over sets of positions: ((0, 1), (0, 2)) is m_01 + m_02."""


@dataclass(frozen=True)
class MaxTerm:
    """coefficient · max(left, right), each side a sum of maxima over sets of positions.

    The sides are sorted, so that two terms with the same function have the same sides. Sets may be
    repeated: ((0, 1), (0, 1)) is 2 m_01.

    >>> MaxTerm(1, [(3, 2), (1, 0)], [(0, 2), (1, 3)])
    MaxTerm(coefficient=Fraction(1, 1), left=((0, 1), (2, 3)), right=((0, 2), (1, 3)))

    Raises:
        ValueError: a side or a set is empty, a position is negative or repeated, or a coefficient
            is a float.
    """

    coefficient: Fraction
    left: Sum
    right: Sum

    def __init__(
        self,
        coefficient: Fraction | int | str,
        left: Iterable[Iterable[int]],
        right: Iterable[Iterable[int]],
    ) -> None:
        if isinstance(coefficient, float):
            raise ValueError(
                f"received the coefficient {coefficient!r}, a float; coefficients are exact"
            )
        sides = sorted(tuple(sorted(tuple(sorted(s)) for s in side)) for side in (left, right))
        for side in sides:
            if not side or any(not s or s[0] < 0 or len({*s}) < len(s) for s in side):
                raise ValueError(
                    f"received the side {side}; it is one set of different positions >= 0 or more"
                )
        object.__setattr__(self, "coefficient", Fraction(coefficient))
        object.__setattr__(self, "left", sides[0])
        object.__setattr__(self, "right", sides[1])


@dataclass(frozen=True)
class MaxIdentity:
    """Σ_t c_t · mean over all permutations of max(F_t, G_t), as a function of n numbers.

    Nothing here says that it is the maximum; claims do.

    Args:
        n: how many numbers.
        terms: one of each orbit of permutations.

    Raises:
        ValueError: there is no term, or a position is n or more.

    >>> MaxIdentity(3, (MaxTerm(1, [(0, 1)], [(2,)]),)).expanded[0]
    MaxTerm(coefficient=Fraction(1, 3), left=((0,),), right=((1, 2),))
    """

    n: int
    terms: tuple[MaxTerm, ...]

    def __post_init__(self) -> None:
        if not self.terms:
            raise ValueError("received no term; an identity has one term or more")
        most = max(max(s) for term in self.terms for s in (*term.left, *term.right))
        if most >= self.n:
            raise ValueError(
                f"received position {most} and n = {self.n}; positions are 0, ..., n - 1"
            )

    @cached_property
    def expanded(self) -> tuple[MaxTerm, ...]:
        """All maxima of two sums, with their coefficients after symmetrising; none is zero.

        Raises:
            ValueError: the terms have more than ``MOST_MAXIMA`` images.
        """
        images = self.hidden_units[1] - 4
        if images > MOST_MAXIMA:
            raise ValueError(
                f"received terms with {images} images; at most {MOST_MAXIMA} are made one by one. "
                "The mean is evaluated by its mean_form; hidden_units counts its network"
            )
        total: dict[tuple[Sum, Sum], Fraction] = {}
        for term in self.terms:
            orbit = self._orbit(term)
            for key in orbit:
                share = total.get(key, Fraction(0)) + term.coefficient / len(orbit)
                total[key] = share
        return tuple(MaxTerm(c, *key) for key, c in sorted(total.items()) if c)

    def _orbit(self, term: MaxTerm) -> list[tuple[Sum, Sum]]:
        """The different images of a term; each is met equally often among the permutations."""
        used = sorted({i for s in (*term.left, *term.right) for i in s})
        found: dict[tuple[Sum, Sum], None] = {}
        for images in itertools.permutations(range(self.n), len(used)):
            order = dict(zip(used, images, strict=True))
            left, right = (
                tuple(sorted(tuple(sorted(order[i] for i in s)) for s in side))
                for side in (term.left, term.right)
            )
            found[min(left, right), max(left, right)] = None
        return list(found)

    @property
    def rank(self) -> int:
        """r, the size of the largest set."""
        return max(len(s) for term in self.terms for s in (*term.left, *term.right))

    @cached_property
    def denominator(self) -> int:
        """The least positive integer that makes all coefficients whole: 60 for five numbers."""
        return math.lcm(*(term.coefficient.denominator for term in self.expanded))

    @cached_property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """The sets whose maxima occur."""
        sides = (side for term in self.expanded for side in (term.left, term.right))
        return tuple(sorted({s for side in sides for s in side}))

    def __call__(self, x: Array) -> Array:
        """Its value times ``denominator`` at numbers (*B, n), floats or balls: (*B).

        In this form integers stay integers, and nothing is rounded.

        Raises:
            ValueError: the last axis of x does not have length n.
        """
        if x.shape[-1] != self.n:
            raise ValueError(f"received {x.shape[-1]} numbers; the identity is one of {self.n}")
        place = {s: k for k, s in enumerate(self.sets)}
        left = torch.zeros(len(self.expanded), len(place), dtype=torch.float64)
        right, shares = left.clone(), left.new_zeros(len(left))
        for k, term in enumerate(self.expanded):
            for matrix, side in ((left, term.left), (right, term.right)):
                for s, times in Counter(side).items():
                    matrix[k, place[s]] = times
            shares[k] = int(term.coefficient * self.denominator)
        maxima = torch.stack([x[..., list(s)].amax(-1) for s in self.sets], -1)
        F, G = (maxima @ x.new_tensor(m.tolist()).mT for m in (left, right))
        return (torch.maximum(F, G) * x.new_tensor(shares.tolist())).sum(-1)

    @cached_property
    def hidden_units(self) -> tuple[int, int]:
        """The units of :meth:`network` in its two hidden layers, counted without building it.

        A term has n (n − 1) ... (n − k + 1) / s images if s permutations of its k positions keep
        it, and no two terms have a common one.

        >>> MaxIdentity(10, (MaxTerm(1, [(0, 1)], [(2, 3)]),)).hidden_units  # 630 images
        (92, 634)
        """
        images = 0
        for term in self.terms:
            used = {i for s in (*term.left, *term.right) for i in s}
            images += math.perm(self.n, len(used)) // _symmetries(term)
        return self.n * (self.n - 1) + 2, images + 4

    @property
    def cost(self) -> float:
        r"""The sum of squared weights of a balanced network of two hidden layers.

        $\max(F, G) = (F + G + |F - G|) / 2$ takes the units $\pm (F - G)$ for all images, and F + G
        gives means of $x_i$ and of $|x_i - x_j|$. As a combination of the $r_{ij}$,
        $F - G = \sum_{i < j} w_{ij} |x_i - x_j| / 2 + \sum_i d_i x_i$ has weights of least norm
        $(\sum w_{ij}^2 / 2 + 2 \sum d_i^2 / n)^{1/2}$. By symmetry all $r_{ij}$ have one factor;
        they and what is behind them cost $3 (2 n (n - 1))^{1/3} P^{2/3}$, with P the sum of the
        norms times |coefficients|, and $\gamma$ times the mean of $x_i$ costs
        $6 \gamma^{2/3} n^{-1/3}$.

        Raises:
            ValueError: a set has three positions or more, or two sides have different numbers of
                sets.
        """
        if self.rank > 2 or any(len(t.left) != len(t.right) for t in self.terms):
            raise ValueError(
                "received sets of three, or unequal sides; the formula is one of pairs"
            )
        n, path, pairs, total = self.n, 0.0, 0.0, 0.0
        for term in self.terms:
            c, weights, slopes = float(term.coefficient), Counter[tuple[int, ...]](), Counter[int]()
            for sign, side in ((1, term.left), (-1, term.right)):
                for s in side:
                    weights[s] += sign * (len(s) - 1)
                    slopes.update({i: 2 * sign // len(s) for i in s})
                    pairs += c * (len(s) - 1) / 2
                    total += c / 2
            squares = (sum(v * v for v in w.values()) for w in (weights, slopes))
            path += abs(c) * math.sqrt(next(squares) / 2 + next(squares) / (2 * n))
        path += abs(pairs) / math.sqrt(n * (n - 1))
        return 3 * (2 * n * (n - 1) * path**2) ** (1 / 3) + 6 * (total**2 / n) ** (1 / 3)

    def network(self) -> Network:
        """The ReLU network of two hidden layers and integer weights with value denominator · max.

        Its first layer has the units [x_i − x_j]_+, i ≠ j, and [±(x_1 + ... + x_n)]_+ (or [±x_n]_+,
        where that would take weights that are not whole). The second has a unit for each maximum of
        two sums, and four more that are never below their kinks: they hand on what is added to the
        maxima, by sign. There are no biases.

        Raises:
            ValueError: a set has three positions or more, two sides have different numbers of
                sets, or there are too many images, as in ``expanded``.
        """
        return Network.linear(_matrices(self))


@cache
def _matrices(identity: MaxIdentity) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The three matrices of the network of an identity of pairs."""
    n = identity.n
    if identity.rank > 2:
        raise ValueError(
            f"received maxima of {identity.rank} numbers; a hidden layer takes those of two"
        )
    units = {pair: k for k, pair in enumerate(itertools.permutations(range(n), 2))}
    first = torch.zeros(len(units) + 2, n, dtype=torch.float64)
    for (i, j), k in units.items():
        first[k, i], first[k, j] = 1, -1

    rows, read = [], []
    # What is not behind a kink of the second layer: multiples of x_i, and of the r_ij.
    linear: Counter[int] = Counter()
    rest: Counter[tuple[int, int]] = Counter()
    for term in identity.expanded:
        c = int(term.coefficient * identity.denominator)
        rows.append(_difference(term))
        read.append(c)
        for s in term.right:
            linear[s[-1]] += c
            if len(s) > 1:
                rest[s[0], s[1]] += c
    total = sum(linear.values())
    share = [total // n] * n if total % n == 0 else [0] * (n - 1) + [total]
    times = math.gcd(*share) or 1
    first[-2] = torch.tensor([c // times for c in share])
    first[-1] = -first[-2]
    for i in range(n):
        linear[i] -= share[i]
    for pair, c in _transport(linear).items():
        rest[pair] += c
    second = torch.zeros(len(rows) + 4, len(first), dtype=torch.float64)
    for k, row in enumerate(rows):
        for pair, c in row.items():
            second[k, units[pair]] = c
    for pair, c in rest.items():
        second[-4 if c > 0 else -3, units[pair]] = abs(c)
    second[-2, -2], second[-1, -1] = times, times
    return first, second, torch.tensor([[*read, 1, -1, 1, -1]], dtype=torch.float64)


def _symmetries(term: MaxTerm) -> int:
    """How many permutations of the positions of a term keep it, sides exchanged or not."""
    sides = (term.left, term.right)
    used = sorted({i for s in (*term.left, *term.right) for i in s})

    def seen(places: Sequence[int], sides: Sequence[Sum]) -> list[list[list[int]]]:
        """What the sets have in common with the first places, by the numbers of these."""
        at = {i: k for k, i in enumerate(places)}
        return [sorted(sorted(at[i] for i in s if i in at) for s in side) for side in sides]

    wanted = [seen(used[:k], sides) for k in range(len(used) + 1)]

    def ways(places: list[int], images: Sequence[Sum]) -> int:
        if seen(places, images) != wanted[len(places)]:
            return 0
        if len(places) == len(used):
            return 1
        return sum(ways([*places, i], images) for i in used if i not in places)

    return ways([], sides) + (ways([], sides[::-1]) if term.left != term.right else 0)


def _difference(term: MaxTerm) -> Counter[tuple[int, int]]:
    """left − right as a combination of the [x_i − x_j]_+, with as few of them as possible."""
    if len(term.left) != len(term.right):
        raise ValueError(
            f"received max({term.left}, {term.right}); the two sides have equally many sets"
        )
    best: Counter[tuple[int, int]] | None = None
    for bases in itertools.product(*term.left, *term.right):
        row: Counter[tuple[int, int]] = Counter()
        linear: Counter[int] = Counter()
        for k, (s, base) in enumerate(zip((*term.left, *term.right), bases, strict=True)):
            sign = 1 if k < len(term.left) else -1
            linear[base] += sign
            for other in s:
                if other != base:
                    row[other, base] += sign
        for pair, c in _transport(linear).items():
            row[pair] += c
        if best is None or _size(row) < _size(best):
            best = row
    assert best is not None
    return best


def _transport(linear: Counter[int]) -> Counter[tuple[int, int]]:
    """Σ_i a_i x_i with Σ_i a_i = 0 as a combination of x_i − x_j = r_ij − r_ji."""
    row: Counter[tuple[int, int]] = Counter()
    up = [i for i in sorted(linear) for _ in range(linear[i])]
    down = [i for i in sorted(linear) for _ in range(-linear[i])]
    for i, j in zip(up, down, strict=True):
        row[i, j] += 1
        row[j, i] -= 1
    return row


def _size(row: Counter[tuple[int, int]]) -> int:
    return sum(map(abs, row.values()))
