"""Watching a run of claims: a table on a terminal, elsewhere a line for each finished claim."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from rankcheck.catalogue.entry import Entry
from rankcheck.claims.verdicts import VERDICTS
from rankcheck.parallel import Done, Lost, Started, Told
from rankcheck.terminal import table
from rankcheck.terminal.display import Display, grid
from rankcheck.terminal.plain import fitting
from rankcheck.verification.ledger import Row
from rankcheck.verification.run import Event

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Progress", "rows_table"]

#: Where rows come and go: the columns that a narrow terminal does without, the first one first,
#: and the least widths of the columns, so that no column comes and goes.
_SPARED = ("proved", "small", "killed", "best", "tried", "kind", "sec")
_USUAL = {"kind": 12, "verdict": 9, "small": 5, "tried": 5, "best": 7, "killed": 5, "sec": 5}


class Progress(Display):
    """Shows the claims of a run as they are verified, and keeps their rows.

    On a terminal this is a table that fills; it is printed whole at the end.
    """

    def __init__(self, stream: TextIO, claims: int) -> None:
        super().__init__(stream)
        self.claims = claims
        self.rows: list[Row] = []
        self._running: dict[str, tuple[Entry, float, int]] = {}
        self._begun = 0.0  # when the first claim began

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        if self.live:
            rows = sorted(self.rows, key=lambda row: row.id)
            lines = [(table.cells(row), row) for row in rows]
            self.console.print(rows_table(lines, self.console.width, live=False))

    def __call__(self, event: Event) -> None:
        """Take in what happens."""
        match event:
            case Started(entry):
                self._begun = self._begun or time.monotonic()
                self._running[entry.id] = (entry, time.monotonic(), 0)
            case Told(entry, int(instances)):
                entry, since, seen = self._running[entry.id]
                self._running[entry.id] = (entry, since, seen + instances)
            case Lost(text):
                self.say(text)
            case Done(entry, rows):
                self._running.pop(entry.id, None)
                self.claims += len(rows) - 1
                for row in rows:
                    self._finish(row)

    def _finish(self, row: Row) -> None:
        self.rows.append(row)
        if not self.live:
            number = f"[{len(self.rows):{len(str(self.claims))}}/{self.claims}]"
            self.say(f"{number} {table.sentence(row)}")
            if self._left():
                self.now_and_then(self._left)

    def _left(self) -> str:
        """The time that is left if the other claims take as long as those that are verified."""
        left, verified = self.claims - len(self.rows), sum(r.verdict != "cited" for r in self.rows)
        if not (left and verified and self._begun):
            return ""
        return f"about {left * (time.monotonic() - self._begun) / verified:.0f} s left"

    def render(self) -> Table:
        """The latest rows that fit on the screen, then the running claims, then the totals."""
        room = max(2, self.console.height - 4)
        running = list(self._running.values())[: room - 1]
        rows = self.rows[-(room - len(running)) :]
        lines: list[tuple[tuple[str, ...], Row | None]] = [
            (table.cells(row), row) for row in sorted(rows, key=lambda row: row.id)
        ]
        for entry, since, seen in running:
            seconds = f"{time.monotonic() - since:.1f}"
            cells = (entry.id, entry.kind, "running", "", table.count(seen), "", "", "", seconds)
            lines.append((cells, None))
        shown = rows_table(lines, self.console.width, live=True)
        fallen = sum(not row.expected for row in self.rows)
        totals = f"{len(self.rows)} of {self.claims} claims, {self.seconds:.0f} s"
        fell = f"{fallen} not as expected" if fallen else ""
        shown.caption = ", ".join(filter(None, (totals, self._left(), fell)))
        if not lines:
            shown.caption += ": importing"
        return shown


def rows_table(
    rows: Sequence[tuple[tuple[str, ...], Row | None]], width: int, *, live: bool
) -> Table:
    """Rows as a table of at most `width` characters, in fewer columns if they do not all fit.

    Args:
        rows: the cells of each, and the row; None for a claim that is running.
        live: whether an id that is too long is cut; else it is wrapped.
    """
    from rich.text import Text

    columns = zip(table.HEADINGS, *(cells for cells, _ in rows), strict=True)
    left = table.empty([cells for cells, _ in rows])
    widths = {column[0]: max(map(len, column)) for column in columns if column[0] not in left}
    needed = {name: max(widths[name], _USUAL.get(name, 0)) for name in widths} if live else widths
    ids = {"claim": min(needed["claim"], table.LEAST)}
    names = fitting(needed | ids, _SPARED if live else table.SPARED, width, 1)
    others = sum(1 + widths[name] for name in names[1:])
    shown = grid(gap=1, caption_justify="left")
    for name in names:
        shown.add_column(
            name,
            justify="left" if table.HEADINGS[name] == "<" else "right",
            overflow="ellipsis" if live else "fold",
            no_wrap=live or name != "claim",
            max_width=max(8, width - others) if name == "claim" else None,
            min_width=None if name == "claim" else widths[name],
        )
    for cells, row in rows:
        texts: dict[str, str | Text] = dict(zip(table.HEADINGS, cells, strict=True))
        if row is not None:
            texts["claim"] = Text(row.id, "" if row.expected else "bold")
            texts["verdict"] = Text(row.verdict, _style(row))
        shown.add_row(*(texts[name] for name in names), style="" if row else "dim")
    return shown


def _style(row: Row) -> str:
    words = VERDICTS[row.verdict]
    if row.expected:
        return words.style
    return "bold yellow" if words.open else "bold red"
