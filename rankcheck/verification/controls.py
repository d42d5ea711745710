"""The controls of a claim: statements made false on purpose, which a search has to refute.

There are three kinds: a hypothesis is dropped (`needs`), a parameter of the body is changed
(`mutants`), or a relation is made 2 % stronger (the derived mutants). A control that is not caught
shows that the claim, or the search, is too weak.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankcheck.claims.claim import Claim
from rankcheck.counterexamples.agreement import settle
from rankcheck.counterexamples.judge import judge
from rankcheck.instances.record import Record
from rankcheck.instances.source import Instances
from rankcheck.verification.evaluation import CULPRITS, evaluate_instances, instance_text
from rankcheck.verification.ledger import Mutants
from rankcheck.verification.profiles import Profile
from rankcheck.verification.search import Tally, batches, worst_of

__all__ = ["SHARE", "Control", "breaks", "check_hypotheses", "check_mutants"]

#: The share of the profile's batches that is spent on each control.
SHARE = 0.5


@dataclass(frozen=True)
class Control:
    """What came of a control.

    Attributes:
        caught: whether it broke the claim.
        disagree: of a violation about which floats and balls disagree, both figures, or None. Such
            a violation does not break the claim.
        raised: what the body raised if the control was not caught, or None.
        record, family: the instance that broke the claim, if one did.
    """

    caught: bool
    disagree: str | None = None
    raised: str | None = None
    record: Record | None = None
    family: Instances | None = None

    def instance(self, claim: Claim) -> str | None:
        """The instance that broke the claim, as a text."""
        if self.record is None or self.family is None:
            return None
        return instance_text(claim, self.family, self.record)


def breaks(
    claim: Claim, family: Instances, profile: Profile, seed: int, parameters: Mapping[str, Any]
) -> Control:
    """Whether some instance of a family breaks the claim with these parameters.

    The violation has to be proved, unless the claim has no ball form. An instance that the balls
    leave undecided, such as one with a side that is not a number, does not count. Nor does one on
    which the body raises.
    """
    planned = profile.batches if claim.no_batch is None else profile.single
    count = max(4, round(planned * SHARE * claim.effort))
    disagree: str | None = None
    raised: str | None = None
    for make in batches(
        claim, family, count, profile.size, (seed, claim.id, family.name, "control")
    ):
        evaluation = evaluate_instances(claim, family, make, parameters)
        for failure in evaluation.raised[:1]:
            said = " ".join(str(failure.error).split())
            raised = raised or f"{type(failure.error).__name__}: {said}"
        for part in evaluation.parts:
            for worst in worst_of(part.relations, part)[:1]:
                record = part.instance(worst)
                judgement = judge(claim, record, family=family, parameters=parameters)
                if judgement.finding == "refuted" or judgement.unprovable:
                    return Control(True, disagree, None, record, family)
                settled = settle(claim, family, record, judgement, parameters)
                if settled.disagree:
                    disagree = disagree or settled.judgement.reason
        if len(evaluation.raised) >= CULPRITS:
            break
    return Control(False, disagree, raised)


def check_hypotheses(claim: Claim, profile: Profile, seed: int) -> dict[str, Control]:
    """By hypothesis, the control that drops it."""
    return {
        name: breaks(claim, need.instances, profile, seed, dict(need.parameters))
        for name, need in claim.needs.items()
    }


def check_mutants(
    claim: Claim, tallies: Sequence[Tally], profile: Profile, seed: int
) -> tuple[Mutants, dict[str, Control]]:
    """The derived mutants, of which the tallies know, and by name the mutants of the claim.

    A conjecture has no derived mutants: nobody knows whether it is sharp. Nor has a claim about a
    recorded experiment: a p-value is not sharp against its level.
    """
    assert claim.instances is not None
    survivors: list[str] = []
    total = len(claim.mutants)
    if claim.kind != "conjecture" and claim.instances.recording is None:
        seen = {number: what for tally in tallies for number, what in tally.seen.items()}
        killed = {number for tally in tallies for number in tally.killed}
        sharp = {n: what for n, what in seen.items() if claim.loose_because(what[1]) is None}
        total += len(sharp)
        for number, (kind, label) in sorted(sharp.items()):
            if number not in killed:
                change = "one side 2 % off" if kind == "eq" else "bound 2 % stronger"
                survivors.append(f"{change}{f' ({label})' if label else ''}")
    families = [claim.instances] if claim.tight is None else [claim.tight, claim.instances]
    controls: dict[str, Control] = {}
    for name, parameters in claim.mutants.items():
        disagree = raised = None
        for family in families:
            control = breaks(claim, family, profile, seed, dict(parameters))
            disagree, raised = disagree or control.disagree, raised or control.raised
            if control.caught:
                break
        else:
            survivors.append(name)
        raised = None if control.caught else raised
        controls[name] = replace(control, disagree=disagree, raised=raised)
    return Mutants(total - len(survivors), total, tuple(survivors)), controls
