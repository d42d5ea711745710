"""Watching an experiment, and its result beside the document's."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TextIO

from rankcheck.experiments.base import RECORDED_SCALE, Experiment, Finding, Part
from rankcheck.experiments.pages import Page, page
from rankcheck.experiments.result import Result
from rankcheck.terminal.display import Display, grid
from rankcheck.terminal.plain import WIDTH, printable, wrapped

if TYPE_CHECKING:
    from rich.console import Group

__all__ = ["ExperimentDisplay", "duration", "index", "lines"]

#: The longest name of a part in the live table, and the least width at which it has words.
_NAME, _WIDE = 30, 55
#: Parts that a line of progress names.
_NAMED = 3
_HEADINGS = ("quantity", "printed", "here", "agrees")
_AGREES = {True: "yes", False: "NO", None: "-"}


class ExperimentDisplay(Display):
    """Shows the parts of an experiment: on a terminal a table, elsewhere a line for each."""

    def __init__(self, stream: TextIO, parts: Sequence[Part]) -> None:
        super().__init__(stream)
        self._parts = {part.name: (0.0, "") for part in parts}
        self._since: dict[str, float] = {}
        self._seconds: dict[str, float] = {}
        self.done: list[str] = []

    def progress(self, name: str, share: float, words: str) -> None:
        """Take in how far a part is; it is finished where the share is 1."""
        self._parts[name] = (share, words)
        began = self._since.setdefault(name, self.seconds)
        if share < 1:
            self.now_and_then(self._line)
        elif name not in self.done:
            self.done.append(name)
            self._seconds[name] = self.seconds - began
            if not self.live:
                total = len(self._parts)
                number = f"[{len(self.done):{len(str(total))}}/{total}]"
                self.say(f"{number} {name}: {words}" + self._took(name, " in "))

    def render(self) -> Group:
        """The parts that run, as many finished ones as fit, and the totals."""
        from rich.console import Group
        from rich.text import Text

        room = max(2, self.console.height - 4)
        running = self._running[:room]
        before = self.done[-(room - len(running)) :] if len(running) < room else []
        words_fit = self.console.width >= _WIDE
        shown = grid()
        size = min(_NAME, self.console.width - 14, max(4, *map(len, self._parts)))
        shown.add_column("part", no_wrap=True, overflow="ellipsis", width=size)
        shown.add_column("done", justify="right", no_wrap=True, width=4)
        if words_fit:
            left = self.console.width - size - 16
            shown.add_column("", no_wrap=True, overflow="ellipsis", max_width=left)
        shown.add_column("sec", justify="right", no_wrap=True, width=4)
        for name in (*before, *running):
            share, words = self._parts[name]
            cells = [name, f"{share:.0%}", *[printable(words)] * words_fit, self._took(name)]
            shown.add_row(*cells, style="" if share < 1 else "green")
        totals = f"{self._totals()}, {self.seconds:.0f} s"
        if not shown.rows:
            return Group(Text(f"{totals}: importing", style="bold", no_wrap=True))
        return Group(shown, Text(totals, style="bold", no_wrap=True, overflow="ellipsis"))

    @property
    def _running(self) -> list[str]:
        return [name for name in self._parts if name in self._since and name not in self.done]

    def _totals(self) -> str:
        share = sum(share for share, _ in self._parts.values()) / max(1, len(self._parts))
        return f"{len(self.done)} of {len(self._parts)} parts, {share:.0%}"

    def _took(self, name: str, text: str = "") -> str:
        """The seconds of a part; empty for one that was finished before."""
        if name not in self._seconds:
            return f"{text}{self.seconds - self._since[name]:.0f}"
        seconds = self._seconds[name]
        return f"{text}{seconds:.1f}{' s' * bool(text)}" if seconds >= 0.05 else ""

    def _line(self) -> str:
        running = [
            f"{name} {self._parts[name][0]:.0%}"
            + (f" ({self._parts[name][1]})" if self._parts[name][1] else "")
            for name in self._running
        ]
        more = f"; {len(running) - _NAMED} more" if len(running) > _NAMED else ""
        return f"  {self._totals()}: {'; '.join(running[:_NAMED])}{more}"


def lines(
    made: Experiment,
    result: Result,
    findings: Sequence[Finding],
    *,
    width: int = WIDTH,
    written: Callable[[str], str] = printable,
) -> list[str]:
    """The result as lines: what it is of, the differences, the quantities beside the printed ones.

    The title, the question and the differences of its page speak of the recorded scale, the title
    of the recorded result; elsewhere they are left out. What is found comes last.

    Args:
        width: of a line, in characters; at least 30, and at most `WIDTH`.
        written: how a text with formulas is written.
    """
    width = min(max(width, 30), WIDTH)
    as_recorded = result.scale == RECORDED_SCALE
    prose = page(made.name) if as_recorded else Page()
    same = as_recorded and result.seed == made.pilots
    paragraphs = [
        f"{made.name}: {written(made.title if same else made.place)}",
        *[written(made.place)] * same,
        f"scale {result.scale}, seed {result.seed}, {result.device}: {len(result.runs)} networks, "
        f"{duration(result.seconds)} of processor time, {result.made}",
    ]
    if result.seed < made.pilots:
        paragraphs.append(
            f"seed {result.seed} is a pilot: settings and thresholds were fixed on its runs, and "
            "no claim is tested on them"
        )
    block = [line for text in paragraphs for line in wrapped(text, width)]
    if prose.question:
        question = " ".join(prose.question.strip().split("\n\n")[0].split())
        block += ["", *wrapped(written(question), width, "")]
    if prose.differences:
        block += ["", *wrapped("differences from the document's experiment:", width)]
        for one in prose.differences.strip().splitlines():
            block += wrapped(written(one), width)
    if findings:
        block += ["", *_findings(findings, width, written, compared=result.scale != "tiny")]
    if result.scale == "tiny":
        text = "scale tiny shows that everything runs; it trains too little to agree with anything"
        block += ["", *wrapped(text, width)]
    block += ["", *wrapped(result.theorems, width)]
    for run in result.runs:
        if run.audit is not None and run.audit.failing:
            block += wrapped(
                f"A THEOREM FAILS: {', '.join(run.audit.failing)} on the network of part "
                f"{run.part}, seed {run.seed}; theorems are proved, so this is a bug of rankcheck "
                "or a statement that it misread",
                width,
            )
    return block


def index(
    entries: Sequence[tuple[Experiment, dict[str, str]]],
    *,
    width: int = WIDTH,
    written: Callable[[str], str] = printable,
) -> list[str]:
    """The experiments as lines: name, title, place, and by scale what it costs."""
    width = min(max(width, 30), WIDTH)
    block: list[str] = []
    for made, costs in entries:
        block += wrapped(f"{made.name}: {written(made.title)}", width, "    ")
        block += wrapped(f"    {written(made.place)}", width, "    ")
        for scale, cost in costs.items():
            block += wrapped(f"    {scale:6} {cost}", width, " " * 11)
    return block


def duration(seconds: float) -> str:
    """Seconds as a few characters.

    >>> duration(4.21), duration(250), duration(9000)
    ('4.2 s', '4 min 10 s', '2 h 30 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def _findings(
    findings: Sequence[Finding], width: int, written: Callable[[str], str], *, compared: bool
) -> list[str]:
    """The quantities beside the printed ones, in columns.

    Args:
        compared: whether it is said which of them agree.
    """
    from rich.console import Console
    from rich.text import Text

    table = grid()
    for heading in _HEADINGS[: None if compared else -1]:
        table.add_column(heading, overflow="fold")
    for each in findings:
        texts = (written(each.quantity), written(each.printed), written(each.ours))
        cells = [*map(printable, texts), *[_AGREES[each.agrees]] * compared]
        table.add_row(*map(Text, cells))
    console = Console(width=width, file=io.StringIO(), color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(table)
    return [line.rstrip() for line in captured.get().splitlines()]
