r"""The maximum of eight numbers by two hidden layers.

max(x_0, ..., x_7) is the mean, over all permutations of the eight numbers, of 36 maxima of two sums
of at most three maxima of pairs, with rational coefficients.
:func:`rankcheck.witnesses.is_maximum` proves it: on x_0 ≤ ... ≤ x_7 all kinks cancel.

Used by field.max-of-eight-by-pairs. Source: none that we know. The coefficients were found by the
equations of examples/max_identities.py, for a sample of 495 means; it does not take all of them.
"""

from __future__ import annotations

from rankcheck.witnesses.maxima import MaxIdentity, MaxTerm

__all__ = ["MAX_OF_EIGHT_BY_PAIRS"]

MAX_OF_EIGHT_BY_PAIRS = MaxIdentity(
    8,
    (
        MaxTerm("-279/85", [(0, 3), (3, 4), (4, 7)], [(0, 4), (0, 4), (1, 7)]),
        MaxTerm("2/5", [(0, 2), (2, 4), (5, 6)], [(0, 6), (2, 5), (3, 7)]),
        MaxTerm("2", [(0, 5), (1, 6), (2, 4)], [(1, 5), (3, 7), (4, 6)]),
        MaxTerm("-4/5", [(0, 1), (1, 4), (1, 6)], [(1, 3), (2, 5), (3, 7)]),
        MaxTerm("2/5", [(0, 5), (4, 7), (5, 6)], [(1, 2), (1, 3), (5, 7)]),
        MaxTerm("79/30", [(1, 3), (2, 5), (4, 7)], [(1, 5), (2, 3), (2, 7)]),
        MaxTerm("-4/5", [(0, 5), (2, 7), (6, 7)], [(0, 7), (1, 4), (3, 5)]),
        MaxTerm("12/5", [(0, 7), (2, 3), (2, 5)], [(1, 3), (2, 6), (3, 4)]),
        MaxTerm("-11/10", [(0, 3), (1, 2), (2, 6)], [(1, 6), (1, 6), (5, 7)]),
        MaxTerm("1", [(0, 1), (2, 7), (3, 6)], [(0, 3), (2, 4), (5, 7)]),
        MaxTerm("-1/4", [(1, 2), (3, 5), (4, 6)], [(2, 7), (3, 4), (5, 6)]),
        MaxTerm("279/170", [(0, 3), (0, 3), (1, 3)], [(2, 3), (2, 3), (3, 5)]),
        MaxTerm("6/5", [(0, 4), (1, 4), (2, 3)], [(1, 2), (5, 7), (6, 7)]),
        MaxTerm("-1/20", [(1, 2), (3, 6), (5, 7)], [(3, 5), (3, 7), (6, 7)]),
        MaxTerm("-103/60", [(0, 3), (2, 4), (4, 6)], [(0, 6), (3, 4), (4, 5)]),
        MaxTerm("-2", [(0, 7), (2, 4), (3, 6)], [(1, 2), (2, 5), (3, 7)]),
        MaxTerm("1", [(0, 1), (0, 2), (3, 7)], [(0, 4), (3, 5), (3, 6)]),
        MaxTerm("8/15", [(0, 6), (1, 5), (1, 7)], [(3, 5), (3, 7), (5, 7)]),
        MaxTerm("-12/5", [(0, 4), (1, 2), (5, 7)], [(1, 3), (2, 4), (4, 6)]),
        MaxTerm("6/5", [(0, 6), (1, 4), (1, 6)], [(1, 7), (2, 6), (3, 5)]),
        MaxTerm("-6/5", [(0, 6), (1, 5), (4, 5)], [(2, 6), (3, 6), (3, 7)]),
        MaxTerm("1/36", [(2, 6), (3, 5), (4, 7)], [(2, 7), (3, 4), (5, 6)]),
        MaxTerm("-12/5", [(0, 1), (1, 7), (5, 6)], [(0, 2), (1, 3), (1, 4)]),
        MaxTerm("121/255", [(0, 3), (0, 6), (1, 7)], [(0, 7), (3, 6), (3, 6)]),
        MaxTerm("-2/5", [(0, 4), (1, 4), (4, 6)], [(2, 4), (3, 5), (3, 7)]),
        MaxTerm("-8/15", [(0, 2), (3, 5), (4, 5)], [(3, 4), (5, 6), (5, 6)]),
        MaxTerm("2/5", [(0, 4), (0, 5), (0, 6)], [(1, 2), (1, 7), (3, 7)]),
        MaxTerm("11/20", [(0, 4), (3, 7), (3, 7)], [(1, 2), (3, 5), (3, 5)]),
        MaxTerm("-1/4", [(0, 3), (1, 4), (2, 6)], [(1, 2), (4, 6), (5, 7)]),
        MaxTerm("-1/15", [(0, 3), (3, 5), (3, 6)], [(1, 2), (1, 4), (1, 7)]),
        MaxTerm("-7/12", [(0, 5), (1, 3), (5, 6)], [(0, 6), (1, 5), (3, 5)]),
        MaxTerm("4/5", [(0, 5), (1, 5), (4, 7)], [(2, 5), (3, 5), (5, 6)]),
        MaxTerm("16/85", [(0, 1), (1, 5), (6, 7)], [(0, 7), (1, 6), (5, 7)]),
        MaxTerm("-4/45", [(0, 3), (0, 4), (3, 4)], [(1, 2), (1, 5), (2, 5)]),
        MaxTerm("7/6", [(3, 4), (4, 6), (4, 6)], [(3, 7), (3, 7), (6, 7)]),
        MaxTerm("733/1020", [(0, 4)], [(3, 7)]),
    ),
)
"""The maximum of eight numbers by maxima of pairs and maxima of two."""
