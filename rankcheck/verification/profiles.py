"""How many instances are evaluated for a claim: the profiles quick, ci and deep."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rankcheck.errors import InputError

__all__ = ["PROFILES", "Profile", "Settings", "profile"]


@dataclass(frozen=True)
class Profile:
    """Numbers of instances for a claim of effort 1; another effort multiplies them.

    Attributes:
        drawn: instances that Hypothesis draws.
        batches: batches that are swept, each of one discrete shape.
        size: instances in a batch.
        single: instances that are swept one by one, if the body carries no batch axis.
    """

    name: str
    drawn: int
    batches: int
    size: int
    single: int


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("quick", drawn=60, batches=24, size=512, single=60),
        Profile("ci", drawn=150, batches=64, size=1024, single=150),
        Profile("deep", drawn=1500, batches=600, size=2048, single=1500),
    )
}


@dataclass(frozen=True)
class Settings:
    """How claims are verified.

    Attributes:
        profile: how many instances are evaluated.
        seed: of the sweeps and the draws.
        folder: where certificates of new counterexamples are written.
        shrink: seconds for making a counterexample small; 0 keeps it as it was found.
    """

    profile: Profile = PROFILES["quick"]
    seed: int = 0
    folder: Path = Path(".rankcheck")
    shrink: float = 5.0


def profile(name: str) -> Profile:
    """The profile of that name.

    Raises:
        InputError: if there is none.
    """
    if name not in PROFILES:
        raise InputError(f"there is no profile {name!r}; a profile is one of {', '.join(PROFILES)}")
    return PROFILES[name]
