"""Hunts of controls: a short one where `verify` has not caught a control, and that of a person.

torch is imported where they run: worker processes of `verify` import this file before it.
"""

from __future__ import annotations

from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim
    from rankcheck.engine.hunt.result import Hunt

#: Rounds of the short hunt: the first scouts, the second descends, the third evolves. They evaluate
#: some 500 000 instances in a few seconds, fewer where a claim has less effort; the number does not
#: depend on the speed of the machine, and so the verdict does not.
ROUNDS = 3


def hunt_control(control: Claim, seed: int) -> Hunt:
    """Hunt a control, a variant of a claim, for some rounds; no certificate is left.

    Raises:
        InputError: as `rankcheck.engine.hunt.hunt`.
    """
    from rankcheck.engine.hunt.run import hunt

    with TemporaryDirectory(prefix="rankcheck-") as folder:
        return hunt(control, None, seed, rounds=ROUNDS, scope=0, folder=folder, shrink=0.0)


def hunt_variant(claim: Claim, name: str, **arguments: Any) -> Hunt:
    """Hunt the control of that name; the arguments are those of `rankcheck.engine.hunt.hunt`.

    No certificate is left: the claim itself may be true.

    Raises:
        InputError: if the claim has no such control, or as `rankcheck.engine.hunt.hunt`.
    """
    from rankcheck.claims.variants import variant
    from rankcheck.engine.hunt.run import hunt

    control = variant(claim, name)
    with TemporaryDirectory(prefix="rankcheck-") as folder:
        result = hunt(control, **{**arguments, "folder": folder})
    message = f"the control {name!r} of {result.message}"
    if (found := result.counterexample) is not None:
        lines = found.lines(f"the control {name!r} of {claim.id} is broken", "proved")
        message = "\n".join(lines)
    return replace(result, certificate=None, message=message)
