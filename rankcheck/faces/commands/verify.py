"""Verify claims: sweep and draw their instances, break their controls, replay their certificates.

A SELECTOR is the id of a claim, a prefix of ids (`rank`), a glob (`*-as-printed`), or a file, a
folder or FILE::NAME with claims of your own. Without one, all of rankcheck's claims are verified.

Exit code 0: every claim is as expected. 1: a counterexample is proved where none was expected, or a
claim failed (a control was not caught, nothing was asserted, its body is no function of what is
drawn, the check raised, or the claim is malformed). 2: wrong input. 3: a claim is undecided.

In GitHub Actions, what is not as expected is annotated at its claim, and in the summary of the job.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.parallel.arithmetic import fix_arithmetic
from rankcheck.engine.verification.ledger import Ledger, Row
from rankcheck.engine.verification.profiles import Settings
from rankcheck.engine.verification.run import default_workers, verify_claims
from rankcheck.faces.commands.arguments import (
    JsonFile,
    add_json,
    add_limit,
    add_selectors,
    add_settings,
    add_shrink,
    add_workers,
    limit,
    settings,
)
from rankcheck.faces.terminal import exits, github, table
from rankcheck.faces.terminal.live import Progress

HELP = "verify claims; the main job"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rankcheck verify`."""
    add_selectors(parser)
    add_settings(parser)
    add_shrink(parser)
    add_workers(parser, "processes (default: the cores)", default=None)
    add_limit(
        parser,
        "for each claim; one that takes longer is undecided. 0: no limit; with --workers 1, claims "
        "then run in this process, as a debugger needs it (default by profile: 120, 600, 7200)",
    )
    add_json(parser, "the ledger")


def run(args: argparse.Namespace) -> int:
    """Verify the claims, show their rows, write the ledger; returns the exit code."""
    file = JsonFile(args, "a ledger", "schema", "claims")
    prepared = Run.of(args, select(args.selectors))
    shown = Progress(file.stream, len(prepared.entries))
    ledger = prepared.ledger(shown, file.path)
    file.write(ledger.to_json())
    if file.path is not None:
        shown.say(f"ledger: {file.path}")
    if github.in_actions():
        _annotate(shown, prepared, ledger)
    return exits.of_rows(ledger.rows)


def _annotate(shown: Progress, prepared: Run, ledger: Ledger) -> None:
    """Print annotations on the stream of the rows, and add to the summary of the job."""
    places = {entry.id: (entry.file, entry.line) for entry in prepared.entries}
    annotations = github.annotated(ledger.rows, places)
    for annotation in annotations:
        shown.say(str(annotation))
    total = table.total(ledger.rows, ledger.seconds, ledger.profile, ledger.seed)
    if problem := github.add_summary(github.summary(total, annotations)):
        shown.say(f"rankcheck: {problem}")


@dataclass(frozen=True)
class Run:
    """Claims that are to be verified, and how; all arguments are checked."""

    entries: Sequence[Entry]
    settings: Settings
    workers: int
    limit: float | None

    @classmethod
    def of(cls, args: argparse.Namespace, entries: Sequence[Entry]) -> Run:
        """What the arguments say; fixes the arithmetic of this process.

        Raises:
            InputError: if the profile is unknown.
        """
        fix_arithmetic()
        chosen = settings(args, args.shrink)
        workers = default_workers(len(entries)) if args.workers is None else args.workers
        return cls(entries, chosen, workers, limit(args, chosen.profile.name))

    def ledger(self, shown: Progress, path: Path | None) -> Ledger:
        """Verify the claims and show their rows.

        At an interruption, the rows that are done are shown, and written beside `path`, the file
        that the whole ledger would have gone to.
        """
        try:
            with shown:
                rows = verify_claims(
                    self.entries,
                    self.settings,
                    workers=self.workers,
                    progress=shown,
                    limit=self.limit,
                )
        except KeyboardInterrupt:
            _conclude(shown, self.settings)
            left = shown.claims - len(shown.rows)
            shown.say(f"interrupted: {left} claim{'s' * (left != 1)} left")
            if path is not None and shown.rows:
                part = path.with_name(f"{path.name}.part")
                self._of(shown.rows, shown.seconds).write(part)
                shown.say(f"the rows that are done: {part}")
            raise
        _conclude(shown, self.settings)
        return self._of(rows, shown.seconds)

    def _of(self, rows: Sequence[Row], seconds: float) -> Ledger:
        name, seed = self.settings.profile.name, self.settings.seed
        return Ledger.of(rows, profile=name, seed=seed, seconds=seconds)


def _conclude(shown: Progress, chosen: Settings) -> None:
    """Print why rows are not as expected, and the totals."""
    for message in table.messages(shown.rows):
        shown.say(f"\n{message}")
    shown.say("\n" + table.total(shown.rows, shown.seconds, chosen.profile.name, chosen.seed))
