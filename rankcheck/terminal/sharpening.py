"""Watching a sharpening: the best certified ratios so far, and its result in lines that fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from rankcheck.sharpen.sentences import Standing, shown
from rankcheck.sharpen.words import paragraphs
from rankcheck.terminal.display import Display, grid
from rankcheck.terminal.plain import fitting, printable, readable, width_of, wrapped
from rankcheck.terminal.table import count

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from rankcheck.sharpen.progress import Progress

__all__ = ["SharpenDisplay", "cells", "lines"]

#: The columns that a narrow terminal does without, the first one first.
_SPARED = ("shapes", "instances", "seconds")
#: The least width of the name of a relation, which is cut.
_NAME = 12
#: Lines are not wrapped to fewer characters.
NARROW = 24
_STYLES: Mapping[Standing, str] = {
    "false": "bold red",
    "sharp": "bold green",
    "loose": "bold yellow",
    "equal": "bold green",
    "open": "bold yellow",
}


class SharpenDisplay(Display):
    """Shows the state of a sharpening, and its result."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        #: The state after the latest batch.
        self.state: Progress | None = None
        #: What is done before there is a state to show.
        self.doing = "importing"

    def progress(self, state: Progress) -> None:
        """Take in the state after a batch."""
        self.state = state
        self.now_and_then(lambda: _line(state))

    def render(self) -> Table | Text:
        """The cells of the state, and a line for each relation, as many as fit."""
        from rich.text import Text

        state = self.state
        if state is None:
            return Text(f"{self.doing}, {self.seconds:.0f} s", style="bold")
        best = _best(state)
        run, room = cells(state), max(self.console.height - 3, 1)
        ratios, names = list(best.values())[:room], list(best)[:room]
        columns = {name: [cell] for name, cell in run.items()}
        columns["largest so far"] = ratios
        if len(best) > 1:
            columns["relation"] = names
        widths = {name: max(map(len, [name, *some])) for name, some in columns.items()}
        if "relation" in widths:
            widths["relation"] = min(widths["relation"], _NAME)
        table = grid(caption=state.doing, caption_justify="left")
        chosen = fitting(widths, _SPARED, self.console.width, 2)
        for name in chosen:
            left = name in ("relation", "largest so far")
            table.add_column(
                name,
                justify="left" if left else "right",
                no_wrap=True,
                overflow="ellipsis",
                min_width=None if name == "relation" else widths[name],
            )
        for row in range(max(len(ratios), 1)):
            table.add_row(*(Text(_at(columns[name], row)) for name in chosen))
        return table

    def so_far(self) -> None:
        """Say what is certified by now, where a search ends without a result."""
        best = {} if self.state is None else self.state.best
        for name, ratio in best.items():
            if ratio is not None:
                self.say(f"  {name}: {shown(ratio)} was reached, certified")

    def result(self, data: Mapping[str, Any]) -> None:
        """Print what is said of a sharpening, from its JSON; on a terminal in lines that fit."""
        from rich.text import Text

        width = width_of(self.stream) if self.stream.isatty() else None
        for line, style in lines(data, width, partial(readable, stream=self.stream)):
            if self.live and style:
                self.console.print(Text(line, style), soft_wrap=True)
            else:
                self.say(line)


def lines(
    data: Mapping[str, Any],
    width: int | None = None,
    readable: Callable[[str], str] = printable,
) -> Iterator[tuple[str, str]]:
    """The lines of what is said of a sharpening, each with its style.

    Args:
        data: its JSON.
        width: of a line, in characters, at least `NARROW`; None for lines of any length.
        readable: how a text with formulas is written.
    """
    for paragraph in paragraphs(data):
        style = "" if paragraph.standing is None else _STYLES[paragraph.standing]
        for number, text in enumerate(map(readable, paragraph.lines)):
            indent = " " * (len(text) - len(text.lstrip()) + 4)
            fitting = [text] if width is None else wrapped(text, max(width, NARROW), indent)
            yield from ((line, "" if number else style) for line in fitting)


def cells(state: Progress) -> dict[str, str]:
    """What was spent and tried, each number by its name."""
    return {
        "seconds": f"{state.seconds:.0f}" + (f" of {state.budget:g}" if state.budget else ""),
        "shapes": count(state.shapes),
        "instances": count(state.instances),
    }


def _best(state: Progress) -> dict[str, str]:
    """The largest certified ratio of each relation, as text."""
    return {
        printable(name): "nothing yet" if ratio is None else shown(ratio)
        for name, ratio in state.best.items()
    }


def _line(state: Progress) -> str:
    """The state as a line, where nothing is drawn again."""
    best = _best(state)
    parts = [f"{name} {cell}" for name, cell in cells(state).items()]
    parts += [f"{name if len(best) > 1 else 'largest'}: {each}" for name, each in best.items()]
    return "  " + ", ".join([*parts, *([state.doing] if state.doing else [])])


def _at(column: list[str], row: int) -> str:
    return column[row] if row < len(column) else ""
