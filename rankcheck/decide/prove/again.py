"""Proofs are checked again: nothing that is in their file is believed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rankcheck.claims.claim import Claim
from rankcheck.decide.prove.checking import check
from rankcheck.decide.prove.file import Kept, Proofs


def prove_again(path: Path | str, claim: Claim) -> Iterator[tuple[Kept, str]]:
    """Check every proof of a file again; each with what was checked.

    Raises:
        ProofError: if the file is not one of this claim.
        UnsoundError: if a proof is refused.
    """
    path = Path(path)
    for kept in Proofs.read(path).belonging(claim, path).proofs:
        yield kept, check(claim, kept.proof).sentence
