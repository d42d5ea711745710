"""Making the certificate of a refuted claim: from a search, or from numbers given by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rankcheck.claims.claim import Claim
from rankcheck.counterexamples import certificate as certificates
from rankcheck.counterexamples.judge import judge
from rankcheck.counterexamples.violation import Violation
from rankcheck.errors import InputError
from rankcheck.instances.given import record_of
from rankcheck.instances.source import Rejected
from rankcheck.verification.batching import check_batching
from rankcheck.verification.profiles import Profile
from rankcheck.verification.search import Tally, draw, sweep


class CertifyError(InputError):
    """There is no proved violation to certify: why, and what was received."""


def from_choices(claim: Claim, choices: Sequence[Any]) -> Violation:
    """The violation of an instance that is given as what its generator draws, in order.

    >>> from_choices(claim, [1, 1, 1, 0, [[2]], [0], 0, [1]])  # see `record_of`

    Raises:
        GivenError: if the choices do not fit the generator.
        CertifyError: if balls do not prove that the instance violates the claim.
        BatchError: if the body or the generator mixes the instances of a batch.
    """
    if claim.instances is None:
        raise CertifyError(f"a claim is refuted by an instance; {claim.id} is cited and has none")
    check_batching(claim)
    try:
        record = record_of(claim.instances, choices)
    except Rejected as rejected:
        raise CertifyError(
            f"a counterexample lies inside the hypotheses of {claim.id}; this one does not: "
            f"{rejected}"
        ) from rejected
    return _proved(claim, Violation(record, claim.instances, judge(claim, record)))


def from_search(
    claim: Claim, profile: Profile, seed: int, advance: Callable[[int], None] | None = None
) -> Violation:
    """The first violation that a sweep or Hypothesis comes upon, not made small.

    Raises:
        CertifyError: if there is none, or balls do not prove it.
        BatchError: if the body or the generator mixes the instances of a batch.
    """
    if claim.instances is None:
        raise CertifyError(f"a claim is searched over its instances; {claim.id} is cited")
    check_batching(claim, seed)
    tally = Tally()
    found = sweep(claim, claim.instances, profile, seed, tally, advance=advance)
    if found is None:
        found = draw(claim, claim.instances, profile.drawn, seed, tally, advance=advance)
    if found is None:
        raise CertifyError(
            f"a certificate needs a counterexample; {tally.counts.evaluated} instances of "
            f"{claim.id} are none (profile {profile.name}, seed {seed})"
        )
    return _proved(claim, found)


def folder_of(claim: Claim) -> Path:
    """Where a certificate of this claim belongs: beside its file if it is declared as refuted."""
    return certificates.stored_path(claim).parent if claim.kind == "refuted" else Path(".rankcheck")


def _proved(claim: Claim, violation: Violation) -> Violation:
    judgement = violation.judgement
    if judgement.finding != "refuted":
        raise CertifyError(
            f"balls prove that a counterexample is one; this instance of {claim.id} is "
            f"{judgement.finding} {judgement.reason}".rstrip()
        )
    return violation
