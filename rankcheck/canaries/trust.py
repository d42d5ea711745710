"""What every run begins with: is this installation to be trusted?

torch is imported where the question is asked.
"""

from __future__ import annotations

from functools import cache

from rankcheck.canaries.stamp import Stamp
from rankcheck.errors import InstallationError
from rankcheck.versions import versions

__all__ = ["check_canaries"]


@cache
def check_canaries() -> None:
    """Run the short set of canaries, once in a process; not at all where the stamp is current.

    Raises:
        InstallationError: if one comes out wrong; it names the canary and the installed versions.
    """
    stamp = Stamp.of_this_process()
    if stamp.current:
        return
    from rankcheck.canaries.run import CANARIES, outcomes

    for canary, wrong in outcomes([canary.name for canary in CANARIES if canary.short]):
        if wrong is not None:
            installed = ", ".join(f"{name} {version}" for name, version in versions().items())
            raise InstallationError(
                f"this installation cannot be trusted: of the canary {canary.name!r}, {wrong}; "
                f"every verdict here may be wrong ({installed})"
            )
    stamp.keep()
