"""Searches for a violation of a claim that is to be certified."""

from __future__ import annotations

from rankcheck.claims.claim import Claim
from rankcheck.counterexamples.given import NotRefutedError, proved
from rankcheck.counterexamples.instance import Instance
from rankcheck.errors import InputError
from rankcheck.verification.batching import check_batching
from rankcheck.verification.profiles import Settings
from rankcheck.verification.stages import search


def from_search(claim: Claim, settings: Settings) -> Instance:
    """The first violation that the stages of a search find; it is not shrunk.

    Raises:
        InputError: if the claim has no instances.
        NotRefutedError: if no violation is found, or balls do not prove it.
        MemoryError or what else says so: if memory was short for every instance.
        BatchError: if the body or the generator mixes the instances of a batch.
    """
    if claim.instances is None:
        raise InputError(f"{claim.id} is cited and has no instances; an instance refutes a claim")
    if claim.instances.recording is not None:
        raise InputError(
            f"{claim.id} is about a recorded experiment, and no instance proves it false; "
            "`rankcheck verify` says how it came out"
        )
    check_batching(claim, settings.seed)
    result = search(claim, settings)
    if result.violation is not None:
        return proved(result.violation)
    if result.counts.evaluated == 0 and any(one.short for one in result.raised):
        raise next(one.error for one in result.raised if one.short)
    raise NotRefutedError(
        f"none of {result.counts.evaluated} instances refutes {claim.id} "
        f"(profile {settings.profile.name}, seed {settings.seed})"
    )
