"""Watching a run: a live table on a terminal, a line for each finished claim elsewhere."""

from __future__ import annotations

import os
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from rankcheck.catalogue.entry import Entry
from rankcheck.terminal import table
from rankcheck.verification.ledger import Row
from rankcheck.verification.run import Watcher

if TYPE_CHECKING:
    from rich.table import Table

_STYLES = {
    "holds": "green",
    "refuted": "cyan",
    "guarded": "cyan",
    "cited": "dim",
    "failed": "bold red",
    "undecided": "bold yellow",
}


class Display(Watcher):
    """A line for each finished claim."""

    def __init__(self, stream: TextIO, claims: int) -> None:
        self.stream = stream
        self.claims = claims
        self.rows: list[Row] = []
        self._start = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing is left on the screen that still moves."""

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self._start

    def finished(self, row: Row) -> None:
        self.rows.append(row)
        number = f"[{len(self.rows):{len(str(self.claims))}}/{self.claims}]"
        self.say(f"{number} {table.sentence(row)}")

    def say(self, text: str) -> None:
        """Print a text as it is."""
        print(text, file=self.stream, flush=True)


class LiveDisplay(Display):
    """A table that fills while the claims run, and stays when they are done."""

    def __init__(self, stream: TextIO, claims: int) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__(stream, claims)
        self._running: dict[str, tuple[Entry, float, int]] = {}
        self._console = Console(file=stream)
        self._live = Live(
            console=self._console,
            get_renderable=self._render,
            refresh_per_second=8,
            transient=True,
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()
        self._console.print(_table(self.rows))

    def started(self, entry: Entry) -> None:
        self._running[entry.id] = (entry, time.monotonic(), 0)

    def advanced(self, entry: Entry, instances: int) -> None:
        entry, since, seen = self._running[entry.id]
        self._running[entry.id] = (entry, since, seen + instances)

    def finished(self, row: Row) -> None:
        self._running.pop(row.id, None)
        self.rows.append(row)

    def _render(self) -> Table:
        """The latest rows, as many as fit; below them what runs, and how far the whole is."""
        running = list(self._running.values())
        room = max(1, self._console.height - len(running) - 4)
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


def display(stream: TextIO, claims: int) -> Display:
    """A table on a terminal that can redraw it, lines elsewhere."""
    redraws = stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
    return LiveDisplay(stream, claims) if redraws else Display(stream, claims)


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
        shown.add_row(Text(name, style), kind, Text(verdict, _STYLES[verdict]), *numbers)
    return shown
