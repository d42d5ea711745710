r"""The maximum of seven numbers by two hidden layers.

max(x_0, ..., x_6) is the mean, over all permutations of the seven numbers, of 24 maxima of two sums
of three maxima of at most two numbers, with rational coefficients.
:func:`rankcheck.witnesses.is_maximum` proves it: on x_0 ≤ ... ≤ x_6 all kinks cancel. Its
``network()`` has the widths 7 → 44 → 44699 → 1 and integer weights; it takes a minute to make.

Used by field.max-of-seven-by-pairs. Source: none that we know. Such coefficients are found by
`python examples/max_identities.py --of 7 --summands 3`; these took more linear programs, for fewer
terms. Sums of two maxima are not enough, which the same program proves.
"""

from __future__ import annotations

from rankcheck.witnesses.maxima import MaxIdentity, MaxTerm

__all__ = ["MAX_OF_SEVEN_BY_PAIRS"]

MAX_OF_SEVEN_BY_PAIRS = MaxIdentity(
    7,
    (
        MaxTerm("-1/2", [(0,), (1,), (2, 3)], [(0, 4), (2, 5), (3, 6)]),
        MaxTerm("1/2", [(0,), (1, 2), (3, 4)], [(0, 1), (3, 5), (4, 6)]),
        MaxTerm("-1/2", [(0,), (1, 2), (3, 4)], [(1, 3), (2, 4), (5, 6)]),
        MaxTerm("1", [(0,), (1, 2), (3, 4)], [(1, 3), (2, 5), (4, 6)]),
        MaxTerm("33/16", [(0, 1)], [(2, 3)]),
        MaxTerm("163/144", [(0, 1), (0, 1), (0, 2)], [(0, 3), (0, 4), (1, 3)]),
        MaxTerm("5/6", [(0, 1), (0, 1), (0, 2)], [(0, 3), (4, 5), (4, 5)]),
        MaxTerm("-5/12", [(0, 1), (0, 1), (0, 2)], [(3, 4), (3, 4), (3, 5)]),
        MaxTerm("5/6", [(0, 1), (0, 1), (2, 3)], [(0, 2), (0, 4), (0, 5)]),
        MaxTerm("-163/144", [(0, 1), (0, 1), (2, 3)], [(0, 2), (0, 4), (1, 4)]),
        MaxTerm("-5/3", [(0, 1), (0, 1), (2, 3)], [(0, 2), (0, 4), (4, 5)]),
        MaxTerm("1/8", [(0, 1), (0, 1), (2, 3)], [(0, 4), (0, 4), (5, 6)]),
        MaxTerm("-1/4", [(0, 1), (0, 1), (2, 3)], [(0, 4), (1, 4), (5, 6)]),
        MaxTerm("5/36", [(0, 1), (0, 2), (1, 2)], [(3, 4), (3, 5), (4, 5)]),
        MaxTerm("7/6", [(0, 1), (0, 2), (1, 3)], [(0, 4), (0, 5), (1, 6)]),
        MaxTerm("-1/6", [(0, 1), (0, 2), (3, 4)], [(0, 3), (0, 5), (1, 4)]),
        MaxTerm("-7/3", [(0, 1), (0, 2), (3, 4)], [(0, 3), (0, 5), (4, 6)]),
        MaxTerm("17/144", [(0, 1), (0, 2), (3, 4)], [(0, 3), (1, 4), (2, 4)]),
        MaxTerm("1/6", [(0, 1), (0, 2), (3, 4)], [(0, 3), (1, 4), (4, 5)]),
        MaxTerm("7/12", [(0, 1), (0, 2), (3, 4)], [(0, 3), (4, 5), (4, 6)]),
        MaxTerm("-7/12", [(0, 1), (0, 2), (3, 4)], [(0, 5), (1, 3), (3, 6)]),
        MaxTerm("1/8", [(0, 1), (2, 3), (4, 5)], [(0, 2), (1, 3), (4, 6)]),
        MaxTerm("-1/36", [(0, 1), (2, 3), (4, 5)], [(0, 2), (1, 4), (3, 5)]),
        MaxTerm("1/2", [(0, 1), (2, 3), (4, 5)], [(0, 2), (1, 4), (3, 6)]),
    ),
)
"""The maximum of seven numbers by maxima of pairs and maxima of two."""
