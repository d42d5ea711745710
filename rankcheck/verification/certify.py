"""Searching for a violation of a claim that is to be certified."""

from __future__ import annotations

from collections.abc import Callable

from rankcheck.claims.claim import Claim
from rankcheck.counterexamples.given import NotRefutedError, proved
from rankcheck.counterexamples.instance import Instance
from rankcheck.errors import InputError
from rankcheck.verification.batching import check_batching
from rankcheck.verification.profiles import Profile
from rankcheck.verification.search import Tally, draw, sweep


def from_search(
    claim: Claim, profile: Profile, seed: int, advance: Callable[[int], None] | None = None
) -> Instance:
    """The first violation that a sweep, or else Hypothesis, finds; it is not shrunk.

    Args:
        advance: called with numbers of instances as the search goes on.

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
    check_batching(claim, seed)
    tally = Tally()
    found = sweep(claim, claim.instances, profile, seed, tally, advance=advance)
    if found is None:
        found = draw(claim, claim.instances, profile.drawn, seed, tally, advance=advance)
    if found is None and tally.counts.evaluated == 0 and any(one.short for one in tally.raised):
        raise next(one.error for one in tally.raised if one.short)
    if found is None:
        raise NotRefutedError(
            f"none of {tally.counts.evaluated} instances refutes {claim.id} "
            f"(profile {profile.name}, seed {seed})"
        )
    return proved(found)
