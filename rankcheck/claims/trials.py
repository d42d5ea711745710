r"""Statements about random runs, at a level: more than half of them end like this.

Several runs say nothing of "all trainings". What can be tested is a statement on the distribution
of one run, over data and first weights: *more than half of the runs end like this*. If at most half
of them did, S or more of n independent runs would with probability at most
$P(\mathrm{Bin}(n, 1/2) \ge S)$. Where this is below the level, the statement is kept.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

from rankcheck.claims.relations import Relation, leq

__all__ = ["LEVEL", "mostly", "sign_test"]

LEVEL = 0.05


def sign_test(successes: int, runs: int) -> float:
    """P(Bin(runs, 1/2) ≥ successes): the p-value against "at most half of all runs do".

    Raises:
        ValueError: unless 0 ≤ successes ≤ runs, and runs ≥ 1.

    >>> sign_test(5, 5), sign_test(4, 5), sign_test(0, 5)
    (0.03125, 0.1875, 1.0)
    """
    if not (0 <= successes <= runs and runs >= 1):
        raise ValueError(
            f"received {successes} successes in {runs} runs; there are between 0 and as many "
            "successes as runs, and at least one run"
        )
    from scipy.special import bdtrc  # scipy.stats would take a second to import

    return float(bdtrc(successes - 1, runs, 0.5))


def mostly(outcomes: Iterable[bool], label: str) -> Relation:
    """More than half of all runs end like this, at `LEVEL`, by `sign_test` on those at hand.

    The left side is the p-value, the right side the level: five of five runs give 0.031, seven of
    eight 0.035.

    Args:
        outcomes: of independent runs, whether they end like this.
    """
    ends = [bool(each) for each in outcomes]
    p = sign_test(sum(ends), len(ends))
    return leq(torch.tensor(p, dtype=torch.float64), LEVEL, label=label)
