"""Shrinks a record: crops its shapes and simplifies its entries, then leaves it to Hypothesis.

Cropping uses what Hypothesis cannot know: a smaller width crops every matrix that has this width,
and a layer that is dropped takes its tensors with it. It brings a 64 × 64 matrix down in a few
steps. The result fits the buffer of Hypothesis, which then simplifies its numbers.
"""

from __future__ import annotations

from collections.abc import Callable

from rankcheck.counterexamples.shrinking.clock import Clock
from rankcheck.counterexamples.shrinking.cropping import crop
from rankcheck.counterexamples.shrinking.entries import simplify_entries
from rankcheck.counterexamples.shrinking.handover import (
    Shrunk,
    refusal,
    shrink_with_hypothesis,
)
from rankcheck.instances.record import Record
from rankcheck.instances.source import Instances

Test = Callable[[Record], bool]

#: The share of the budget that cropping and simplifying may take; Hypothesis has the rest.
DOMAIN_SHARE = 0.6
#: How often cropping and simplifying alternate at most. More rounds almost never help.
ROUNDS = 4


def shrink_record(
    family: Instances,
    record: Record,
    interesting: Test,
    *,
    screen: Test | None = None,
    budget: float = 5.0,
    name: str = "shrinking",
) -> Shrunk:
    """A small interesting record, from an interesting one.

    Args:
        interesting: the property to keep. It is true of `record`, and false of records that the
            family rejects. It may be slow.
        screen: a quick test that almost every interesting record passes. The first descent uses it
            alone. If its result is not interesting, the descent is repeated with both tests.
        budget: seconds, after which the smallest record so far is returned.
        name: the property of what Hypothesis observes.

    Raises:
        HandoverError: if Hypothesis does not replay the record that it was handed.
    """
    clock = Clock(budget)
    if screen is not None and not screen(record):
        screen = None

    def screened(candidate: Record) -> bool:
        return (screen is None or screen(candidate)) and interesting(candidate)

    small = record
    if screen is not None:
        quick = clock.share(DOMAIN_SHARE / 2)
        small = descend(family, record, screen, quick)
        if small is not record and not interesting(small):
            small = record
    if screen is None or small is record or quick.over():
        share = DOMAIN_SHARE if refusal(small) is None else 1.0
        small = descend(family, small, screened, clock.share(share))
    return shrink_with_hypothesis(family, small, screened, clock, name)


def descend(family: Instances, record: Record, interesting: Test, clock: Clock) -> Record:
    """Crop and simplify in turns, until nothing changes or the time is up."""
    for _ in range(ROUNDS):
        smaller = crop(family, record, interesting, clock)
        smaller = simplify_entries(smaller, interesting, clock)
        if smaller is record:
            break
        record = smaller
    return record
