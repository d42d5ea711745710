"""Check the installation: verify claims whose verdicts are known, and show what is installed.

The canaries are false by a little, true but for rounding, or broken on purpose. They go through the
same path as every claim; `rankcheck verify` checks them, too, before its first claim.

Exit code 0: all came out as they have to. 4: one did not, and no verdict can be trusted; or the
check did not end within --limit.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import closing

from rankcheck.commands.arguments import add_limit, limit
from rankcheck.errors import InstallationError
from rankcheck.parallel import Tell
from rankcheck.parallel.alone import Alone, Stopped
from rankcheck.terminal.plain import say
from rankcheck.versions import versions

HELP = "check that this installation can be trusted"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck doctor`."""
    add_limit(parser, "for all canaries. 0: no limit; they then run in this process (default 120)")


def run(args: argparse.Namespace) -> int:
    """Print the versions, then a line a canary.

    Raises:
        InstallationError: after all canaries, if one came out wrong, or they did not end.
    """
    for name, version in versions().items():
        say(f"{name:14} {version}")
    say("")
    with closing(Alone(_prepare, limit(args, "doctor"), nested=True)) as alone:
        try:
            wrong, seconds = alone.ask("canaries", say)
        except Stopped as stopped:
            raise InstallationError(
                f"this installation cannot be trusted: the check of the canaries {stopped.how()}"
            ) from stopped
    if wrong:
        raise InstallationError(
            f"this installation cannot be trusted: {', '.join(map(repr, wrong))} came out wrong; "
            "every verdict here may be wrong"
        )
    say(f"\nall canaries came out as they have to, in {seconds:.1f} s")
    return 0


def _prepare() -> Callable[[str, Tell], tuple[list[str], float]]:
    """What checks the canaries: it tells a line for each, and returns the names of wrong ones."""
    from rankcheck.canaries import outcomes  # torch

    def check(question: str, tell: Tell) -> tuple[list[str], float]:
        wrong = []
        start = last = time.perf_counter()
        for canary, problem in outcomes():
            now = time.perf_counter()
            outcome = "ok" if problem is None else f"WRONG: {problem}"
            tell(f"{canary.stage:21}{canary.name:50}{now - last:7.3f} s  {outcome}")
            wrong += [] if problem is None else [canary.name]
            last = now
        return wrong, time.perf_counter() - start

    return check
