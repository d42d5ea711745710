"""Watching a run of claims: a table on a terminal, elsewhere a line for each finished claim."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from rankcheck.catalogue.entry import Entry
from rankcheck.terminal import table
from rankcheck.terminal.display import Display
from rankcheck.verification.ledger import Row
from rankcheck.verification.watcher import Watcher

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Progress"]

#: Styles of verdicts that are as expected.
_STYLES = {"holds": "green", "guarded": "cyan", "refuted": "cyan", "cited": "dim"}


class Progress(Display, Watcher):
    """Shows the claims of a run as they are verified, and keeps their rows.

    On a terminal this is a table that fills; it is printed whole at the end.
    """

    def __init__(self, stream: TextIO, claims: int) -> None:
        super().__init__(stream)
        self.claims = claims
        self.rows: list[Row] = []
        self._running: dict[str, tuple[Entry, float, int]] = {}

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        if self.live:
            self.console.print(_table(self.rows))

    def started(self, entry: Entry) -> None:
        self._running[entry.id] = (entry, time.monotonic(), 0)

    def advanced(self, entry: Entry, instances: int) -> None:
        entry, since, seen = self._running[entry.id]
        self._running[entry.id] = (entry, since, seen + instances)

    def noticed(self, text: str) -> None:
        self.say(text)

    def finished(self, row: Row) -> None:
        self._running.pop(row.id, None)
        self.rows.append(row)
        if not self.live:
            number = f"[{len(self.rows):{len(str(self.claims))}}/{self.claims}]"
            self.say(f"{number} {table.sentence(row)}")

    def render(self) -> Table:
        """The latest rows that fit on the screen, then the running claims, then the totals."""
        running = list(self._running.values())
        room = max(1, self.console.height - len(running) - 4)
        shown = _table(self.rows[-room:])
        for entry, since, seen in running:
            seconds = f"{time.monotonic() - since:.1f}"
            cells = (entry.id, entry.kind, "running", "", table.count(seen), "", "", seconds)
            shown.add_row(*cells, style="dim")
        fallen = sum(not row.expected for row in self.rows)
        shown.caption = f"{len(self.rows)} of {self.claims} claims, {self.seconds:.0f} s" + (
            f", {fallen} not as expected" if fallen else ""
        )
        return shown


def _table(rows: list[Row]) -> Table:
    from rich.table import Table
    from rich.text import Text

    shown = Table(
        box=None, pad_edge=False, padding=(0, 1, 0, 0), caption_justify="left", header_style="bold"
    )
    for heading, side in table.HEADINGS.items():
        shown.add_column(
            heading,
            justify="left" if side == "<" else "right",
            overflow="fold",
            no_wrap=heading != "claim",
        )
    for row in sorted(rows, key=lambda row: row.id):
        name, kind, verdict, *numbers = table.cells(row)
        style = "" if row.expected else "bold"
        shown.add_row(Text(name, style), kind, Text(verdict, _style(row)), *numbers)
    return shown


def _style(row: Row) -> str:
    if row.expected:
        return _STYLES.get(row.verdict, "")
    return "bold yellow" if row.verdict == "undecided" else "bold red"
