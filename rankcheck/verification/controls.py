"""The controls of a claim: statements made false on purpose, which a search has to refute.

There are three kinds: a hypothesis is dropped (`needs`), a parameter of the body is changed
(`mutants`), or a relation is made 2 % stronger (the derived mutants). A control that is not caught
shows that the claim, or the search, is too weak.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankcheck.claims.claim import Claim
from rankcheck.counterexamples.judge import judge
from rankcheck.counterexamples.violation import evaluate
from rankcheck.instances.source import BatchSource, Instances, Rejected, seed_of
from rankcheck.verification.ledger import Mutants
from rankcheck.verification.profiles import Profile
from rankcheck.verification.search import Tally, worst_of

__all__ = ["SHARE", "breaks", "check_hypotheses", "check_mutants"]

#: The share of the profile's batches that is spent on each control.
SHARE = 0.5


def breaks(
    claim: Claim, family: Instances, profile: Profile, seed: int, parameters: Mapping[str, Any]
) -> bool:
    """Whether some instance of a family breaks the claim with these parameters.

    The violation has to be proved, unless the claim has no ball form. An instance that the balls
    leave undecided, such as one with a side that is not a number, does not count.
    """
    planned = profile.batches if claim.no_batch is None else profile.single
    for index in range(max(4, round(planned * SHARE * claim.effort))):
        size = None if claim.no_batch is not None else profile.size
        source = BatchSource(seed_of(seed, claim.id, family.name, "control", index), size)
        try:
            relations = evaluate(claim, family, source, parameters)
        except Rejected:
            continue
        for worst in worst_of(relations, source)[:1]:
            record = source.record.instance(worst) if source.batch else source.record.detach()
            judgement = judge(claim, record, family=family, parameters=parameters)
            if judgement.finding == "refuted" or judgement.unprovable:
                return True
    return False


def check_hypotheses(claim: Claim, profile: Profile, seed: int) -> tuple[list[str], list[str]]:
    """The hypotheses without which the claim breaks, and those without which it does not."""
    broken: list[str] = []
    unbroken: list[str] = []
    for name, need in claim.needs.items():
        caught = breaks(claim, need.instances, profile, seed, dict(need.parameters))
        (broken if caught else unbroken).append(name)
    return broken, unbroken


def check_mutants(claim: Claim, tallies: Sequence[Tally], profile: Profile, seed: int) -> Mutants:
    """The derived mutants, of which the tallies know, and the mutants that the claim names.

    A conjecture has no derived mutants: nobody knows whether it is sharp.
    """
    assert claim.instances is not None
    survivors: list[str] = []
    total = len(claim.mutants)
    if claim.kind != "conjecture":
        seen = {number: what for tally in tallies for number, what in tally.seen.items()}
        killed = {number for tally in tallies for number in tally.killed}
        sharp = {n: what for n, what in seen.items() if claim.loose_because(what[1]) is None}
        total += len(sharp)
        for number, (kind, label) in sorted(sharp.items()):
            if number not in killed:
                change = "bound 2 % stronger" if kind == "leq" else "one side 2 % off"
                survivors.append(f"{change}{f' ({label})' if label else ''}")
    families = [claim.instances] if claim.tight is None else [claim.tight, claim.instances]
    for name, parameters in claim.mutants.items():
        if not any(breaks(claim, family, profile, seed, dict(parameters)) for family in families):
            survivors.append(name)
    return Mutants(total - len(survivors), total, tuple(survivors))
