"""The records of a claim in its verification: they are proved again, begin its search, and grow.

What somebody has found is not lost: the instances that hold records are evaluated in every run. A
record has to prove what it says, on the claim as it now stands. If the search comes upon a
clearly larger ratio, that is said. Another seed or processor may well find one, so this alone
fails nothing; but the reason why a bound is not sharp (`loose=`) stands beside the number that
the record proves, so a claim fails whose bound is far sharper than that, or attained.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import readable, relation_name
from rankcheck.claims.tolerances import TIGHT
from rankcheck.engine.counterexamples.describe import describe_exact, selector
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.records.again import check, stale
from rankcheck.engine.records.file import FORM, Held, RecordError, Records, left_path
from rankcheck.engine.records.given import instance_of
from rankcheck.engine.records.ratio import Attained, NotCertifiedError, attained
from rankcheck.engine.records.renewal import Candidate, keep, renewed
from rankcheck.engine.verification.tally import Sharpest
from rankcheck.files import shown_path
from rankcheck.theory.instances.choices import write_choices

#: A run beats a record if its ratio is larger by so much, relatively. Of the 52 bounds of the
#: ledger that are said not to be sharp and have balls, the best ratios of the seeds 0 to 3 (profile
#: quick) lie within 1e-4 of one another for 45, where another seed brings a digit; for the other 7
#: they lie 1e-3 to 1e-1 apart, where it brings another instance.
MARGIN = Fraction(1, 1000)
#: A bound with `loose=` fails beyond so much, more than another seed brings.
FAR = Fraction(1, 4)


@dataclass
class Standing:
    """What the records of a claim amount to.

    Attributes:
        records: those beside the claim.
        instances: those that hold a record and fit the claim, each once.
        faults: sentences on the records that do not prove what they say.
    """

    records: Records
    instances: list[Instance] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, claim: Claim) -> Standing:
        """Read the records of a claim, and prove the best one of each relation again.

        Raises:
            MemoryError or what else says so: if memory was short; that says nothing of a record.
        """
        try:
            standing = cls(Records.of(claim))
        except RecordError as error:
            return cls(Records.none(claim), faults=[str(error)])
        known: dict[tuple[str, str], Instance] = {}
        proved: dict[tuple[str, str], dict[str, Attained]] = {}
        for relation in standing.records.relations:
            for one in relation.held:
                key = one.family, json.dumps(one.choices)
                try:
                    instance = known.get(key) or instance_of(claim, one)
                    known[key] = instance
                    if one is relation.best:
                        if key not in proved:
                            proved[key] = {each.name: each for each in attained(instance)}
                        now = proved[key].get(relation.name)
                        check(one, instance, now, standing.records.versions)
                except (RecordError, NotCertifiedError) as error:
                    path = FORM.path(claim)
                    standing.faults.append(stale(claim, path, relation.name, str(error)))
        standing.instances = list(known.values())
        return standing

    def sharp(self, claim: Claim) -> list[str]:
        """The relations that are said not to be sharp, and whose record attains the bound."""
        return [
            f"loose= says why {relation.name} is not sharp, and on {relation.best.description} "
            f"lhs / rhs is {relation.best.short}"
            for relation in self.records.relations
            if claim.loose_because(relation.label) is not None and relation.best.sharp
        ]


@dataclass(frozen=True)
class Beaten:
    """A record that a run has beaten.

    Attributes:
        number: of the relation.
        fails: whether the relation is said not to be sharp, and is attained, or far sharper.
        sentence: with both ratios, the instance, and the command that keeps it.
    """

    number: int
    fails: bool
    sentence: str


def beaten(
    claim: Claim, records: Records, closest: Iterable[tuple[int, str, Sharpest]], folder: Path
) -> list[Beaten]:
    """The records that instances of a run have beaten, as balls prove.

    The instances are left in `folder`, as candidates that `rankcheck record` takes.

    Args:
        closest: with number and label of a relation, instances that came close to equality.
    """
    found: dict[int, Beaten] = {}
    for number, label, sharpest in closest:
        name = relation_name(label, number)
        best = records.best(name)
        if number in found or best is None or sharpest.ratio <= float(_beyond(best)):
            continue
        instance = Instance(claim, sharpest.family, sharpest.record)
        try:
            proved = attained(instance)
        except NotCertifiedError:
            continue
        now = max(
            (one for one in proved if one.name == name), key=lambda one: one.low, default=None
        )
        if now is None or now.refutes or now.low <= _beyond(best):
            continue
        text = readable(describe_exact(instance))
        sentence = (
            f"the record of {name} is beaten: lhs / rhs is {now.text()}, and was {best.short}, on "
            f"{text}\n  `{_command(claim, instance, proved, folder)}` keeps it"
        )
        far = now.low >= 1 - Fraction(TIGHT) or now.low > _beyond(best, FAR)
        found[number] = Beaten(number, far and claim.loose_because(label) is not None, sentence)
    return list(found.values())


def _beyond(best: Held, share: Fraction | None = None) -> Fraction:
    """The ratio beyond which a record is beaten, or is beaten by this share of it."""
    return max(Fraction(best.value), Fraction(0)) * (1 + (MARGIN if share is None else share))


def _command(claim: Claim, instance: Instance, proved: tuple[Attained, ...], folder: Path) -> str:
    """The command that takes an instance, which is left in a file if that can be written."""
    path = left_path(claim, folder)
    try:
        if path.resolve() == FORM.path(claim).resolve():
            raise OSError("what a person keeps is not for a run to change")
        try:
            left = Records.of(claim, path)
        except RecordError:
            left = Records.none(claim)
        keep(claim, renewed(claim, left, [Candidate(instance, None, proved)]).records, path)
        given = shlex.quote(shown_path(path))
    except OSError:
        choices = write_choices(instance.record)
        given = shlex.quote(json.dumps({"family": instance.family.name, "choices": choices}))
    return f"rankcheck record {selector(claim) or 'CLAIM'} --instance {given}"
