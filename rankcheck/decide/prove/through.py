"""Goes through the shapes of a claim, the smallest first; nothing is imported that computes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from rankcheck.decide.prove.result import Outcome, Plan, Progress, Result
from rankcheck.decide.prove.settings import Settings
from rankcheck.decide.prove.target import Target
from rankcheck.errors import InstallationError

#: Where several shapes are tried, one of them has this share of the seconds, at most.
SHARE = 0.25
#: With less than this share of them left, no other shape is begun.
REST = 0.005

Attempt = Callable[[Target, Settings], Outcome]


class FaultError(InstallationError):
    """The second checker refuses a proof of a claim; nothing of the claim is shown then."""


def through(
    plan: Plan,
    attempt: Attempt,
    settings: Settings,
    progress: Callable[[Progress], object] = lambda state: None,
) -> Result:
    """Go through the shapes of a plan until the seconds are spent.

    Args:
        attempt: proves the claim at one shape.
        settings: its seconds are for all shapes.
    """
    since = time.monotonic()
    outcomes: list[Outcome] = []
    interrupted = False
    share = SHARE if len(plan.targets) > 1 else 1.0

    def spent() -> float:
        return time.monotonic() - since

    def tell(doing: str) -> None:
        proved = sum(one.proof is not None for one in outcomes)
        state = (spent(), settings.seconds, len(outcomes), len(plan.targets), proved, doing)
        progress(Progress(*state))

    try:
        for target in plan.targets:
            left = settings.seconds - spent()
            if left <= REST * settings.seconds:
                break
            tell(Outcome(target=target).text)
            allowed = min(left, share * settings.seconds)
            outcomes.append(attempt(target, replace(settings, seconds=allowed)))
    except KeyboardInterrupt:
        interrupted = True
    return Result(
        plan=plan,
        outcomes=tuple(outcomes),
        seed=settings.seed,
        budget=settings.seconds,
        seconds=round(spent(), 3),
        interrupted=interrupted,
    )
