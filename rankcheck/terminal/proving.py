"""Watching a proof: which shape is tried, how many are proved; and its result in lines that fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from rankcheck.terminal.display import Display
from rankcheck.terminal.plain import readable, width_of, wrapped

if TYPE_CHECKING:
    from rich.text import Text

    from rankcheck.prove.result import Progress

__all__ = ["ProveDisplay", "state_line"]

#: Lines are not wrapped to fewer characters.
NARROW = 24


class ProveDisplay(Display):
    """Shows how far a proof is, and its result."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        #: The state before the latest shape.
        self.state: Progress | None = None
        self._told = 0.0  # when that was

    def progress(self, state: Progress) -> None:
        """Take in the state before a shape."""
        self.state = state
        self._told = self.seconds
        self.now_and_then(lambda: f"  {state_line(state)}")

    def render(self) -> Text:
        """One line, cut where the terminal ends."""
        from rich.text import Text

        state = self.state
        if state is None:
            line = f"importing, {self.seconds:.0f} s"
        else:
            since = self.seconds - self._told
            line = state_line(replace(state, seconds=state.seconds + since))
        text = Text(readable(line, self.stream), style="bold")
        text.truncate(self.console.width, overflow="ellipsis")
        return text

    def result(self, message: str, *, proved: bool) -> None:
        """Print what is said of a claim; on a terminal in lines that fit."""
        from rich.text import Text

        width = max(width_of(self.stream), NARROW) if self.stream.isatty() else None
        style = "bold green" if proved else "bold yellow"
        for number, text in enumerate(message.splitlines()):
            text = readable(text, self.stream)
            indent = " " * (len(text) - len(text.lstrip()) + 4)
            for line in [text] if width is None else wrapped(text, width, indent):
                if self.live and number == 0:
                    self.console.print(Text(line, style), soft_wrap=True)
                else:
                    self.say(line)


def state_line(state: Progress) -> str:
    """The state on one line."""
    return (
        f"{state.seconds:.0f} of {state.budget:g} s, {state.done} of {state.shapes} shapes, "
        f"{state.proved} proved; now {state.doing}"
    )
