"""`prove(claim)`: what is proved of a claim, at its smallest shapes and for all entries.

A proof is shown only after the second checker has gone through it. Then follow the controls: how
many mutants of the claim cannot be proved at the same shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from rankcheck.claims.claim import Claim
from rankcheck.decide.prove import file
from rankcheck.decide.prove.prover import Prover, check_claim
from rankcheck.decide.prove.result import Progress, Result
from rankcheck.decide.prove.settings import Settings
from rankcheck.decide.prove.through import through
from rankcheck.engine.parallel import single_thread


def prove(
    claim: Claim,
    *,
    shape: Mapping[str, Sequence[int]] | None = None,
    entries: int = 8,
    seconds: float = 20.0,
    seed: int = 0,
    progress: Callable[[Progress], object] = lambda state: None,
) -> Result:
    """Prove a claim at its smallest shapes, for all entries; what is proved, and where.

    Nothing is said against a claim that is not proved, and nothing of the shapes that are not
    named. Ctrl-C ends the run, and what was proved by then is reported. The proofs are left in
    `.rankcheck/proofs`.

    Args:
        shape: by the name of a size, as `depth`, the values that it may have; all shapes otherwise.
        entries: shapes have at most so many entries.
        seconds: for all shapes.
        progress: called as the run goes on.

    Raises:
        InputError: if the claim has no instances that can be drawn, or is declared false; if there
            is no such size or shape; or an argument is out of range.
        InstallationError: if the second checker refuses a proof, or a false mutant is proved.
    """
    check_claim(claim)
    settings = Settings(seconds=seconds, seed=seed)
    with single_thread():
        prover = Prover(claim, entries, shape)
        result = through(prover.plan, prover.attempt, settings, progress)
        try:
            left = file.leave(claim, result)
        except OSError:  # nothing is lost that was asked for
            left = None
    return replace(result, left=None if left is None else str(left))
