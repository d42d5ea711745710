"""Shrinks a violation, or any record that is interesting.

Shapes are cropped and entries simplified, and Hypothesis does the rest. Cropping uses what
Hypothesis cannot know: a smaller width crops every matrix that has this width, and a layer that is
dropped takes its tensors with it. It brings a 64 × 64 matrix down in a few steps. The result fits
the buffer of Hypothesis, which then simplifies its numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from time import monotonic

from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.judge import PRECISIONS
from rankcheck.engine.counterexamples.shrinking.cropping import crop
from rankcheck.engine.counterexamples.shrinking.entries import simplify_entries
from rankcheck.engine.counterexamples.shrinking.handover import (
    Shrunk,
    refusal,
    shrink_with_hypothesis,
)
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Instances, Rejected

Test = Callable[[Record], bool]

#: The share of the relative violation that a smaller instance has to keep.
KEEP = Fraction(1, 2)
#: Seconds for shrinking one violation.
BUDGET = 5.0
#: A candidate is judged at up to the precision of the violation, or this one if it is higher.
BITS = 256
#: The share of the budget that cropping and simplifying may take; Hypothesis has the rest.
DOMAIN_SHARE = 0.6
#: How often cropping and simplifying alternate at most. More rounds almost never help.
ROUNDS = 4


def shrink_violation(violation: Instance, budget: float = BUDGET) -> tuple[Instance, str | None]:
    """A small instance that violates the claim by at least half as much, judged on balls.

    Candidates are evaluated in floats first; those that violate the claim clearly are judged on
    balls. An undecided violation is returned as it is: it would shrink towards instances on which
    floats are least accurate.

    Args:
        budget: seconds.

    Returns:
        The instance, and why Hypothesis did not take part, or None if it did.
    """
    if not violation.proved:
        return violation, None
    claim, family, judgement = violation.claim, violation.family, violation.in_balls
    least = KEEP * judgement.relative_excess
    precisions = tuple(bits for bits in PRECISIONS if bits <= max(BITS, judgement.bits))

    def candidate(record: Record) -> Instance:
        return Instance(claim, family, record, precisions)

    def violates(record: Record) -> bool:
        one = candidate(record)
        return one.proved and one.in_balls.relative_excess >= least

    def seems_to(record: Record) -> bool:
        try:
            return float(least) <= candidate(record).relative < float("inf")
        except (Rejected, ArithmeticError, MemoryError, RuntimeError, ValueError):
            # A candidate that breaks a hypothesis or fails numerically is not a counterexample.
            return False

    shrunk = shrink_record(
        family,
        violation.record,
        violates,
        screen=seems_to,
        budget=budget,
        name=f"{claim.id}, shrinking",
    )
    unchanged = shrunk.record is violation.record
    return violation if unchanged else candidate(shrunk.record), shrunk.left_out


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
    start = monotonic()
    end = start + budget
    if screen is not None and not screen(record):
        screen = None

    def screened(candidate: Record) -> bool:
        return (screen is None or screen(candidate)) and interesting(candidate)

    small = record
    if screen is not None:
        quick = start + DOMAIN_SHARE / 2 * budget
        small = descend(family, record, screen, quick)
        if small is not record and not interesting(small):
            small = record
    if screen is None or small is record or monotonic() >= quick:
        share = DOMAIN_SHARE if refusal(small) is None else 1.0
        small = descend(family, small, screened, end - (1 - share) * (end - monotonic()))
    return shrink_with_hypothesis(family, small, screened, end, name)


def descend(family: Instances, record: Record, interesting: Test, until: float) -> Record:
    """Crop and simplify in turns, until nothing changes or the time is up."""
    for _ in range(ROUNDS):
        smaller = crop(family, record, interesting, until)
        smaller = simplify_entries(smaller, interesting, until)
        if smaller is record:
            break
        record = smaller
    return record
