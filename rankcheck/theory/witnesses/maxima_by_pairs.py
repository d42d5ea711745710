r"""The maximum of up to ten numbers by two hidden layers.

With $m_{ij} = \max(x_i, x_j)$ and sums F, G of equally many $m_{ij}$ (and, for n = 3, of $x_i$)
there are combinations of means over all permutations of $|F - G|$ in which all kinks cancel on
$x_0 \le \dots \le x_{n-1}$. What is left are means $M_m$ of the maxima of m of the n numbers:

* n = 4: one mean is $2 (M_4 - M_2)$,
* n = 6: three are $4 (M_6 - 2 M_4 + M_2)$,
* n = 8: 25 are $12 (5 M_8 - 12 M_6 + 9 M_4 - 2 M_2)$,
* n = 10: 337 are $24 (7 M_{10} - 20 M_8 + 20 M_6 - 8 M_4 + M_2)$,

and n = 5, 7 and 9, which follow from the next n with a number repeated, have 4, 16 and 317 of their
own, with far fewer units. Each contains $M_n$, so that is a combination of means of
$\max(F, G) = (F + G + |F - G|) / 2$. F has at most one set up to n = 4, two up to six, three up to
eight and four up to ten.

Used by field.max-of-five, field.max-of-six, field.max-of-eight-by-pairs, -nine-, -ten-, and
field.means-without-kinks. That two hidden layers are enough is due to E. Bakaev, F. Brunck,
C. Hertrich, J. Stade, A. Yehudayoff, *Better neural network expressivity: subdividing the simplex*,
for five numbers, and to K. Rueß et al., *Shallower ReLU network representations via exact linear
algebra*, arXiv:2607.21651, for six to twelve; the means of six are theirs as well. The others were
found by linear algebra, as in examples/max_identities.py (docs/proofs/maxima-by-pairs.md).
"""

from __future__ import annotations

import json
from collections import defaultdict
from fractions import Fraction
from importlib import resources

from rankcheck.theory.witnesses.maxima import MaxIdentity, MaxTerm, Sum


def means_without_kinks(n: int) -> tuple[tuple[MaxTerm, ...], dict[int, int]]:
    """The means of |F − G| of n numbers, and which combination of the M_m they are.

    A term stands for coefficient · |left − right|.

    >>> means_without_kinks(4)
    ((MaxTerm(coefficient=Fraction(1, 1), left=((0, 1),), right=((2, 3),)),), {4: 2, 2: -2})

    Raises:
        ValueError: not 3 ≤ n ≤ 10.
    """
    data = resources.files(__package__).joinpath("maxima_by_pairs.json").read_text("utf-8")
    entry = json.loads(data).get(str(n))
    if entry is None:
        raise ValueError(f"received n = {n}; there are coefficients for n = 3, ..., 10")
    terms = []
    for line in entry["means"]:
        coefficient, _, sides = line.partition(":")
        left, right = ([map(int, s) for s in side.split()] for side in sides.split("|"))
        terms.append(MaxTerm(coefficient, left, right))
    return tuple(terms), {int(m): a for m, a in entry["maxima"].items()}


def maximum_by_pairs(n: int) -> MaxIdentity:
    """The maximum of n numbers by maxima of at most two numbers and maxima of two, n ≤ 10.

    >>> [len(maximum_by_pairs(n).terms) for n in range(1, 11)]
    [1, 1, 1, 1, 4, 4, 24, 29, 366, 366]

    Raises:
        ValueError: not 1 ≤ n ≤ 10.
    """
    if not 1 <= n <= 10:
        raise ValueError(f"received n = {n}; there are identities for n = 1, ..., 10")
    return MaxIdentity(n, tuple(MaxTerm(c, *sides) for sides, c in _maximum(n).items() if c))


def _maximum(n: int) -> dict[tuple[Sum, Sum], Fraction]:
    """The coefficients of M_n: M_n = (Σ_t c_t mean |F_t − G_t| − Σ_{m < n} a_m M_m) / a_n."""
    if n in (1, 2):
        side = (tuple(range(n)),)
        return {(side, side): Fraction(1)}
    terms, maxima = means_without_kinks(n)
    total = defaultdict[tuple[Sum, Sum], Fraction](Fraction)
    for term in terms:
        share = term.coefficient / maxima[n]
        total[term.left, term.right] += 2 * share
        for s in (*term.left, *term.right):
            side = (tuple(range(len(s))),)
            total[side, side] -= share
    for m in maxima.keys() - {n}:
        for sides, c in _maximum(m).items():
            total[sides] -= c * maxima[m] / maxima[n]
    return total
