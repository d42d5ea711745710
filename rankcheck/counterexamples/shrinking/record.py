"""Making an instance small: in its own domain first, then through Hypothesis.

The domain knows what Hypothesis cannot: that a smaller width crops every matrix that has it, and
that a layer goes with its tensors. A start of 64 × 64 is cropped in a few steps; what is left fits
the buffer of Hypothesis, which brings its numbers to what a person reads.
"""

from __future__ import annotations

from collections.abc import Callable

from rankcheck.counterexamples.shrinking.clock import Clock
from rankcheck.counterexamples.shrinking.cropping import crop
from rankcheck.counterexamples.shrinking.entries import simplify_entries
from rankcheck.counterexamples.shrinking.handover import (
    HandoverError,
    Shrunk,
    refusal,
    shrink_with_hypothesis,
)
from rankcheck.instances.record import Record
from rankcheck.instances.source import Instances

__all__ = ["HandoverError", "Shrunk", "shrink"]

Test = Callable[[Record], bool]

#: The share of the budget that the domain may take before Hypothesis has its turn.
DOMAIN_SHARE = 0.6
#: Cropping and simpler entries make room for each other, but hardly ever more often than this.
ROUNDS = 4


def shrink(
    family: Instances,
    record: Record,
    interesting: Test,
    *,
    screen: Test | None = None,
    budget: float = 5.0,
) -> Shrunk:
    """A small record of the family that is interesting, from one that is.

    Args:
        interesting: true of `record`, and false of what the family rejects. It decides, and may be
            slow.
        screen: a quick test that hardly any interesting record fails. The first descent goes by it
            alone; where `interesting` does not hold at its end, the descent is gone through again
            with both.
        budget: seconds, after which the smallest record so far is returned.

    Raises:
        HandoverError: if Hypothesis does not do with the record what it is relied on to do.
    """
    clock = Clock(budget)
    if screen is not None and not screen(record):
        screen = None

    def screened(candidate: Record) -> bool:
        return (screen is None or screen(candidate)) and interesting(candidate)

    small = record
    if screen is not None:
        quick = clock.share(DOMAIN_SHARE / 2)
        small = in_domain(family, record, screen, quick)
        if small is not record and not interesting(small):
            small = record
    if screen is None or small is record or quick.over():
        share = DOMAIN_SHARE if refusal(small) is None else 1.0
        small = in_domain(family, small, screened, clock.share(share))
    return shrink_with_hypothesis(family, small, screened, clock)


def in_domain(family: Instances, record: Record, interesting: Test, clock: Clock) -> Record:
    """Crop and simplify in turns, until nothing changes or the time is over."""
    for _ in range(ROUNDS):
        smaller = crop(family, record, interesting, clock)
        smaller = simplify_entries(smaller, interesting, clock)
        if smaller is record:
            break
        record = smaller
    return record
