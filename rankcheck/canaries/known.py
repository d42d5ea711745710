"""Claims with a known verdict."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rankcheck.canaries.canary import Canary
from rankcheck.claims.claim import Body, Claim, Need
from rankcheck.claims.relations import Relation, eq, leq
from rankcheck.claims.verdicts import Verdict
from rankcheck.counterexamples import certificate as certificates
from rankcheck.instances.source import Instances, Source, instances
from rankcheck.scalars import constant
from rankcheck.verification.check import verify_claim
from rankcheck.verification.ledger import Row
from rankcheck.verification.profiles import Profile, Settings

__all__ = ["CANARIES", "PROFILE"]

#: Little is enough: each canary is false, or true, on a good part of its instances.
PROFILE = Profile("canaries", drawn=8, batches=2, size=64, single=4, scope=1, scope_instances=9)
#: Nothing is enumerated.
UNSCOPED = replace(PROFILE, scope_shapes=0)
#: For canaries that Hypothesis tries again and again, and whose batches are halved.
FEW = replace(PROFILE, drawn=2, size=4, scope_shapes=0)


@instances
def _numbers(source: Source, *, low: float = 1.0, high: float = 8.0) -> Any:
    return source.tensor(low=low, high=high)


@instances
def _wide_integers(source: Source) -> Any:
    return constant(source.integer(0, 2**50), source.tensor())


@instances
def _only_negative(source: Source) -> Any:
    x = source.tensor(low=-8.0, high=8.0)
    source.require(x <= 0, "x is not positive")
    return x


@instances
def _nothing(source: Source) -> Any:
    """Of two choices, so that Hypothesis soon knows them all."""
    source.require(source.integer(0, 1) > 1, "the choice is larger than it can be")
    return source.tensor(low=-8.0, high=8.0)


@dataclass(frozen=True)
class Known:
    """A claim with a known verdict, as the check of a canary.

    Attributes:
        says: a part of the message of its row.
        rounding: whether ball arithmetic has to clear a violation in floats.
        certificate: what is done to its stored certificate, if it replays one.
    """

    name: str
    stage: str
    body: Body
    verdict: Verdict
    family: Instances = field(default_factory=_numbers)
    says: str = ""
    rounding: bool = False
    profile: Profile = PROFILE
    options: Mapping[str, Any] = field(default_factory=dict)
    certificate: Callable[[str], str] | None = None

    def claim(self, folder: Path) -> Claim:
        """The claim, declared in a file of that folder; it is not entered into the registry."""
        options = {"kind": "bound", "loose": "a canary", **self.options}
        return Claim(
            id=f"canary.{self.name.replace(' ', '-').replace('.', '-').replace(',', '').lower()}",
            body=self.body,
            instances=self.family,
            title=self.name,
            statement=self.name,
            file=folder / "canaries.py",
            **options,
        )

    def __call__(self, folder: Path) -> str | None:
        """What came out wrong, or None."""
        claim = self.claim(folder)
        claim.file.touch()  # a certificate is stored beside the file of its claim
        settings = Settings(self.profile, seed=0, folder=folder, shrink=0)
        if self.certificate is not None:
            self._store(claim, settings)
        row = verify_claim(claim, settings)
        if row.verdict != self.verdict:
            return f"the verdict is {row.verdict}, and has to be {self.verdict}"
        if self.says not in " ".join(row.messages):
            return f"the verdict is {row.verdict}, but its message does not say {self.says!r}"
        if self.rounding and not row.counts.rounding + _enumerated(row):
            return "ball arithmetic was not asked whether a violation is rounding"
        return None

    def _store(self, claim: Claim, settings: Settings) -> None:
        """Find a counterexample of the claim and store it, changed, where it is replayed."""
        row = verify_claim(replace(self, options={}).claim(settings.folder), settings)
        stored = certificates.stored_path(claim)
        stored.parent.mkdir(exist_ok=True)
        text = Path(row.certificate or "").read_text(encoding="utf-8")
        assert self.certificate is not None
        stored.write_text(self.certificate(text), encoding="utf-8")


def _enumerated(row: Row) -> int:
    return 0 if row.scope is None else row.scope.counts.rounding


def _false_by(share: float) -> Body:
    def body(x: Any) -> Relation:
        return leq(x + share * x, x)

    return body


def _undecidable(x: Any) -> Relation:
    """False by a little, but the balls do not decide the sign of what is zero."""
    zero = (x.exp().log() - x).sign() * 0
    return leq(x * (1 + 2.0**-40) + zero, x)


def _few_draws(x: Any) -> Relation:
    """Few integers drawn evenly from a wide range are small; Hypothesis draws small ones first."""
    return leq(constant(2.0**20, x), x)


def _rounded(x: Any) -> Relation:
    """True, but in floats the sum loses the last digits of x."""
    return eq((x + 2.0**14) - 2.0**14, x)


def _no_number(x: Any) -> Relation:
    return leq(x - x, (x - x) / (x - x))


def _idle(x: Any, *, by: float = 1.0) -> Relation:
    return leq(by * x, x)


def _transcendental(x: Any) -> Relation:
    """False: a series that is cut off is smaller than the exponential."""
    return leq(x.exp(), 1 + x + x * x / 2 + x * x * x / 6)


def _raises_above_2(x: Any) -> Relation:
    if bool((x > 2).any()):
        raise ArithmeticError("the canary raises")
    return leq(x, x * x)


def _changed_number(text: str) -> str:
    """The certificate with an instance that satisfies the claim."""
    data = json.loads(text)
    data["smallest"]["instance"] = [0]
    return json.dumps(data)


_KNOWN = (
    Known("true", "verdicts", lambda x: leq(x, x * x), "holds"),
    Known("false by 2 percent", "verdicts", _false_by(0.02), "refuted"),
    Known("false by 1e-6", "sweep", _false_by(1e-6), "refuted"),
    Known("false by 1e-12", "sweep", _false_by(1e-12), "refuted"),
    Known("false only inside where", "relations", lambda x: leq(x, 2.0, where=x > 2), "refuted"),
    Known("false only outside where", "relations", lambda x: leq(x, 2.0, where=x <= 2), "holds"),
    Known("undecided in balls", "judge", _undecidable, "undecided", profile=FEW),
    Known("false only for what Hypothesis draws", "draws", _few_draws, "refuted", _wide_integers(),
           profile=UNSCOPED),
    Known("true, but broken by rounding", "judge", _rounded, "holds", rounding=True,
           options={"kind": "identity", "loose": None}),
    Known("a side that is not a number", "judge", _no_number, "undecided"),
    Known("a mutant of no effect", "controls", _idle, "failed",
           says="the mutant 'nothing' survives", options={"mutants": {"nothing": {"by": 1.0}}}),
    Known("a control of no effect", "controls", lambda x: leq(x, x * x), "failed",
           says="does not break the claim", options={"needs": {"x at least 1": Need(_numbers())}}),
    Known("false only where it is rejected", "hypotheses", lambda x: leq(x, 0.0), "holds",
           _only_negative()),
    Known("every instance rejected", "vacuity", lambda x: leq(x, 0.0), "failed", _nothing(),
           says="no instance", profile=FEW),
    Known("decided by balls alone", "judge", _transcendental, "refuted"),
    Known("a mixed batch", "batching", lambda x: leq(x, x.max()), "failed", says="batch"),
    Known("a body that raises", "verdicts", _raises_above_2, "failed", says="ArithmeticError",
           profile=FEW),
    Known("a stored counterexample", "replay", _false_by(0.02), "refuted",
           options={"kind": "refuted"}, certificate=lambda text: text),
    Known("a broken certificate", "replay", _false_by(0.02), "failed",
           options={"kind": "refuted"}, certificate=_changed_number),
)  # fmt: skip
#: In the order in which they run.
CANARIES = tuple(Canary(known.name, known.stage, known) for known in _KNOWN)
