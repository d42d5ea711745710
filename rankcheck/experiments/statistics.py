r"""Tests of statements about random runs, at a level.

An experiment of a few seeds says nothing of "all trainings". What can be tested is a statement on
the distribution of one run, over data and first weights: *more than half of the runs end like
this*. If at most half of them did, S or more of n independent runs would with probability at most
$P(\mathrm{Bin}(n, 1/2) \ge S)$. Where this is below the level, the statement is kept.
"""

from __future__ import annotations

__all__ = ["LEVEL", "sign_test"]

#: The level of all claims about experiments.
LEVEL = 0.05


def sign_test(successes: int, runs: int, share: float = 0.5) -> float:
    """P(Bin(runs, share) ≥ successes): the p-value against "at most this share of the runs does".

    Raises:
        ValueError: unless 0 ≤ successes ≤ runs, runs ≥ 1, and 0 < share < 1.

    >>> sign_test(5, 5), sign_test(4, 5), sign_test(0, 5)
    (0.03125, 0.1875, 1.0)
    """
    if not (0 <= successes <= runs and runs >= 1 and 0 < share < 1):
        raise ValueError(
            f"received {successes} successes in {runs} runs against {share}; there are between 0 "
            "and as many successes as runs, at least one run, and a share between 0 and 1"
        )
    from scipy.special import bdtrc  # scipy.stats would take a second to import

    return float(bdtrc(successes - 1, runs, share))
