"""Check the installation: what is installed, and three tasks with known outcomes.

A false statement is refuted, with a certificate that is proved again in balls; a true one holds; a
forged certificate is refused. Each has a line.

Exit code 0: all three came out as they have to. 4: one did not, and no verdict of this installation
can be trusted; or they did not end within --limit.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from rankcheck.engine.parallel import Tell
from rankcheck.engine.parallel.alone import Alone, Stopped
from rankcheck.errors import InstallationError
from rankcheck.faces.commands.arguments import add_limit, limit
from rankcheck.faces.terminal.plain import say
from rankcheck.versions import versions

HELP = "check that this installation can be trusted"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck doctor`."""
    add_limit(parser, "for all tasks. 0: no limit; they then run in this process (default 120)")


def run(args: argparse.Namespace) -> int:
    """Print the versions, then a line a task.

    Raises:
        InstallationError: after all tasks, if one came out wrong, or they did not end.
    """
    for name, version in versions().items():
        say(f"{name:14} {version}")
    say("")
    with (
        tempfile.TemporaryDirectory(prefix="rankcheck-") as folder,
        closing(Alone(_prepare, limit(args, "doctor"))) as alone,
    ):
        try:
            wrong = alone.ask(folder, say)
        except Stopped as stopped:
            raise InstallationError(
                f"this installation cannot be trusted: its check {stopped.how()}"
            ) from stopped
    if wrong:
        raise InstallationError(
            f"this installation cannot be trusted, every verdict here may be wrong: it has to be "
            f"that {', that '.join(wrong)}"
        )
    return 0


def _prepare() -> Callable[[str, Tell], list[str]]:
    """What tries the tasks in a folder, tells a line of each, and names those that failed."""
    from rankcheck.selftest import outcomes  # torch

    def check(folder: str, tell: Tell) -> list[str]:
        wrong = []
        for one in outcomes(Path(folder)):
            tell(f"{'ok' if one.right else 'WRONG':6} {one.task}: {one.said}")
            wrong += [] if one.right else [one.task]
        return wrong

    return check
