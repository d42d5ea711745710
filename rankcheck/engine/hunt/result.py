"""The result of a hunt and its JSON; its state as it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

from rankcheck.claims.claim import Claim
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.refutation import Refutation, explained
from rankcheck.engine.hunt.shard import Finding, Shard
from rankcheck.engine.verification.counts import Counts
from rankcheck.engine.verification.ledger import Scope
from rankcheck.notebook import InNotebooks
from rankcheck.theory.instances.choices import write_choices

SCHEMA = 2
Verdict = Literal["refuted", "undecided", "survived", "gave_up"]


@dataclass(frozen=True)
class Progress:
    """The state of a hunt after a shard.

    Attributes:
        strategy: that of the shard.
        margin: the least margin so far; None where nothing was measured.
        best: the best finding so far, and its shard; None where there is none.
    """

    strategy: str
    round: int
    shapes: int
    counts: Counts
    margin: float | None
    seconds: float
    budget: float | None
    best: tuple[Shard, Finding] | None = None

    @property
    def found(self) -> Literal["refuted", "undecided"] | None:
        """What the best finding says of the claim."""
        if self.best is None:
            return None
        return "refuted" if self.best[1].proved else "undecided"


@dataclass(frozen=True, repr=False)
class Hunt(InNotebooks):
    """The result of a hunt.

    Attributes:
        verdict: `refuted`: a counterexample is proved. `undecided`: a violation beyond the
            tolerance was found, and ball arithmetic neither proves nor excludes it, or the body
            raises on an instance inside the hypotheses. `survived`: the budget is spent.
            `gave_up`: too few instances satisfied the hypotheses.
        margin: the least margin (see `margins`); that of the violation, if one was found.
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
        lost: shards on workers that did not end, or whose workers died; a hunt that found nothing
            in the others is undecided.
        certificate: file of the certificate, if the claim is refuted.
        message: the result in words.
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
    lost: int = 0
    strategy: str | None = None
    violation: Instance | None = None
    worst: Instance | None = None
    smallest: Instance | None = None
    certificate: str | None = None
    message: str = ""

    @cached_property
    def counterexample(self) -> Refutation | None:
        """The smallest counterexample as the arguments of the body; None unless it is proved."""
        smallest = self.smallest
        if smallest is None or not smallest.proved:
            return None
        return explained(smallest, self.certificate)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, schema 2; instances as the choices of their generators."""
        left_out = ("claim", "violation")
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in left_out}
        return {
            "schema": SCHEMA,
            "claim": self.claim.id,
            "statement_sha256": self.claim.statement_hash,
            **plain,
            "counts": asdict(self.counts),
            "scope": None if self.scope is None else asdict(self.scope),
            "worst": _violation_json(self.worst),
            "smallest": _violation_json(self.smallest),
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
