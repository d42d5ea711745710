"""Watching a hunt: a live line on a terminal, elsewhere a line every few seconds; its result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

from rankcheck.terminal.display import Display, grid
from rankcheck.terminal.plain import fitting
from rankcheck.terminal.table import count

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from rankcheck.hunt.result import Progress

__all__ = ["HuntDisplay", "cells", "sentence"]

#: The columns that a narrow terminal does without, the first one first.
_SPARED = ("rounding", "shapes", "round", "a second", "strategy")
_STYLES = {"refuted": "bold red", "undecided": "bold yellow"}


class HuntDisplay(Display):
    """Shows the state of a hunt."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        #: The state of the hunt after its latest shard.
        self.state: Progress | None = None
        #: What is done before there is a state to show.
        self.doing = "the first round"

    def progress(self, state: Progress) -> None:
        """Take in the state of the hunt after a shard; the first violation is said at once."""
        known, self.state = self.state, state
        if state.best is not None and (known is None or known.best is None):
            shard, finding = state.best
            sure = "proved" if finding.proved else "neither proved nor excluded"
            choices = json.dumps(finding.choices)
            self.say(
                f"  {shard.strategy} found a violation ({sure}): {shard.shape.family} {choices}"
            )
        self.now_and_then(
            lambda: "  " + ", ".join(f"{name} {value}" for name, value in cells(state).items())
        )

    def render(self) -> Table | Text:
        """The cells of the state under their names, as many as fit."""
        from rich.text import Text

        if self.state is None:
            return Text(f"{self.doing}, {self.seconds:.0f} s", style="bold")
        shown = grid()
        columns = cells(self.state)
        widths = {name: max(len(name), len(value)) for name, value in columns.items()}
        names = fitting(widths, _SPARED, self.console.width, 2)
        for name in names:
            left = name == "strategy"
            shown.add_column(name, justify="left" if left else "right", no_wrap=True)
        style = "" if self.state.found is None else _STYLES[self.state.found]
        shown.add_row(*(columns[name] for name in names), style=style)
        return shown


def cells(state: Progress) -> dict[str, str]:
    """The state of a hunt, each number by its name."""
    seconds = f"{state.seconds:.0f}"
    if state.budget is not None:
        seconds += f" of {state.budget:g}"
    rate = state.counts.evaluated / max(state.seconds, 1e-3)
    return {
        "seconds": seconds,
        "round": str(state.round),
        "strategy": state.strategy,
        "shapes": str(state.shapes),
        "instances": count(state.counts.evaluated),
        "a second": count(round(rate)),
        "least margin": "" if state.margin is None else f"{state.margin:.3g}",
        "rounding": str(state.counts.rounding),
    } | ({} if state.found is None else {"found": state.found})


def sentence(hunt: Mapping[str, Any]) -> str:
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
