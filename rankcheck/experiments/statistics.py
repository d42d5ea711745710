r"""Tests of statements about random runs, at a level; and several runs in a few words.

An experiment of a few seeds says nothing of "all trainings". What can be tested is a statement on
the distribution of one run, over data and first weights: *more than half of the runs end like
this*. If at most half of them did, S or more of n independent runs would with probability at most
$P(\mathrm{Bin}(n, 1/2) \ge S)$. Where this is below the level, the statement is kept.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence

__all__ = ["LEVEL", "most", "seeds_in_words", "sign_test", "span", "spread", "tally"]

#: The level of all claims about experiments.
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


def most(outcomes: Iterable[bool]) -> bool:
    """Whether more than half of all runs end like this, at `LEVEL`, by those at hand."""
    ends = [bool(each) for each in outcomes]
    return sign_test(sum(ends), len(ends)) <= LEVEL


def seeds_in_words(seeds: Iterable[int]) -> str:
    """Seeds, in ranges of successive ones.

    >>> seeds_in_words([3, 1, 2, 7]), seeds_in_words([])
    ('1 to 3, 7', 'none')
    """
    ranges: list[list[int]] = []
    for seed in sorted(set(seeds)):
        if ranges and seed == ranges[-1][-1] + 1:
            ranges[-1].append(seed)
        else:
            ranges.append([seed])
    return ", ".join(span([each[0], each[-1]]) for each in ranges) or "none"


def span(values: Sequence[float], digits: int = 2) -> str:
    """The smallest and the largest of several numbers; whole numbers are written out.

    >>> span([3, 2, 4]), span([0.123456])
    ('2 to 4', '0.12')
    """
    low, high = (
        str(value) if isinstance(value, int) else f"{value:.{digits}g}"
        for value in (min(values), max(values))
    )
    return low if low == high else f"{low} to {high}"


def spread(values: Sequence[float], digits: int = 2) -> str:
    """The smallest, the largest and the middle of several numbers.

    >>> spread([1.0, 2.0, 4.0])
    '1 to 4, median 2'
    """
    low, high, middle = (f(values) for f in (min, max, statistics.median))
    return f"{low:.{digits}g} to {high:.{digits}g}, median {middle:.{digits}g}"


def tally(values: Sequence[int | None]) -> str:
    """How often each value occurs, the smallest first.

    >>> tally([3, 2, 2])
    '2 in 2 of 3, 3 in 1 of 3'
    """
    times = sorted(Counter(values).items(), key=lambda pair: pair[0] or 0)
    return ", ".join(
        f"{'none' if value is None else value} in {count} of {len(values)}"
        for value, count in times
    )
