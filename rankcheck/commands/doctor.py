"""Check the installation: verify claims whose verdicts are known, and show what is installed.

The canaries are false by a little, true but for rounding, or broken on purpose. They go through the
same path as every claim; `rankcheck verify` checks them, too, before its first claim.

Exit code 0: all came out as they have to. 4: one did not, and no verdict can be trusted.
"""

from __future__ import annotations

import argparse
import time

from rankcheck.errors import InstallationError
from rankcheck.terminal.plain import say
from rankcheck.versions import versions

HELP = "check that this installation can be trusted"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`rankcheck doctor` takes no arguments."""


def run(args: argparse.Namespace) -> int:
    """Print the versions, then a line a canary.

    Raises:
        InstallationError: after all canaries, if one came out wrong.
    """
    from rankcheck.verification.canaries import outcomes  # torch

    for name, version in versions().items():
        say(f"{name:14} {version}")
    say("")
    wrong = []
    start = last = time.perf_counter()
    for canary, problem in outcomes():
        now = time.perf_counter()
        said = "ok" if problem is None else f"WRONG: {problem}"
        say(f"{canary.name:42} {canary.verdict:9}{now - last:7.3f} s  {said}")
        wrong += [] if problem is None else [canary.name]
        last = now
    if wrong:
        raise InstallationError(
            f"this installation cannot be trusted: {', '.join(map(repr, wrong))} came out wrong; "
            "every verdict here may be wrong"
        )
    say(f"\nall canaries came out as they have to, in {time.perf_counter() - start:.1f} s")
    return 0
