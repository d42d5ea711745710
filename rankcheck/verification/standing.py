"""The records of a claim in its verification: they are proved again, begin its search, and grow.

What somebody has found is not lost: the instances that hold records are evaluated in every run. A
record has to prove what it says, on the claim as it now stands. If the search comes upon a clearly
larger ratio, that is said; and the reason why a bound is not sharp (`loose=`) stands beside the
number that the record proves, so the claim then fails until the record is renewed.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from rankcheck.catalogue.entry import shown_path
from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import relation_name
from rankcheck.counterexamples.describe import approximately, describe_exact, readable, selector
from rankcheck.counterexamples.instance import Instance
from rankcheck.counterexamples.replay import nearly
from rankcheck.instances.choices import write_choices
from rankcheck.records.file import FORM, Held, RecordError, Records, left_path
from rankcheck.records.ratio import Attained, NotCertifiedError, attained
from rankcheck.records.renewal import Candidate, instance_of, keep, renewed
from rankcheck.verification.tally import Sharpest

__all__ = ["Beaten", "Standing", "beaten"]

#: A run beats a record if its ratio is larger by so much, relatively. A search with a budget of
#: seconds ends within 1e-6 of what it converges to, and the sweeps of other seeds come no closer;
#: what lies between is a digit, and what lies beyond is another instance.
MARGIN = Fraction(1, 1000)


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
                        _check(one, proved[key].get(relation.name))
                except (RecordError, NotCertifiedError) as error:
                    standing.faults.append(_stale(claim, relation.name, str(error)))
        standing.instances = list(known.values())
        return standing

    def sharp(self, claim: Claim) -> list[str]:
        """The relations that are said not to be sharp, and whose record attains the bound."""
        return [
            f"{relation.name} is said not to be sharp (loose=), and {relation.best.description} "
            f"has lhs / rhs {_rounded(relation.best)}; take loose= away, or give reasons by label "
            "for the other bounds"
            for relation in self.records.relations
            if claim.loose_because(relation.label) is not None and relation.best.sharp
        ]


def _check(stated: Held, now: Attained | None) -> None:
    """Check that a record says what balls prove of its instance now.

    Raises:
        RecordError: if it does not.
    """
    if now is None:
        raise RecordError("its instance proves no ratio of such a bound any more")
    if now.refutes:
        raise RecordError(
            f"its instance has lhs / rhs {now.text()}, which refutes the bound; `rankcheck "
            "certify` keeps a counterexample"
        )
    if not nearly(stated.ratio, now.written):
        raise RecordError(
            f"it says that lhs / rhs is {_rounded(stated)}, and its instance gives {now.text()}"
        )


def _stale(claim: Claim, name: str, why: str) -> str:
    return (
        f"the record of {name} ({shown_path(FORM.path(claim))}) does not stand: {why}; the claim, "
        f"or a function that it calls, has changed since. `rankcheck record "
        f"{selector(claim) or 'CLAIM'} --again` keeps what its instances prove now"
    )


@dataclass(frozen=True)
class Beaten:
    """A record that a run has beaten.

    Attributes:
        number: of the relation.
        loose: whether the relation is said not to be sharp.
        sentence: with both ratios, the instance, and the command that keeps it.
    """

    number: int
    loose: bool
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
            f"{name} is sharper than its record says: lhs / rhs is {now.text()}, and was "
            f"{_rounded(best)}, on {text}\n  `{_command(claim, instance, proved, folder)}` keeps it"
        )
        found[number] = Beaten(number, claim.loose_because(label) is not None, sentence)
    return list(found.values())


def _beyond(best: Held) -> Fraction:
    """The ratio beyond which a record is beaten."""
    return max(Fraction(best.value), Fraction(0)) * (1 + MARGIN)


def _command(claim: Claim, instance: Instance, proved: tuple[Attained, ...], folder: Path) -> str:
    """The command that takes an instance, which is left in a file if that can be written."""
    path = left_path(claim, folder)
    try:
        try:
            left = Records.of(claim, path)
        except RecordError:
            left = Records.none(claim)
        keep(claim, renewed(claim, left, [Candidate(instance, None, proved)]).records, path)
        given = shlex.quote(shown_path(path))
    except OSError:
        given = shlex.quote(json.dumps(write_choices(instance.record)))
        given += " --tight" if instance.family is claim.tight else ""
    return f"rankcheck record {selector(claim) or 'CLAIM'} --instance {given}"


def _rounded(one: Held) -> str:
    return approximately(Fraction(Decimal(one.ratio)), 10)
