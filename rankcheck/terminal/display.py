"""What all displays share: lines that are printed, and a live part where it can be drawn.

A subclass says what the live part looks like (`render`). Where the stream is no terminal that can
redraw, nothing is live, and `now_and_then` prints a line every few seconds instead.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from rankcheck.terminal.plain import readable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.table import Table

__all__ = ["PAUSE", "Display", "grid", "redraws"]

#: Seconds between two lines where there is no terminal.
PAUSE = 5.0
#: Redraws a second.
_RATE = 8


class Display:
    """Prints to a stream; while it is entered, shows the live part on a terminal.

    Attributes:
        live: whether the stream is a terminal that can redraw.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.live = redraws(stream)
        self._drawn: Live | None = None
        self._start = self._said = time.monotonic()

    def __enter__(self) -> Self:
        if self.live:
            from rich.live import Live

            self._drawn = Live(
                console=self.console,
                get_renderable=self.render,
                refresh_per_second=_RATE,
                transient=True,
            )
            self._drawn.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the live part and remove it from the screen."""
        if self._drawn is not None:
            self._drawn.stop()
            self._drawn = None

    @property
    def pause(self) -> float:
        """Seconds between two lines where nothing is live; a stream may have its own."""
        own: float | None = getattr(self.stream, "pause", None)
        return PAUSE if own is None else own

    @property
    def seconds(self) -> float:
        """Seconds since the display was made."""
        return time.monotonic() - self._start

    @cached_property
    def console(self) -> Console:
        """A Rich console on the stream."""
        from rich.console import Console

        return Console(file=self.stream)

    def render(self) -> RenderableType:
        """The live part as it is now."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """Print a `readable` text above the live part."""
        text = readable(text, self.stream)
        if self._drawn is not None:
            self.console.print(text, markup=False, emoji=False, highlight=False, soft_wrap=True)
        else:
            print(text, file=self.stream, flush=True)

    def now_and_then(self, line: Callable[[], str]) -> None:
        """Print a line if there is no live part and the last such line is `pause` seconds ago."""
        if not self.live and time.monotonic() - self._said >= self.pause:
            self._said = time.monotonic()
            self.say(line())


def grid(gap: int = 2, **options: Any) -> Table:
    """An empty table of columns without rules between them, so many characters apart."""
    from rich.table import Table

    return Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold", **options)


def redraws(stream: TextIO) -> bool:
    """Whether a stream is a terminal on which lines can be drawn again."""
    return stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
