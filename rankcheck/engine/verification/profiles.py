"""How many instances are evaluated for a claim: the profiles quick, ci and deep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rankcheck.errors import InputError
from rankcheck.files import LEFT

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim
    from rankcheck.claims.proved import Proved
    from rankcheck.engine.counterexamples.instance import Instance


@dataclass(frozen=True)
class Profile:
    """Numbers of instances for a claim of effort 1; another effort multiplies them.

    Attributes:
        drawn: instances that Hypothesis draws.
        batches: what is swept in all is so many batches, each of one discrete shape,
        size: of so many instances.
        shapes: discrete shapes that are scouted first, with a few of these instances each.
        single: so many instead are swept one at a time, where torch cannot map a claim over them.
        scope: entries of an instance up to which every one is enumerated, from {-1, 0, 1}.
        scope_instances, scope_shapes: fewer entries are enumerated where there would be more
            instances, or discrete shapes, than these.
        scope_runs: the search for these shapes runs the generator this often.
    """

    name: str
    drawn: int
    batches: int
    size: int
    single: int
    shapes: int = 0
    scope: int = 5
    scope_instances: int = 20_000
    scope_shapes: int = 200
    scope_runs: int = 5_000


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            "quick", drawn=24, batches=24, size=512, single=1_000, shapes=128, scope_runs=1_000
        ),
        Profile(
            "ci",
            drawn=100,
            batches=48,
            size=1024,
            single=1_000,
            shapes=256,
            scope=6,
            scope_instances=100_000,
            scope_shapes=400,
            scope_runs=2_000,
        ),
        Profile(
            "deep",
            drawn=1500,
            batches=600,
            size=2048,
            single=10_000,
            shapes=8_192,
            scope=8,
            scope_instances=4_000_000,
            scope_shapes=4_000,
            scope_runs=20_000,
        ),
    )
}


class Hunted(Protocol):
    """What a hunt of a control says: the violation."""

    @property
    def violation(self) -> Instance | None: ...


@dataclass(frozen=True)
class Settings:
    """How claims are verified.

    Attributes:
        profile: how many instances are evaluated.
        seed: of the sweeps and the draws.
        folder: where certificates of new counterexamples are written.
        shrink: seconds for making a counterexample small; 0 keeps it as it was found.
        hunter: hunts a control that survives, with a seed; `hunt_control`, or None for no hunt.
            Worker processes import it by its name.
        prover: what the proofs prove that are kept beside a claim, and sentences on those that do
            not stand; `rankcheck.decide.prove.standing.standing`, or None to read no proofs.
    """

    profile: Profile = PROFILES["quick"]
    seed: int = 0
    folder: Path = LEFT
    shrink: float = 5.0
    hunter: Callable[[Claim, int], Hunted] | None = None
    prover: Callable[[Claim], tuple[Proved | None, tuple[str, ...]]] | None = None


def profile(name: str) -> Profile:
    """The profile of that name.

    Raises:
        InputError: if there is none.
    """
    if name not in PROFILES:
        raise InputError(f"there is no profile {name!r}; a profile is one of {', '.join(PROFILES)}")
    return PROFILES[name]
