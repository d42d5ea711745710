"""What a hunt reports: its counterexample made small and certified, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import relation_name
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.reporting import Found, report_violation, undecided_message
from rankcheck.engine.counterexamples.rounding import furthest
from rankcheck.engine.counterexamples.shrinking import shrink_record
from rankcheck.engine.hunt.arena import HuntError
from rankcheck.engine.hunt.result import Verdict
from rankcheck.engine.hunt.shard import Finding, Shard
from rankcheck.engine.verification.batches import evaluate_batch
from rankcheck.engine.verification.counts import Counts
from rankcheck.engine.verification.ledger import Scope
from rankcheck.engine.verification.search import batches
from rankcheck.engine.verification.tally import Tally, hidden, hollow
from rankcheck.theory.instances.choices import read_choices
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Rejected

#: A hunt of which less than this share of the instances satisfied the hypotheses has no verdict.
INSIDE = 0.05
#: Number of reasons for rejection that a message names.
REASONS = 3
#: So many batches, of so many instances, show whether a relation can be seen to fail.
HIDDEN, SIZE = 8, 64


def seen_anew(claim: Claim, seed: int) -> tuple[str, str]:
    """The relations that cannot be seen to fail, and lines on those that may say nothing.

    Instances are drawn anew: shards keep margins alone.
    """
    tally = Tally()
    for family in (claim.tight, claim.instances):
        if family is None:
            continue
        key = (seed, claim.id, family.name, "hidden")
        for source in batches(HIDDEN, SIZE, key):
            _, evaluation = evaluate_batch(claim, family, source)
            tally.count(evaluation)
            for part in evaluation.parts:
                tally.add(part)
    unseen, lines, drawn = hidden(claim, [tally]), "", tally.counts.evaluated
    for number, one in tally.relations.items():
        name = relation_name(one.label, number)
        if not one.asserted and drawn >= SIZE:
            unseen.append(f"{name} is asserted on 0 of {drawn} instances that were drawn anew")
        lines += "".join(f"\n  of {name}, {said}" for said in hollow(claim, number, [one]))
    return "; ".join(unseen), lines


def without_violation(
    claim: Claim,
    counts: Counts,
    shapes: int,
    margin: float | None,
    raised: str = "",
    scope: Scope | None = None,
    unseen: str = "",
) -> tuple[Verdict, str]:
    """The verdict of a hunt that found no violation, and its message.

    Args:
        raised: what the body or the generator raised on an instance inside the hypotheses.
        scope: what was enumerated before.
        unseen: the relations that cannot be seen to fail.
    """
    if raised:
        return "undecided", (
            f"{claim.id} is undecided: {raised}\n  no counterexample in the other instances "
            f"({counts.evaluated}, {shapes} shapes)"
        )
    total = counts.evaluated + counts.rejected
    if counts.evaluated < INSIDE * total or total == 0:
        common = sorted(counts.reasons.items(), key=lambda item: -item[1])[:REASONS]
        reasons = "; ".join(f"{why} ({number})" for why, number in common)
        return (
            "gave_up",
            f"{claim.id}: gave up, {counts.evaluated} of {total} instances satisfied the hypotheses"
            + (f"\n  rejected: {reasons}" if reasons else ""),
        )
    if unseen:
        return "undecided", (
            f"{claim.id} is undecided: {unseen}\n  no counterexample in {counts.evaluated} "
            f"instances ({shapes} shapes), and they could hardly show one"
        )
    best = "both sides always vanished" if margin is None else f"least margin {margin:.3g}"
    return (
        "survived",
        f"{claim.id}: no counterexample in {counts.evaluated} instances ({shapes} shapes, {best})"
        + (f"\n  none among {scope.text} either" if scope and scope.counts.evaluated else ""),
    )


def troubles_text(troubles: Mapping[str, int]) -> str:
    """Lines on the searches that ended early; empty if there are none."""
    common = sorted(troubles.items(), key=lambda item: (-item[1], item[0]))
    lines = [f"\n  {why} ({number} times)" for why, number in common[:REASONS]]
    if len(common) > REASONS:
        lines.append(f"\n  and {len(common) - REASONS} other reasons (troubles, in the JSON)")
    return "".join(lines)


def lost_text(lost: Mapping[str, int]) -> str:
    """What became of the shards without an outcome; empty if there are none."""
    common = sorted(lost.items(), key=lambda item: (-item[1], item[0]))
    texts = [f"{number} shard{'s' * (number > 1)} {why}" for why, number in common[:REASONS]]
    if others := sum(number for _, number in common[REASONS:]):
        texts.append(f"{others} other shards were lost")
    return "; ".join(texts)


def report_suspicion(violation: Instance, folder: Path, budget: float) -> Found:
    """Describe a violation in floats that is not proved; made small first if it is clear.

    The smaller instance keeps half of the violation and stays clear. If ball arithmetic proves it,
    it is certified.

    Args:
        budget: seconds for making it small.
    """
    claim, family = violation.claim, violation.family
    if violation.relative == -torch.inf:  # the last digits of a batch differ from those here
        return Found(undecided_message(violation), None, violation, violation)
    smallest = violation
    if violation.clear:
        least = violation.relative / 2

        def stands(record: Record) -> bool:
            one = Instance(claim, family, record)
            try:
                return one.relative >= least and one.clear
            except Exception:  # it breaks a hypothesis, or the body fails on it
                return False

        name = f"{claim.id}, shrinking"
        record = shrink_record(family, violation.record, stands, budget=budget, name=name).record
        small = Instance(claim, family, record)
        if small.proved:
            return report_violation(small, folder, budget=None)
        if small.judgement.finding == "undecided" and small.relative > -torch.inf:
            smallest = small
    spread = smallest.error(furthest(smallest.relations))
    lines = [
        undecided_message(smallest),
        f"  estimated rounding error: {'unknown' if spread == torch.inf else f'{spread:.2g}'}; the "
        f"violation {'stands' if smallest.clear else 'does not stand'} clear of it",
    ]
    if violation.relative > smallest.relative:
        lines.append(
            f"  at worst: a violation of {violation.relative:.6g} relative to the sides"
            f" ({smallest.relative:.6g} here)"
        )
    return Found("\n".join(lines), None, smallest, violation)


def report_finding(
    claim: Claim, shard: Shard, finding: Finding, folder: Path, shrink: float
) -> tuple[Instance, Found]:
    """Judge a finding anew in this process, make it small, and certify it if it is proved.

    Raises:
        HuntError: if the body or the generator raises on the single instance, or the instance is no
            violation in this process.
    """
    family = shard.shape.of(claim)
    try:
        record = read_choices(family, finding.choices, check_hypotheses=False)
        violation = Instance(claim, family, record)
        judged = violation.judgement.finding
        if judged not in ("refuted", "undecided"):
            raise HuntError(
                f"shard {shard.key} found a violation of {claim.id}, which is {judged} when it is "
                "judged again; bodies and generators are deterministic, and workers run the same "
                "version of rankcheck"
            )
        if judged == "undecided":
            return violation, report_suspicion(violation, folder, shrink)
        return violation, report_violation(violation, folder, budget=shrink)
    except HuntError:
        raise
    except (Rejected, RuntimeError, TypeError, ValueError) as error:
        raise HuntError(
            f"{claim.id} raised {type(error).__name__} on an instance of a batch alone: {error}; a "
            "body accepts every instance inside the hypotheses"
        ) from error
