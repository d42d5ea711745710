"""The proofs of a claim in its verification: read, and one of them checked again if that is quick.

torch is imported where it is needed: worker processes of `verify` import this file before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.decide.prove.file import FORM, ProofError, Proofs
from rankcheck.files import shown_path

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim
    from rankcheck.claims.proved import Proved

#: A verification looks at so few points of a proof, and instances of its scope. That takes a fourth
#: of the time or less: of 14 proofs of Sylvester's inequality, 3 to 90 ms in place of 10 to 360.
POINTS, SCOPE = 4, 9
#: A proof is checked again in a verification if all of its points took no more seconds; one of a
#: range, of which nothing is left out, if it took no more than a fourth of these.
QUICK = 0.4


def standing(claim: Claim) -> tuple[Proved | None, tuple[str, ...]]:
    """What the proofs prove that are kept beside a claim, and why they do not stand if they do not.

    Of the proofs that are quick to check, the one that says most is checked again. Those of another
    text of the claim are stale: they are no fault, and prove nothing of the claim as it stands.

    Raises:
        MemoryError or what else says so: if memory was short; that says nothing of a proof.
    """
    try:
        proofs = Proofs.of(claim)
    except ProofError as error:
        return None, (str(error),)
    if proofs is None:
        return None, ()
    if proofs.statement_sha256 != claim.statement_hash:
        return proofs.facts(stale=True), ()
    for kept in proofs.proofs:
        if kept.checked <= (QUICK / 4 if kept.proof.method == "range" else QUICK):
            from rankcheck.decide.prove.checking import UnsoundError, check

            try:
                check(claim, kept.proof, points=POINTS, scope=SCOPE)
            except UnsoundError as error:
                return None, (_fallen(claim, kept.text, error),)
            break
    return proofs.facts(), ()


def _fallen(claim: Claim, text: str, error: Exception) -> str:
    return (
        f"the proof for {text} ({shown_path(FORM.path(claim))}) does not stand: {error}. The file, "
        "the claim or a function that it calls has changed since; `rankcheck prove CLAIM --keep` "
        "proves it anew"
    )
