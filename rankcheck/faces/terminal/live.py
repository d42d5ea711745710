"""Watching a run of claims: those not as expected, then the table; or a line for each claim."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from rankcheck.claims.verdicts import VERDICTS
from rankcheck.engine.parallel import Done, Lost, Started
from rankcheck.engine.verification.ledger import Row
from rankcheck.engine.verification.run import Event
from rankcheck.faces.terminal import table
from rankcheck.faces.terminal.display import Display

if TYPE_CHECKING:
    from rich.text import Text


class Progress(Display):
    """Shows the claims of a run as they are verified, and keeps their rows.

    On a terminal the last line has the claims that are running, a row is printed at once if it is
    not as expected, and the table of all rows at the end.
    """

    def __init__(self, stream: TextIO, claims: int) -> None:
        super().__init__(stream)
        self.claims = claims
        self.rows: list[Row] = []
        self._running: dict[str, float] = {}
        self._begun = 0.0  # when the first claim began

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        if self.live:
            for line in styled(self.rows, self.console.width):
                self.console.print(line)

    def __call__(self, event: Event) -> None:
        """Take in what happens."""
        match event:
            case Started(entry):
                self._begun = self._begun or time.monotonic()
                self._running[entry.id] = time.monotonic()
            case Lost(text):
                self.say(text)
            case Done(entry, rows):
                self._running.pop(entry.id, None)
                self.claims += len(rows) - 1
                for row in rows:
                    self._finish(row)

    def _finish(self, row: Row) -> None:
        self.rows.append(row)
        if not (self.live and row.expected):
            number = f"[{len(self.rows):{len(str(self.claims))}}/{self.claims}]"
            self.say(f"{number} {table.sentence(row)}")
        self.tell(f"{len(self.rows)} of {self.claims} claims")

    def line(self) -> str:
        """How many are done, what is left, and which ones are running for how long.

        What is left is the time if the other claims take as long as those that are verified.
        """
        now, left = time.monotonic(), self.claims - len(self.rows)
        parts = [super().line()]
        verified = sum(row.verdict != "cited" for row in self.rows)
        if left and verified and self._begun:
            parts.append(f"about {left * (now - self._begun) / verified:.0f} s left")
        parts += [f"{id_} {now - since:.0f} s" for id_, since in list(self._running.items())]
        return "; ".join(parts)


def styled(rows: Iterable[Row], width: int) -> Iterator[Text]:
    """The table of some rows in lines of at most so many characters, with coloured verdicts."""
    from rich.text import Text

    ordered = sorted(rows, key=lambda row: row.id)
    heading, *lines = table.lines(ordered, width)
    yield Text(heading, "bold", no_wrap=True, overflow="ellipsis")
    for row, line in zip(ordered, lines, strict=True):
        text, words = Text(line), VERDICTS[row.verdict]
        style = words.style if row.expected else "bold yellow" if words.open else "bold red"
        text.highlight_regex(rf"(?<= ){re.escape(row.verdict)}(?= |$)", style)
        yield text
