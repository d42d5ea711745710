"""Watching a sharpening: the best certified ratios so far, and its result in lines that fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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

__all__ = ["SharpenDisplay", "cells"]

#: The columns that a narrow terminal does without, the first one first.
_SPARED = ("shapes", "instances", "seconds")
#: The least width of the name of a relation, which is cut.
_NAME = 12
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

    def result(self, data: Mapping[str, Any]) -> None:
        """Print what is said of a sharpening, from its JSON; on a terminal in lines that fit."""
        for paragraph in paragraphs(data):
            head, *lines = paragraph.lines
            style = "" if paragraph.standing is None else _STYLES[paragraph.standing]
            for text, as_ in ((head, style), *((line, "") for line in lines)):
                for line in self._fitting(text):
                    self._print(line, as_ if self.live else "")

    def _fitting(self, text: str) -> Iterator[str]:
        """The lines of a line: as it is in a file or a pipe, wrapped on a terminal."""
        text = readable(text, self.stream)
        if not self.stream.isatty():
            yield text
            return
        indent = " " * (len(text) - len(text.lstrip()) + 4)
        yield from wrapped(text, max(width_of(self.stream), 24), indent)

    def _print(self, line: str, style: str) -> None:
        """Print a line that fits, in a style where there is one."""
        if not style:
            self.say(line)
            return
        from rich.text import Text

        self.console.print(Text(printable(line), style), soft_wrap=True)


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
