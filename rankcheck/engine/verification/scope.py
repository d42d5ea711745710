"""Enumerates every small instance of a claim: the scope that a profile fixes.

The instances come in the order of `rankcheck.theory.instances.scope`, so the first one that is
proved to violate the claim is the smallest counterexample in that order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch

from rankcheck.claims.claim import Claim
from rankcheck.engine.counterexamples.instance import Instance, excess
from rankcheck.engine.verification.batches import draw_batch, evaluate_batch, runs_singly
from rankcheck.engine.verification.counts import Counts
from rankcheck.engine.verification.evaluation import Part
from rankcheck.engine.verification.ledger import Scope
from rankcheck.engine.verification.profiles import Profile
from rankcheck.engine.verification.search import violations
from rankcheck.engine.verification.tally import Tally
from rankcheck.theory.instances.drivers import ScopeSource
from rankcheck.theory.instances.scope import RUNS, Shapes, shapes

#: Instances that are evaluated together.
BATCH = 4096
#: So many violations of a batch are judged in order, before the largest of them.
FIRST = 8


def scope_of(claim: Claim, profile: Profile) -> Shapes:
    """The shapes of a claim's scope.

    The scope has as many entries as the profile says, or fewer: so few that the shapes and the
    instances do not exceed the numbers of the profile (which `effort` multiplies if it is below 1).
    Those of a claim whose instances run one at a time are as few as a sweep has.
    """
    assert claim.instances is not None
    scope = shapes(claim.instances, profile.scope, runs=profile.scope_runs)
    share = min(1.0, claim.effort)
    most = share * (profile.single if _singly(claim, scope) else profile.scope_instances)
    for entries in range(profile.scope, -1, -1):
        small = [shape for shape in scope.shapes if shape.entries <= entries]
        fits = sum(shape.instances for shape in small) <= most
        if fits and len(small) <= share * profile.scope_shapes:
            return replace(scope, entries=entries, shapes=small)
    return replace(scope, entries=0, shapes=[])


def _singly(claim: Claim, scope: Shapes) -> bool:
    """Whether the instances of a scope run one at a time: those of its last shape do."""
    assert claim.instances is not None
    with_entries = [shape for shape in scope.shapes if shape.entries]
    if not with_entries:
        return False
    source = ScopeSource(with_entries[-1], 0, min(FIRST, with_entries[-1].instances))
    batch = draw_batch(claim, claim.instances, source)
    return batch.whole and runs_singly(claim, claim.instances, batch)


def enumerate_scope(
    claim: Claim,
    scope: Shapes,
    tally: Tally,
    *,
    progress: Callable[[int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Instance | None:
    """Evaluate every instance of the scope; the smallest proved violation, if there is one.

    Without a proof, the first violation that is neither proved nor rounding, or None.

    Args:
        scope: its shapes.
        tally: counts the instances, and those on which the claim raises.
        progress: called with the number of instances of each batch.
        stop: asked after each batch whether the enumeration has to end.
    """
    assert claim.instances is not None
    undecided: Instance | None = None
    for shape, start, size in scope.batches(BATCH):
        source = ScopeSource(shape, start, size)
        _, evaluation = evaluate_batch(claim, claim.instances, source)
        tally.count(evaluation)
        for part in evaluation.parts:
            for violation in _violations(claim, part, tally):
                if violation.proved:
                    return violation
                undecided = undecided or violation
        if progress is not None:
            progress(size)
        if tally.lost or (stop is not None and stop()):
            break
    return undecided


def scope_facts(scope: Shapes, counts: Counts) -> Scope:
    """What the ledger says of a scope, and of how much of it was evaluated."""
    whole = counts.total == scope.instances
    return Scope(
        scope.entries,
        len(scope.shapes),
        scope.instances,
        scope.complete and whole,
        counts,
        scope.sentence() if whole else f"{counts.total} of {scope.sentence()}",
    )


def smallest_text(text: str) -> str:
    """A line for the message of a counterexample that the enumeration of a scope found."""
    return f"\n  smallest: the first violation that is proved among {text}"


def wide(profile: Profile, entries: int) -> Profile:
    """A profile whose scope has so many entries, however many instances these are."""
    return replace(
        profile,
        scope=entries,
        scope_instances=sys.maxsize,
        scope_shapes=sys.maxsize,
        scope_runs=RUNS,
        single=sys.maxsize,
    )


def _violations(claim: Claim, part: Part, tally: Tally) -> Iterator[Instance]:
    """The violations of a batch that are not rounding: the first ones, then the largest."""
    if not part.violating:
        return
    beyond = torch.where(part.valid, excess(part.relations), -torch.inf)
    violated = (beyond > -torch.inf).nonzero().reshape(-1).tolist()
    yield from violations(claim, part, tally, violated[:FIRST])
