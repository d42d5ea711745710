"""Check the installation: small tasks with known answers, and what is installed.

The canaries are claims that are false by a little, true but for rounding, or broken on purpose, and
certificates, ledgers and processes of the same kind; each is caught by one stage alone. `verify`,
`hunt` and pytest begin with a few of them, unless the stamp is current: a file in the cache folder
(RANKCHECK_CACHE names another one) that says that they came out right for this installation, on
this machine, with these sources and variables.

Exit code 0: all came out as they have to. 4: one did not, and no verdict can be trusted; or the
check did not end within --limit.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from rankcheck.canaries.stamp import Stamp, path
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
    """Print the versions, then a line a canary, by stages.

    Raises:
        InstallationError: after all canaries, if one came out wrong, or they did not end.
    """
    for name, version in versions().items():
        say(f"{name:14} {version}")
    with closing(Alone(_prepare, limit(args, "doctor"), nested=True)) as alone:
        try:
            checked = alone.ask("canaries", say)
        except Stopped as stopped:
            raise InstallationError(
                f"this installation cannot be trusted: the check of the canaries {stopped.how()}"
            ) from stopped
    if checked.wrong:
        raise InstallationError(
            f"this installation cannot be trusted: {', '.join(map(repr, checked.wrong))} came out "
            "wrong; every verdict here may be wrong"
        )
    say(f"\nall {checked.number} canaries came out as they have to, in {checked.seconds:.1f} s")
    say(checked.stamp)
    return 0


@dataclass(frozen=True)
class _Checked:
    """What came of the canaries.

    Attributes:
        number: of canaries.
        wrong: the names of those that came out wrong.
        stamp: what became of the stamp, as a sentence.
    """

    number: int
    wrong: tuple[str, ...]
    seconds: float
    stamp: str


def _prepare() -> Callable[[str, Tell], _Checked]:
    """What checks the canaries, and tells a line for each."""
    from rankcheck.canaries import outcomes  # torch

    def check(question: str, tell: Tell) -> _Checked:
        stamp = Stamp.of_this_process()
        was_current = stamp.current
        wrong, number, stage = [], 0, ""
        start = last = time.perf_counter()
        for canary, problem in outcomes():
            now = time.perf_counter()
            if canary.stage != stage:
                stage = canary.stage
                tell(f"\n{stage}")
            outcome = "ok" if problem is None else f"WRONG: {problem}"
            tell(f"  {canary.name:50}{now - last:7.3f} s  {outcome}")
            wrong += [] if problem is None else [canary.name]
            number, last = number + 1, now
        if wrong:
            stamp.forget()
        else:
            stamp.keep()
        kept = _of_stamp(stamp, was_current)
        return _Checked(number, tuple(wrong), last - start, kept)

    return check


def _of_stamp(stamp: Stamp, was_current: bool) -> str:
    """What became of the stamp."""
    if was_current:
        return "the stamp is current: runs begin without canaries"
    if stamp.current:
        return "the stamp was not current, and is now: runs begin without canaries"
    if not stamp.settled:
        return "there is no stamp, as sources have just changed: runs begin with some canaries"
    return f"there is no stamp, and {path()} cannot be written: runs begin with some canaries"
