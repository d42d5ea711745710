"""`rankcheck audit` of two checkpoints, of a folder of them, and of a training that runs."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankcheck import files
from rankcheck.commands.arguments import JsonFile, check_apart
from rankcheck.errors import InputError
from rankcheck.parallel.arithmetic import fix_arithmetic
from rankcheck.terminal.display import redraws
from rankcheck.terminal.exits import Exit
from rankcheck.terminal.plain import say, width_of

if TYPE_CHECKING:
    from rankcheck.audit.history.result import Checkpoint
    from rankcheck.audit.history.run import Course
    from rankcheck.terminal.audit import AuditDisplay

__all__ = ["PAUSE", "add_arguments", "asked", "run"]

#: Seconds between two looks at a folder. A file is read if it did not change between two.
PAUSE = 2.0
#: Options of the audit of one network, which say nothing here.
_OF_ONE = ("balanced", "max_rank", "outputs", "prune")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of audits over time."""
    parser.add_argument(
        "--against", metavar="OLD", type=Path, help="compare MODEL with this older checkpoint"
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="of a folder: audit new checkpoints as they are written, until Ctrl-C",
    )
    parser.add_argument(
        "--order",
        choices=("names", "time"),
        help="of a folder: by the step in the names, or by time of writing (default: names, if "
        "each has a number)",
    )


def asked(args: argparse.Namespace) -> bool:
    """Whether the arguments ask for an audit over time."""
    folder: bool = args.model.is_dir()
    return folder or args.watch or args.order is not None or args.against is not None


def run(args: argparse.Namespace) -> int:
    """Compare, or audit the checkpoints of a folder; returns the exit code."""
    folder = args.model.is_dir()
    for name in _OF_ONE:
        if getattr(args, name, None) is not None:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} is of the audit of one network; name one file without it")
    if args.against is None:
        for option in ("watch", "order"):
            if getattr(args, option) and not folder:
                raise InputError(f"--{option} is of a folder of checkpoints; {args.model} is none")
        return _folder(args)
    if folder or args.against.is_dir() or args.watch or args.order is not None:
        raise InputError("--against compares two files; a folder is audited without it")
    return _compare(args)


def _compare(args: argparse.Namespace) -> int:
    report = JsonFile(args, "a comparison of audits", "schema", "changes", "old", "new")
    _check(args, report)
    from rankcheck.audit.history import compare
    from rankcheck.terminal.audit import AuditDisplay
    from rankcheck.terminal.history import lines

    with AuditDisplay(sys.stderr) as display:
        try:
            found = compare(
                args.against, args.model, args.data, progress=display.progress, **_settings(args)
            )
        except KeyboardInterrupt:
            display.interrupted()
            raise
    for line in lines(found, width=width_of(report.stream)):
        say(line, report.stream)
    report.write(found.to_json())
    if report.path is not None:
        say(f"comparison: {report.path}", report.stream)
    if args.html is not None:
        from rankcheck.report.history import comparison_page

        files.write_text(args.html, comparison_page(found))
        say(f"page: {args.html}", report.stream)
    return Exit.UNDECIDED if found.is_assumed else Exit.EXPECTED


def _folder(args: argparse.Namespace) -> int:
    if args.watch and args.json == "-":
        raise InputError("--json - with --watch has no end; name a file, which is written anew")
    report = JsonFile(args, "a history of audits", "schema", "titles", "checkpoints")
    _check(args, report)
    from rankcheck.audit.history.measure import Measuring
    from rankcheck.audit.history.run import Course
    from rankcheck.terminal.audit import AuditDisplay

    display = AuditDisplay(report.stream if redraws(report.stream) else sys.stderr)
    measuring = Measuring.on(args.data, progress=display.progress, **_settings(args))
    known = [one for one in (args.data, args.html, report.path) if one is not None]
    course = Course(args.model, measuring, by=args.order, without=known)
    shown = _Shown(course, display, report, args.html)

    def wait() -> None:
        if display.live:
            display.progress(f"watching {args.model}", 0, None)
        pause()

    if args.watch and not display.live:
        display.say(f"watching {args.model} until Ctrl-C")
    with display:
        try:
            for event in course.events(wait if args.watch else None):
                shown.event(event, write=args.watch)
        except KeyboardInterrupt:
            shown.end()
            raise
    shown.end()
    return Exit.UNDECIDED if course.history.is_assumed else Exit.EXPECTED


def pause() -> None:
    """Wait until the next look."""
    time.sleep(PAUSE)


class _Shown:
    """Shows and writes a history as it comes.

    Files that are skipped before the first checkpoint are named after its first line, so that what
    was assumed comes first.
    """

    def __init__(
        self, course: Course, display: AuditDisplay, report: JsonFile, html: Path | None
    ) -> None:
        self._course, self._display, self._report, self._html = course, display, report, html
        self._width = width_of(report.stream)
        self._row: Callable[[Any], str] | None = None
        self._held: list[str] = []
        self._told = False

    def event(self, event: Any, *, write: bool) -> None:
        """Show a checkpoint, or that a file is skipped, and write what there is if asked to."""
        from rankcheck.audit.history.result import Skipped
        from rankcheck.terminal.history import Rows, skipped

        if isinstance(event, Skipped):
            self._held += skipped(event, self._width)
        else:
            if self._row is None:
                rows = Rows(event, self._width)
                self._row = rows.row
                self._say(*self._headline(event), rows.head)
            self._say(*self._headline(event), self._row(event))
        if self._row is not None:
            self._say(*self._held)
            self._held = []
            if write:
                self._write()

    def _headline(self, one: Checkpoint) -> list[str]:
        """What has to be known before anything else, once."""
        from rankcheck.terminal.history import beginning

        if one.headline is None or self._told:
            return []
        self._told = True
        return beginning(one.headline, self._width)

    def end(self) -> None:
        """Show what follows, and write it."""
        from rankcheck.terminal.history import closing

        self._say(*self._held)
        if self._row is None:
            self._say("no checkpoint was audited")
            return
        self._say(*closing(self._course.history, self._width))
        self._write()
        if self._report.path is not None:
            self._say(f"history: {self._report.path}")
        if self._html is not None:
            self._say(f"page: {self._html}")

    def _say(self, *lines: str) -> None:
        """Print above the live part where both are on one terminal."""
        for line in lines:
            if self._display.stream is self._report.stream:
                self._display.say(line)
            else:
                say(line, self._report.stream)

    def _write(self) -> None:
        history = self._course.history
        self._report.write(history.to_json())
        if self._html is not None:
            from rankcheck.report.history import history_page

            files.write_text(self._html, history_page(history))


def _check(args: argparse.Namespace, report: JsonFile) -> None:
    """Check the files that are to be written, before anything is imported.

    Raises:
        InputError: one cannot be written, or is named twice.
    """
    if args.html is not None:
        files.check_writable(args.html, "a page of rankcheck")
    check_apart([args.model, args.against, args.data, args.html, report.path])
    fix_arithmetic()  # so that the number of workers changes no digit


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    """What both audits take."""
    from rankcheck.audit.ranks import TOLERANCE

    return {
        "tolerance": TOLERANCE if args.tolerance is None else args.tolerance,
        "device": args.device,
        "slope": args.slope,
        "executor": args.executor or (args.workers if args.workers > 1 else None),
    }
