"""What the claims of one run share: the profile, the seed, and the rows found so far."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from rankcheck.verification.ledger import Row
from rankcheck.verification.profiles import Profile, profile


@dataclass
class Session:
    """The settings of a run, and its ledger as it grows.

    Attributes:
        folder: where certificates of new counterexamples are left.
    """

    profile: Profile
    seed: int = 0
    folder: Path = Path(".rankcheck")
    rows: list[Row] = field(default_factory=list)


_current: Session | None = None


def current() -> Session:
    """The running session, or one of the profile in `RANKCHECK_PROFILE` (by default quick).

    Raises:
        ValueError: if the profile is unknown.
    """
    global _current
    if _current is None:
        _current = Session(profile(os.environ.get("RANKCHECK_PROFILE", "quick")))
    return _current


def begin(session: Session | None) -> Session | None:
    """Make this the running session, or end the running one; gives the one before."""
    global _current
    previous, _current = _current, session
    return previous
