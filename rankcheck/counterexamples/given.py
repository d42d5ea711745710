"""Takes counterexamples from numbers: typed by a person, or in an older certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankcheck.claims.claim import Claim
from rankcheck.counterexamples import certificate as certificates
from rankcheck.counterexamples.certificate import CertificateError
from rankcheck.counterexamples.instance import Instance
from rankcheck.errors import InputError
from rankcheck.instances.choices import read_choices
from rankcheck.instances.source import Instances
from rankcheck.stored import StoredError, parse, shown


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
        data = certificates.load_json(Path(text))
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
    data = certificates.read(path)
    names = [name for name in ("smallest", "worst") if data[name] is not None]
    return {name: Given(data[name]["instance"], data[name]["family"]) for name in names}


def from_choices(
    claim: Claim, choices: Sequence[Any], *, family: Instances | None = None
) -> Instance:
    """The violation of an instance that is given as what its generator draws, in order.

    Args:
        choices: see `rankcheck.instances.choices.read_choices`.
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
