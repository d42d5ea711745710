"""`rankcheck.verify_claim`: a verification with all that stands above it, hunts and proofs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rankcheck.claims.claim import Claim
from rankcheck.decide.prove.standing import standing
from rankcheck.engine.hunt.controls import hunt_control
from rankcheck.engine.verification import check
from rankcheck.engine.verification.ledger import Row
from rankcheck.engine.verification.profiles import Settings


def verify_claim(
    claim: Claim,
    settings: Settings = Settings(),  # noqa: B008 -- it does not change
    *,
    progress: Callable[[int], None] | None = None,
) -> Row:
    """That of `rankcheck.engine.verification.check`, with a short hunt of controls that survive.

    The proofs that are kept beside the claim are read, too.
    """
    settings = replace(settings, hunter=hunt_control, prover=standing)
    return check.verify_claim(claim, settings, progress=progress)
