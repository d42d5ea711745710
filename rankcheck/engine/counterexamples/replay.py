"""Replays a certificate: its claim is found, and its instances prove it false again.

Nothing in the file is trusted. The generator and the body of the claim run on the recorded numbers
in ball arithmetic, and the result is compared with every field of the certificate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from flint import arb

from rankcheck import balls
from rankcheck.claims.catalogue.certificates import FORM, CertificateError, read
from rankcheck.claims.catalogue.finding import find, short
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.claim import Claim
from rankcheck.claims.variants import at, settings
from rankcheck.engine.counterexamples.certificate import section
from rankcheck.engine.counterexamples.describe import describe_exact, selector
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.judge import PRECISIONS, Judgement
from rankcheck.engine.counterexamples.refutation import Refutation, explained
from rankcheck.errors import short_of_memory
from rankcheck.files import LEFT, shown_path
from rankcheck.notebook import Readable
from rankcheck.theory.instances.choices import read_choices
from rankcheck.theory.instances.source import Instances
from rankcheck.versions import versions

#: If the versions of these differ, balls may be rounded and instances be described differently.
ENGINE = ("rankcheck", "python-flint")


@dataclass(frozen=True, eq=False, repr=False)
class Replayed(Readable):
    """The result of replaying a certificate.

    Attributes:
        changed: whether the text of the claim has changed since the certificate was written.
        judgement: of the smallest instance on the claim as it now stands. It is `refuted` unless
            the claim has changed.
        description: the smallest instance, as a person reads it, made from its numbers. Empty if
            they do not fit the generator.
        smallest: what the file says of the smallest instance; proved unless the claim has changed.
        instance: the smallest instance; None if its numbers do not fit the generator.
        path: the certificate.
    """

    claim: Claim
    judgement: Judgement
    changed: bool
    description: str
    smallest: Mapping[str, Any]
    instance: Instance | None = None
    path: str = ""

    @cached_property
    def counterexample(self) -> Refutation | None:
        """The smallest instance as the arguments of the body; None if the claim has changed."""
        if self.instance is None or self.changed:
            return None
        return explained(self.instance, self.path)

    @property
    def refuted(self) -> bool:
        """Whether the instance refutes the claim as it now stands."""
        return self.judgement.finding == "refuted"


def replay(path: Path | str, *, claim: Claim | None = None) -> Replayed:
    """Prove the counterexample of a certificate again, from its numbers alone.

    If the claim has not changed since, both instances of the certificate have to prove exactly what
    the file says. If it has, `changed` is true, and `judgement` is that of the smallest instance on
    the claim as it now stands.

    Args:
        claim: the claim of the certificate; by default it is looked for, see `find`.

    Raises:
        CertificateError: if the file is not a certificate of this claim, or does not prove what it
            says.
        DisagreementError: if balls prove what it says, and floats contradict them.
        MemoryError or what else says so: if memory was short; that says nothing about the file.
    """
    path = Path(path)
    if claim is not None and path == FORM.path(claim) and not path.exists():
        left, name = LEFT / f"{claim.id}.json", selector(claim) or "CLAIM"
        how = f"{name} --again` stores {left} there" if left.is_file() else f"{name}` searches"
        raise CertificateError(f"no certificate at {shown_path(path)}; `rankcheck certify {how}")
    data = read(path)
    if claim is None:
        [claim] = load([find(path, data, prove="rankcheck.engine.counterexamples.replay")])
    each = (at(claim, setting) for setting in settings(claim))
    claim = next((one for one in each if one.id == data["claim"]), claim)
    if data["claim"] != claim.id:
        raise CertificateError(f"{path} is a certificate of {data['claim']}, not of {claim.id}")
    smallest, worst = data["smallest"], data["worst"]
    if data["statement_sha256"] == claim.statement_hash:
        if data["statement"] != claim.statement:
            raise CertificateError(f"the statement in {path} is not that of {claim.id}")
        if worst is not None:
            _prove(path, claim, worst, data["versions"])
        instance, description = _prove(path, claim, smallest, data["versions"])
        judged = instance.in_balls
        return Replayed(claim, judged, False, description, smallest, instance, str(path))
    try:
        instance = _instance(path, claim, smallest)
    except CertificateError as error:
        return Replayed(claim, Judgement("outside", 0, str(error)), True, "", smallest)
    description = "" if instance.in_balls.instance is None else describe_exact(instance)
    return Replayed(claim, instance.in_balls, True, description, smallest, instance, str(path))


def _prove(
    path: Path, claim: Claim, stated: Mapping[str, Any], made_with: Mapping[str, Any]
) -> tuple[Instance, str]:
    """Prove the violation of one instance, and compare it with what the certificate says.

    Returns the instance and its description.
    """
    instance = _instance(path, claim, stated)
    judgement = instance.in_balls
    if judgement.short:
        raise MemoryError(judgement.reason)
    if not instance.proved:
        raise CertificateError(
            f"{path} does not refute {claim.id}: {judgement.finding} {judgement.reason}".rstrip()
        )
    same_engine = all(made_with.get(name) == versions()[name] for name in ENGINE)
    fields = section(instance)
    for name in {**fields, **stated}:
        before, now = stated.get(name), fields.get(name)
        if before != now and (same_engine or not _agree(name, before, now)):
            raise CertificateError(
                f"{path} says {name} {short(before)}, but its numbers give {short(now)}: "
                f"the file has been changed, or a function that {claim.id} calls; `rankcheck "
                f"certify {claim.id} --again` certifies it as it is now"
            )
    return instance, fields["description"]


def _agree(name: str, stated: Any, now: Any) -> bool:
    """Whether a field may differ in this way between two versions of the engine."""
    if name in ("lhs", "rhs"):
        return overlap(stated, now)
    if name == "excess":
        return nearly(stated, now)
    return name in ("description", "bits")


def _instance(path: Path, claim: Claim, stated: Mapping[str, Any]) -> Instance:
    """One instance of a certificate, judged on the claim as it now stands.

    Raises:
        CertificateError: if the instance does not fit the generator.
        DisagreementError: if balls prove the violation, and floats contradict them.
    """
    family = family_of(claim, stated["family"])
    if family is None:
        known = ", ".join(str(family) for family in families(claim))
        raise CertificateError(
            f"{path} has an instance of {short(stated['family'])}; the instances of {claim.id} "
            f"are from {known or 'no generator'}"
        )
    try:
        record = read_choices(family, stated["instance"], check_hypotheses=False)
    except Exception as error:  # a generator may raise anything on numbers that are not its own
        if short_of_memory(error):
            raise
        raise CertificateError(
            f"the numbers of {path} do not fit the generator of {claim.id}: {short(str(error))}"
        ) from error
    instance = Instance(claim, family, record)
    instance.require_agreement()
    return instance


def families(claim: Claim) -> list[Instances]:
    """The generators whose instances can refute a claim: `tight`, if there is one, `instances`."""
    return [family for family in (claim.tight, claim.instances) if family is not None]


def family_of(claim: Claim, name: str) -> Instances | None:
    """The generator of that name among `families`, or None."""
    return next((family for family in families(claim) if family.name == name), None)


#: `[1.25 +/- 3.1e-38]`
_BALL = re.compile(r"\[-?\d+(\.\d+)?(e[-+]?\d{1,6})? \+/- \d+(\.\d+)?(e[-+]?\d{1,6})?\]")


def overlap(stated: str, now: str) -> bool:
    """Whether two texts of `ball_text` can mean the same number.

    Rationals have to be equal, and balls to overlap. A ball that is 2⁶⁴ times wider than the one
    that was found does not count.
    """
    if not (_BALL.fullmatch(stated) and _BALL.fullmatch(now)):
        return stated == now
    with balls.precision(PRECISIONS[-1]):  # else their digits are read to 53 bits
        first, second = arb(stated), arb(now)
        return bool(first.overlaps(second) and first.rad() <= second.rad() * 2**64)


#: `0.66666666666666666`, as `rounded_down` writes it
_DECIMAL = re.compile(r"-?\d+(\.\d+)?(E[-+]?\d{1,6})?")


def nearly(stated: str, now: str) -> bool:
    """Whether two texts of `rounded_down` agree in ten digits, as those of two precisions do.

    >>> nearly("0.66666666666666666", "0.66666666666666601"), nearly("0.7", "0.6")
    (True, False)
    """
    if not (_DECIMAL.fullmatch(stated) and _DECIMAL.fullmatch(now)):
        return stated == now
    first, second = Decimal(stated), Decimal(now)
    return abs(first - second) <= abs(second).scaleb(-10)
