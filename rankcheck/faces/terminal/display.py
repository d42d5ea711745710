"""Watching a run: a last line that changes on a terminal, elsewhere a line every few seconds.

What is said stands above the last line. Where the stream is no terminal that can redraw, all lines
are plain.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from rankcheck.faces.terminal.plain import printable, readable, width_of, wrapped
from rankcheck.faces.terminal.table import count

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from rankcheck.decide.prove.result import Progress as Proving
    from rankcheck.engine.hunt.result import Progress as Hunting
    from rankcheck.sharpen.progress import Progress as Sharpening

#: Seconds between two lines where there is no terminal.
PAUSE = 5.0
#: Redraws a second.
_RATE = 8
_STANDINGS = {
    "false": "bold red",
    "sharp": "bold green",
    "loose": "bold yellow",
    "equal": "bold green",
    "open": "bold yellow",
}
#: Lines are not wrapped to fewer characters.
NARROW = 24


class Display:
    """Prints to a stream; while it is entered, shows the last line on a terminal.

    Attributes:
        live: whether the stream is a terminal that can redraw.
        doing: what is done, in the last line.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.live = redraws(stream)
        self.doing = "importing"
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
        """Remove the last line from the screen."""
        if self._drawn is not None:
            self._drawn.stop()
            self._drawn = None

    @property
    def seconds(self) -> float:
        """Seconds since the display was made."""
        return time.monotonic() - self._start

    @cached_property
    def console(self) -> Console:
        """A Rich console on the stream."""
        from rich.console import Console

        return Console(file=self.stream)

    def line(self) -> str:
        """The last line as it is now."""
        return f"{self.doing}, {self.seconds:.0f} s"

    def render(self) -> Text:
        """The last line, cut where the terminal ends."""
        from rich.text import Text

        text = Text(readable(self.line(), self.stream), style="bold")
        text.truncate(self.console.width, overflow="ellipsis")
        return text

    def tell(self, doing: str) -> None:
        """Change what is done; elsewhere it is printed if that was not done for a while.

        A stream may have a `pause` of its own, in seconds.
        """
        self.doing = doing
        if not self.live and time.monotonic() - self._said >= getattr(self.stream, "pause", PAUSE):
            self._said = time.monotonic()
            self.say(f"  {self.line()}")

    def say(self, text: str) -> None:
        """Print a `readable` text above the last line."""
        text = readable(text, self.stream)
        if self._drawn is not None:
            self.console.print(text, markup=False, emoji=False, highlight=False, soft_wrap=True)
        else:
            print(text, file=self.stream, flush=True)

    def result(self, lines: Sequence[str], style: str) -> None:
        """Print what is said of a claim; on a terminal in lines that fit, the first in a style."""
        from rich.text import Text

        width = max(width_of(self.stream), NARROW) if self.stream.isatty() else None
        for number, text in enumerate(lines):
            text = readable(text, self.stream)
            indent = " " * (len(text) - len(text.lstrip()) + 4)
            for line in [text] if width is None else wrapped(text, width, indent):
                if self.live and style and number == 0:
                    self.console.print(Text(line, style), soft_wrap=True)
                else:
                    self.say(line)


class HuntDisplay(Display):
    """Shows the state of a hunt: that after its latest shard."""

    state: Hunting | None = None

    def progress(self, state: Hunting) -> None:
        """Take in the state of the hunt after a shard; the first violation is said at once."""
        known, self.state = self.state, state
        if state.best is not None and (known is None or known.best is None):
            shard, finding = state.best
            sure = "proved" if finding.proved else "neither proved nor excluded"
            choices = json.dumps(finding.choices)
            self.say(
                f"  {shard.strategy} found a violation ({sure}): {shard.shape.family} {choices}"
            )
        found = "" if state.found is None else f"{state.found}, "
        margin = "" if state.margin is None else f", least margin {state.margin:.3g}"
        self.tell(
            f"{found}round {state.round} ({state.strategy}), {state.shapes} shapes, "
            f"{count(state.counts.evaluated)} instances{margin}"
        )


class ProveDisplay(Display):
    """Shows how far a proof is: what is done before a shape."""

    def progress(self, state: Proving) -> None:
        """Take in the state before a shape."""
        done = f"{state.done} of {state.shapes} shapes, {state.proved} proved"
        self.tell(f"{done}; now {state.doing}")


class SharpenDisplay(Display):
    """Shows the state of a sharpening: that after the latest batch."""

    state: Sharpening | None = None

    def progress(self, state: Sharpening) -> None:
        """Take in the state after a batch."""
        self.state = state
        ratios = [f"{name}: {ratio}" for name, ratio in self._best.items()]
        tried = f"{count(state.shapes)} shapes, {count(state.instances)} instances"
        self.tell(", ".join([*(ratios or ["nothing yet"]), tried, *filter(None, [state.doing])]))

    def so_far(self) -> None:
        """Say what is certified by now, where a search ends without a result."""
        for name, ratio in self._best.items():
            self.say(f"  {name}: {ratio} was reached, certified")

    def answer(self, data: Mapping[str, Any]) -> None:
        """Print what is said of a sharpening, from its JSON."""
        from rankcheck.sharpen.words import paragraphs

        for paragraph in paragraphs(data):
            self.result(paragraph.lines, _STANDINGS.get(paragraph.standing or "", ""))

    @property
    def _best(self) -> dict[str, str]:
        """The largest certified ratio of each relation that has one."""
        from rankcheck.sharpen.sentences import shown

        best = {} if self.state is None else self.state.best
        return {printable(name): shown(ratio) for name, ratio in best.items() if ratio is not None}


def hunt_sentence(hunt: Mapping[str, Any]) -> str:
    """The result of a hunt, as JSON, in a line."""
    stages = ", ".join(f"{name} {spent:.2g} s" for name, spent in hunt["stages"].items())
    rounds = f"{hunt['rounds']} rounds" + (f"; {stages}" if stages else "")
    by = "" if hunt["strategy"] is None else f" by {hunt['strategy']}"
    counts = hunt["counts"]
    return (
        f"{hunt['verdict']}{by}  {hunt['claim']}  ({hunt['seconds']:.2f} s, "
        f"{count(counts['evaluated'])} instances, {count(counts['rejected'])} rejected, "
        f"{counts['rounding']} rounding, {hunt['shapes']} shapes, {rounds})"
    )


def redraws(stream: TextIO) -> bool:
    """Whether a stream is a terminal on which lines can be drawn again."""
    return stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
