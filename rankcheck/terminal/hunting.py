"""Watching a hunt: a live line on a terminal, elsewhere a line every few seconds; its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from rankcheck.terminal.display import Display
from rankcheck.terminal.table import count

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from rankcheck.hunt.apart import Report
    from rankcheck.hunt.result import Progress

__all__ = ["HuntDisplay", "cells", "sentence"]

#: The columns that a narrow terminal does without, the first one first.
_SPARED = ("rounding", "shapes", "round", "a second", "strategy")
_STYLES = {"refuted": "bold red", "undecided": "bold yellow"}


class HuntDisplay(Display):
    """Shows the state of a hunt."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._progress: Progress | None = None
        #: What is done before there is a state to show.
        self.doing = "the first round"

    def advance(self, progress: Progress) -> None:
        """Take in the state of the hunt after a shard."""
        self._progress = progress
        self.now_and_then(
            lambda: "  " + ", ".join(f"{name} {value}" for name, value in cells(progress).items())
        )

    def render(self) -> Table | Text:
        """The cells of the state under their names, as many as fit."""
        from rich.table import Table
        from rich.text import Text

        if self._progress is None:
            return Text(f"{self.doing}, {self.seconds:.0f} s", style="bold")
        shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        found = cells(self._progress)
        for name in _SPARED:
            if sum(2 + max(len(name), len(value)) for name, value in found.items()) - 2 <= (
                self.console.width
            ):
                break
            del found[name]
        for name in found:
            left = name == "strategy"
            shown.add_column(name, justify="left" if left else "right", no_wrap=True)
        style = "" if self._progress.found is None else _STYLES[self._progress.found]
        shown.add_row(*found.values(), style=style)
        return shown


def cells(progress: Progress) -> dict[str, str]:
    """The state of a hunt, each number by its name."""
    seconds = f"{progress.seconds:.0f}"
    if progress.budget is not None:
        seconds += f" of {progress.budget:g}"
    rate = progress.counts.evaluated / max(progress.seconds, 1e-3)
    return {
        "seconds": seconds,
        "round": str(progress.round),
        "strategy": progress.strategy,
        "shapes": str(progress.shapes),
        "instances": count(progress.counts.evaluated),
        "a second": count(round(rate)),
        "least margin": "" if progress.margin is None else f"{progress.margin:.3g}",
        "rounding": str(progress.counts.rounding),
    } | ({} if progress.found is None else {"found": progress.found})


def sentence(found: Report) -> str:
    """The result of a hunt in a line."""
    stages = ", ".join(f"{name} {spent:.2g} s" for name, spent in found.stages.items())
    rounds = f"{found.rounds} rounds" + (f"; {stages}" if stages else "")
    by = "" if found.strategy is None else f" by {found.strategy}"
    counts = found.counts
    return (
        f"{found.verdict}{by}  {found.id}  ({found.seconds:.2f} s, "
        f"{count(counts.evaluated)} instances, {count(counts.rejected)} rejected, "
        f"{counts.rounding} rounding, {found.shapes} shapes, {rounds})"
    )
