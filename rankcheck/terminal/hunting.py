"""Watching a hunt: a live line on a terminal, lines now and then elsewhere; its end in words."""

from __future__ import annotations

import os
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from rankcheck.terminal.table import count

if TYPE_CHECKING:
    from rich.table import Table

    from rankcheck.hunt.run import Hunt, Progress

#: Seconds between two lines where there is no terminal.
PAUSE = 5.0
_STYLES = {
    "refuted": "bold red",
    "undecided": "bold yellow",
    "survived": "green",
    "gave_up": "yellow",
}


class Display:
    """A line every few seconds."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._said = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing is left on the screen that still moves."""

    def advance(self, progress: Progress) -> None:
        """Take in how a hunt stands."""
        if time.monotonic() - self._said >= PAUSE:
            self._said = time.monotonic()
            self.say("  " + ", ".join(f"{name} {value}" for name, value in cells(progress).items()))

    def say(self, text: str) -> None:
        """Print a text as it is."""
        print(text, file=self.stream, flush=True)


class LiveDisplay(Display):
    """A line that is drawn again and again, and goes away at the end."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__(stream)
        self._progress: Progress | None = None
        self._live = Live(
            console=Console(file=stream),
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

    def advance(self, progress: Progress) -> None:
        self._progress = progress

    def _render(self) -> Table:
        from rich.table import Table

        shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        if self._progress is None:
            shown.add_column("the first round")
            return shown
        found = cells(self._progress)
        for name in found:
            shown.add_column(name, justify="left" if name == "strategy" else "right")
        style = "" if self._progress.found is None else _STYLES[self._progress.found]
        shown.add_row(*found.values(), style=style)
        return shown


def display(stream: TextIO) -> Display:
    """A live line on a terminal that can redraw it, lines elsewhere."""
    redraws = stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
    return LiveDisplay(stream) if redraws else Display(stream)


def cells(progress: Progress) -> dict[str, str]:
    """How a hunt stands, by what it is called."""
    seconds = f"{progress.seconds:.0f}"
    if progress.budget is not None:
        seconds += f" of {progress.budget:g}"
    rate = progress.instances / max(progress.seconds, 1e-3)
    return {
        "seconds": seconds,
        "round": str(progress.round),
        "strategy": progress.strategy,
        "shapes": str(progress.shapes),
        "instances": count(progress.instances),
        "a second": count(round(rate)),
        "least margin": "" if progress.margin is None else f"{progress.margin:.3g}",
        "rounding": str(progress.rounding),
    } | ({} if progress.found is None else {"found": progress.found})


def sentence(found: Hunt) -> str:
    """How a hunt ended, in a line."""
    stages = ", ".join(f"{name} {spent:.2g} s" for name, spent in found.stages.items())
    by = "" if found.strategy is None else f" by {found.strategy}"
    return (
        f"{found.verdict}{by}  {found.claim.id}  ({found.seconds:.2f} s, "
        f"{count(found.instances)} instances, {count(found.rejected)} rejected, "
        f"{found.rounding} rounding, {found.shapes} shapes, {found.rounds} rounds; {stages})"
    )
