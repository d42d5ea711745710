"""The result of a hunt: its verdict, its counterexample made small and certified, its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import torch

from rankcheck.claims.claim import Claim
from rankcheck.counterexamples.instance import Instance
from rankcheck.counterexamples.message import obstacle, undecided_message
from rankcheck.counterexamples.reporting import Found, report_violation
from rankcheck.counterexamples.rounding import furthest
from rankcheck.counterexamples.shrinking import shrink_record
from rankcheck.hunt.arena import HuntError
from rankcheck.hunt.shard import Finding, Shard
from rankcheck.instances.choices import read_choices, write_choices
from rankcheck.instances.record import Record
from rankcheck.instances.source import Rejected
from rankcheck.notebook import InNotebooks
from rankcheck.verification.counts import Counts
from rankcheck.verification.evaluation import evaluate_instances
from rankcheck.verification.ledger import Scope
from rankcheck.verification.scope import smallest_text
from rankcheck.verification.search import batches
from rankcheck.verification.tally import Tally, hidden

SCHEMA = 2
Verdict = Literal["refuted", "undecided", "survived", "gave_up"]

#: A hunt of which less than this share of the instances satisfied the hypotheses has no verdict.
INSIDE = 0.05
#: Number of reasons for rejection that a message names.
REASONS = 3
#: So many batches, of so many instances, show whether a tolerance hides a relation.
HIDDEN = 8


@dataclass(frozen=True)
class Progress:
    """The state of a hunt after a shard.

    Attributes:
        strategy: that of the shard.
        margin: the least margin so far; None where nothing was measured.
        found: the best finding so far; None where there is none.
    """

    strategy: str
    round: int
    shapes: int
    counts: Counts
    margin: float | None
    seconds: float
    budget: float | None
    found: Literal["refuted", "undecided"] | None = None


@dataclass(frozen=True)
class Fall:
    """Where the least margin of a strategy fell.

    Attributes:
        strategy: its name, or `scope`.
        instances: how many instances inside the hypotheses the strategies had evaluated, at the end
            of the shard.
        margin: the new least margin of the strategy: negative for a violation, proved or not, and 0
            for a violation within the tolerance.
    """

    strategy: str
    instances: int
    margin: float


@dataclass(frozen=True)
class Hunt(InNotebooks):
    """The result of a hunt.

    Attributes:
        verdict: `refuted`: a counterexample is proved. `undecided`: a violation beyond the
            tolerance was found, and ball arithmetic neither proves nor excludes it, or the body
            raises on an instance inside the hypotheses. `survived`: the budget is spent.
            `gave_up`: too few instances satisfied the hypotheses.
        margin: the least margin (`rankcheck.hunt.margins`); that of the violation, if one was
            found.
        counts: the instances inside and outside the hypotheses, the reasons for rejection, and the
            violations in floats that are rounding.
        shapes, rounds: number of discrete shapes that were searched, and of rounds.
        seconds: duration of the hunt; `stages` has it by strategy, summed over the workers, and
            under `shrink`.
        strategy: the one that found the violation.
        violation: as it was found. `smallest` and `worst` are its smallest form and the one with
            the largest violation.
        troubles: by reason, how many searches, or starts of one, ended early: gradients that fail
            or do not exist, and exceptions in a strategy.
        scope: what was enumerated before the search, None if nothing was.
        history: how the least margin of each strategy fell, in the order of the shards.
        lost: shards on workers that did not end, or whose workers died; a hunt that found nothing
            in the others is undecided.
        certificate: file of the certificate, if the claim is refuted.
        message: the result in words.
        unwritten: why the journal could not be written, as on a full disk, which ended the hunt.
    """

    claim: Claim
    verdict: Verdict
    seed: int
    margin: float | None = None
    counts: Counts = Counts()  # noqa: RUF009 -- it does not change
    shapes: int = 0
    rounds: int = 0
    seconds: float = 0.0
    stages: Mapping[str, float] = field(default_factory=dict)
    troubles: Mapping[str, int] = field(default_factory=dict)
    scope: Scope | None = None
    history: tuple[Fall, ...] = ()
    lost: int = 0
    strategy: str | None = None
    violation: Instance | None = None
    worst: Instance | None = None
    smallest: Instance | None = None
    certificate: str | None = None
    message: str = ""
    unwritten: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, schema 2; instances as the choices of their generators."""
        return {
            "schema": SCHEMA,
            "claim": self.claim.id,
            "statement_sha256": self.claim.statement_hash,
            "verdict": self.verdict,
            "seed": self.seed,
            "margin": self.margin,
            "counts": asdict(self.counts),
            "shapes": self.shapes,
            "rounds": self.rounds,
            "seconds": self.seconds,
            "stages": dict(self.stages),
            "troubles": dict(self.troubles),
            "scope": None if self.scope is None else asdict(self.scope),
            "history": [asdict(fall) for fall in self.history],
            "lost": self.lost,
            "strategy": self.strategy,
            "worst": _violation_json(self.worst),
            "smallest": _violation_json(self.smallest),
            "certificate": self.certificate,
            "message": self.message,
        }


def _violation_json(violation: Instance | None) -> dict[str, Any] | None:
    if violation is None:
        return None
    return {
        "family": violation.family.name,
        "choices": write_choices(violation.record),
        "finding": violation.judgement.finding,
        "relative_excess": float(violation.judgement.relative_excess),
    }


def hidden_text(claim: Claim, seed: int) -> str:
    """The relations that floats cannot see fail, for their tolerance; empty if there is none.

    Instances are drawn anew: shards keep margins alone.
    """
    tally = Tally()
    for family in (claim.tight, claim.instances):
        if family is None:
            continue
        key = (seed, claim.id, family.name, "hidden")
        for make in batches(claim, family, HIDDEN, HIDDEN, key):
            for part in evaluate_instances(claim, family, make).parts:
                tally.add(part, family)
    return "; ".join(hidden(claim, [tally]))


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
        unseen: the relations that floats cannot see fail.
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


def report_smallest(violation: Instance, text: str, folder: Path) -> Found:
    """Certify the first violation of a scope; it is not made smaller.

    Args:
        text: what was enumerated.

    Raises:
        HuntError: if the certificate cannot be written.
    """
    try:
        found = report_violation(violation, folder, budget=0)
    except OSError as error:
        raise HuntError(
            f"{folder} cannot be written to: {error.strerror}; the certificate is left there"
        ) from error
    return replace(found, message=found.message + smallest_text(text))


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
    said = [f"{number} shard{'s' * (number > 1)} {why}" for why, number in common[:REASONS]]
    if others := sum(number for _, number in common[REASONS:]):
        said.append(f"{others} other shards were lost")
    return "; ".join(said)


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
    if (line := obstacle(smallest)) is not None:
        lines.append(f"  ball arithmetic ends at {line}")
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
        HuntError: if the certificate cannot be written, the body or the generator raises on the
            single instance, or the instance is no violation in this process.
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
    except OSError as error:
        raise HuntError(
            f"{folder} cannot be written to: {error.strerror}; the certificate is left there"
        ) from error
    except (Rejected, RuntimeError, TypeError, ValueError) as error:
        raise HuntError(
            f"{claim.id} raised {type(error).__name__} on an instance of a batch: {error}; a body "
            "accepts one instance as well as a batch"
        ) from error
