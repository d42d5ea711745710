"""Takes counterexamples from numbers: typed by a person, or in an older certificate.

To certify the instances of a certificate again, without a search, brings it up to date after its
claim or the format has changed, and stores the certificate of a conjecture that is now declared as
refuted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankcheck.claims.catalogue.certificates import FORM, CertificateError, read
from rankcheck.claims.catalogue.kept import digest
from rankcheck.claims.claim import Claim
from rankcheck.claims.kinds import FALSE
from rankcheck.engine.counterexamples import certificate as certificates
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.replay import family_of
from rankcheck.errors import InputError
from rankcheck.files import LEFT, shown_path
from rankcheck.stored import StoredError, parse, shown
from rankcheck.theory.instances.choices import read_choices
from rankcheck.theory.instances.source import Instances


class NotRefutedError(ValueError):
    """No counterexample is proved where one was to be certified."""


@dataclass(frozen=True)
class Given:
    """An instance as text: what its generator draws, and the generator's name if it is known."""

    choices: Sequence[Any]
    family: str | None = None


def read_instance(text: str) -> Given:
    """An instance from a JSON list, a file with one, or a certificate (its smallest instance).

    >>> read_instance('[2, [1.5, "7/2"]]').choices
    [2, [1.5, '7/2']]

    Raises:
        InputError: if the text is none of these.
    """
    rule = "an instance is a JSON list, a file with one, or a certificate"
    if text.lstrip().startswith("["):
        try:
            return Given(parse(text))
        except StoredError as error:
            raise InputError(f"{shown(text, 80)} is not JSON, {error}; {rule}") from error
    try:
        data = FORM.load(Path(text))
    except CertificateError as error:
        raise InputError(f"{error}; {rule}") from error
    if isinstance(data, list):
        return Given(data)
    return instances_of(Path(text))["smallest"]


def instances_of(path: Path) -> dict[str, Given]:
    """The instances of a certificate by their names, `smallest` and possibly `worst`.

    Raises:
        CertificateError: if the file is not a certificate, or has been changed.
    """
    data = read(path)
    names = [name for name in ("smallest", "worst") if data[name] is not None]
    return {name: Given(data[name]["instance"], data[name]["family"]) for name in names}


def from_choices(
    claim: Claim, choices: Sequence[Any], *, family: Instances | None = None
) -> Instance:
    """The violation of an instance that is given as what its generator draws, in order.

    Args:
        choices: see `rankcheck.theory.instances.choices.read_choices`.
        family: the generator, by default `claim.instances`.

    Raises:
        ChoicesError: if the choices do not fit the generator.
        DisagreementError: if balls prove it, and floats contradict them.
        InputError: if the claim has no instances.
        NotRefutedError: if balls do not prove that the instance violates the claim.
    """
    family = family or claim.instances
    if family is None:
        raise InputError(f"{claim.id} is cited and has no instances; an instance refutes a claim")
    record = read_choices(family, choices, check_hypotheses=False)
    instance = Instance(claim, family, record)
    instance.require_agreement()
    return proved(instance)


def proved(instance: Instance) -> Instance:
    """The instance itself, if it is proved to violate its claim.

    Raises:
        NotRefutedError: if it is not, with the reason.
    """
    judgement, claim = instance.judgement, instance.claim
    if judgement.finding == "outside":
        raise NotRefutedError(
            f"this instance does not satisfy the hypotheses of {claim.id}: {judgement.reason}"
        )
    if not instance.proved:
        raise NotRefutedError(
            f"this instance does not refute {claim.id}: {judgement.finding} "
            f"{judgement.reason}".rstrip()
        )
    return instance


@dataclass(frozen=True, eq=False)
class Recertified:
    """A certificate that was written again.

    Attributes:
        path: where it is stored.
        origin: the certificate that its instances are from.
        violation: that of the smallest instance.
        changed: whether anything in the file has changed.
    """

    path: Path
    origin: Path
    violation: Instance
    changed: bool


def recertify(claim: Claim) -> Recertified:
    """Certify the instances of an existing certificate for the claim as it now stands.

    The certificate is the stored one of a refuted claim. If none is stored, because the claim was
    declared as refuted just now, it is the one that a run left in `.rankcheck`. If nothing but
    the versions would change, the file is not written.

    Raises:
        CertificateError: if there is no certificate, or it cannot be read.
        ChoicesError: if its instances do not fit the generator.
        DisagreementError: if balls prove that one refutes the claim, and floats contradict them.
        NotRefutedError: if one of its instances does not refute the claim. Nothing is written.
        OSError: if the file cannot be written.
    """
    folder = certificates.folder_of(claim)
    origin = _origin(claim)
    proved: dict[str, Instance] = {}
    for name, given in instances_of(origin).items():
        family = family_of(claim, given.family or "")
        try:
            proved[name] = from_choices(claim, given.choices, family=family)
        except NotRefutedError as error:
            raise NotRefutedError(
                f"the {name} instance of {shown_path(origin)}: {error}"
            ) from error
    smallest, worst = proved["smallest"], proved.get("worst")
    path = folder / f"{claim.id}.json"
    changed = not _is_up_to_date(path, certificates.contents(folder, smallest, worst))
    if changed:
        certificates.write(folder, smallest, worst)
    return Recertified(path, origin, smallest, changed)


def _origin(claim: Claim) -> Path:
    """The certificate of a claim, stored or left by a run.

    Raises:
        CertificateError: if there is neither.
    """
    left = LEFT / f"{claim.id}.json"
    places = [FORM.path(claim), left] if claim.kind in FALSE else [left]
    for path in places:
        if path.is_file():
            return path
    raise CertificateError(f"no certificate at {' or '.join(map(shown_path, places))}")


def _is_up_to_date(path: Path, fields: dict[str, object]) -> bool:
    """Whether a file is the certificate with these fields, apart from the versions."""
    try:
        old = FORM.load(path)
    except CertificateError:
        return False
    if not isinstance(old, dict):
        return False
    fields = {**fields, "versions": old.get("versions")}
    return old == {**fields, "sha256": digest(fields)}
