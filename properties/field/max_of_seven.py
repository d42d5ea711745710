"""Grillo, Hertrich and Loho: the maximum of seven numbers takes maxima of three and, behind them,
maxima of two."""

from functools import cache

import torch

from rankcheck import construction, eq, leq, paper, witnesses
from rankcheck.instances import Source, instances


@instances
def seven_numbers(source: Source):
    """Any seven numbers."""
    return source.tensor(7)


@instances
def sets_of_positions(source: Source):
    """A set of seven positions: 1 for each that is in it, 0 for the others."""
    return tuple(source.integer(0, 1) for _ in range(7))


@cache
def differences(identity):
    """F − G of each of its maxima of two at the indicators of all sets: (terms, 128)."""
    sides = [[witnesses.values_on_sets(7, s) for s in (t.left, t.right)] for t in identity.expanded]
    return torch.tensor([(F - G).tolist() for F, G in sides])


BENT, *REST = witnesses.MAX_OF_SEVEN.terms
#: m_04 for m_014.
PAIR = [(0, 4) if s == (0, 1, 4) else s for s in BENT.left]
CHANGED = witnesses.MaxTerm("2/5", BENT.left, BENT.right)
SHORTER = witnesses.MaxTerm(BENT.coefficient, PAIR, BENT.right)
MUTANTS = {
    "2/5 for the first coefficient": {"identity": witnesses.MaxSum(7, (CHANGED, *REST))},
    "a maximum of two for one of three": {"identity": witnesses.MaxSum(7, (SHORTER, *REST))},
    "a term less": {"identity": witnesses.MaxSum(7, (BENT, *REST[:-2], REST[-1]))},
}


@construction(
    "field.max-of-seven",
    paper("grillo2025", "a rank-3 maxout layer and a rank-2 maxout layer, as recalled"),
    instances=seven_numbers(),
    mutants=MUTANTS,
    witness=witnesses.MaxSum,
)
def test_max_of_seven(x, *, identity=witnesses.MAX_OF_SEVEN):
    r"""The maximum of seven numbers by maxima of three and maxima of two sums of those.

    With $m_S = \max_{i \in S} x_i$, $C = \{0, 1, 2, 3\}$,
    $F = \sum_{i<4} m_{i45} + m_{036} + m_{126}$ and
    $G = m_{014} + m_{234} + m_{035} + m_{125} + 2 m_{45}$, for all $x \in \mathbb R^7$
    $$2 \max(x_0, \dots, x_6) = \max(F, G) - \sum_{i<4} m_{i45} - m_{0356} - m_{1256}
    - \sum_{i<4} m_{C \setminus i \cup 46} + \sum_{i<4} m_{C \setminus i \cup 456} + 2 m_{C46}.$$
    A maximum of four to six numbers is one of two maxima of at most three, so this is a maxout layer
    of rank 3, of 19 maxima, and one of rank 2, of 13. A tree of maxima of three and of two stops at six
    numbers.

    Compared at any numbers, and at whole ones without a tolerance; field.max-of-seven-on-sets proves
    it. Not checked: that the network is the one of the paper. It was found again, by integer
    programming (examples/max_identities.py).
    """
    whole, scale = torch.round(x), 40 * x.abs().amax()
    return (
        eq(identity(x), 2 * x.amax(), scale=scale, label="the identity"),
        eq(identity(whole), 2 * whole.amax(), terms=0, label="whole numbers"),
        eq(identity.rank, 3, label="maxima of three"),
    )


@construction(
    "field.max-of-seven-on-sets",
    paper("grillo2025", "functions on the braid fan, as recalled"),
    instances=sets_of_positions(),
    mutants=MUTANTS,
    witness=witnesses.MaxSum,
)
def test_max_of_seven_on_sets(*indicator, identity=witnesses.MAX_OF_SEVEN):
    r"""Why it is the maximum of seven numbers: one set of positions at a time.

    For a set T of positions: the identity holds at the indicator of T, and in each of its 13 maxima
    of two the difference $F - G$ has no opposite signs at the indicators of T and of a subset of T,
    and is zero at $(1, \dots, 1)$.

    There are 128 such sets, and for all of them this proves field.max-of-seven at every
    $x \in \mathbb R^7$: x is a combination of $\pm(1, \dots, 1)$ and of indicators of nested sets,
    with factors $\ge 0$; all $m_S$ are linear on the cone of such combinations, and so is
    $\max(F, G)$ where $F - G$ has one sign on its generators.
    """
    chosen = sum(1 << i for i, k in enumerate(indicator) if k)
    subsets = [S for S in range(128) if S & chosen == S]
    x = torch.tensor([float(k) for k in indicator], dtype=torch.float64)
    difference = differences(identity)
    return (
        eq(identity(x), 2 * x.amax(), terms=0, label="the identity on sets"),
        leq(0, difference[:, subsets] * difference[:, [chosen]], label="one sign on nested sets"),
        eq(difference[:, -1], 0, label="equal numbers"),
    )
