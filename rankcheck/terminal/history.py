"""Audits over time as text: a table of checkpoints, and two of them compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from rankcheck.audit.history.figures import FIGURES
from rankcheck.audit.history.result import Checkpoint, Comparison, History, Skipped
from rankcheck.terminal.figures import number, shortened
from rankcheck.terminal.plain import WIDTH, fitting, printable, wrapped

__all__ = ["Rows", "beginning", "brief", "closing", "lines", "skipped"]

#: The longest name in the table of checkpoints, and of layers.
NAME = 20
#: The columns of the checkpoints with their widths, and those that a narrow terminal does without.
_COLUMNS: Mapping[str, int] = {
    "cost": 8,
    "cost_per_layer": 8,
    "rank": 5,
    "undecided": 7,
    "excess": 8,
    "saved": 7,
    "s_1": 8,
    "s_2": 8,
    "index_rank": 5,
    "dead": 5,
}
_SPARED = ("dead", "index_rank", "s_2", "saved", "excess", "undecided", "s_1", "cost_per_layer")
#: So many layers are listed of a comparison.
LAYERS = 12


class Rows:
    """The table of a history, whose rows are written as they come.

    Args:
        first: a checkpoint, which tells what there are figures of.
        width: of a line, in characters.
    """

    def __init__(self, first: Checkpoint, width: int = WIDTH) -> None:
        there = {name: size for name, size in _COLUMNS.items() if first[name] is not None}
        width = min(max(width, 40), WIDTH)
        self._shown = fitting({"name": NAME, **there}, _SPARED, width, 1)[1:]

    @property
    def head(self) -> str:
        """The names of the columns."""
        return self._line("", [FIGURES[name].short for name in self._shown])

    def row(self, one: Checkpoint) -> str:
        """The figures of a checkpoint."""
        cells = [one.text(name, number) for name in self._shown]
        return self._line(_named(one.name), cells)

    def _line(self, name: str, cells: Sequence[str]) -> str:
        sized = zip(cells, (_COLUMNS[one] for one in self._shown), strict=True)
        return " ".join([f"{name:{NAME}}", *(f"{cell:>{size}}" for cell, size in sized)]).rstrip()


def beginning(headline: str, width: int = WIDTH) -> list[str]:
    """What comes before the table: what has to be known before anything else."""
    return [*wrapped(headline, min(max(width, 40), WIDTH)), ""]


def skipped(one: Skipped, width: int = WIDTH) -> list[str]:
    """That a file is left out, and why."""
    return wrapped(f"skipped {one.name}: {one.reason}", min(max(width, 40), WIDTH))


def closing(history: History, width: int = WIDTH) -> list[str]:
    """What was read, in which order, and what is to be seen."""
    width = min(max(width, 40), WIDTH)
    number = len(history.checkpoints)
    said = f"{history.name}: {number} checkpoint{'' if number == 1 else 's'}"
    if number > 1 and history.said:
        said += f", {history.said}"
    if number:
        last = history.checkpoints[-1]
        said += f"; {last.source}, {last.kind}"
        if last.points is not None:
            said += f"; {last.points} point{'' if last.points == 1 else 's'}"
    block = wrapped(said, width)
    if _undecided(history.checkpoints):
        block += wrapped("? the gap does not separate this rank: it is undecided", width)
    if history.left:
        names = ", ".join(history.left[:4]) + (", …" if len(history.left) > 4 else "")
        block += wrapped(f"not read: {names}", width)
    for sentence in history.words:
        block += wrapped(f"* {sentence}", width)
    return block


def lines(found: History | Comparison, *, width: int = WIDTH) -> list[str]:
    """The lines of a history or a comparison.

    Args:
        width: of a line, in characters; at least 40, and at most `WIDTH`.
    """
    width = min(max(width, 40), WIDTH)
    block = [] if found.headline is None else beginning(found.headline, width)
    if isinstance(found, Comparison):
        return block + _comparison(found, width)
    if found.checkpoints:
        rows = Rows(found.checkpoints[-1], width)
        block += [rows.head, *map(rows.row, found.checkpoints)]
    for one in found.skipped:
        block += skipped(one, width)
    return [*block, *closing(found, width)]


def brief(found: History | Comparison, most: int) -> list[str]:
    """What of `lines` fits: of a history its last rows and what follows."""
    whole = lines(found)
    if len(whole) <= most:
        return whole
    more = "print() shows all of it"
    if isinstance(found, Comparison):
        return [*whole[: most - 1], more]
    head = [] if found.headline is None else [found.headline]
    tail = closing(found)[: most - 4 - len(head)]
    rows = Rows(found.checkpoints[-1]) if found.checkpoints else None
    table = [] if rows is None else [rows.head, *map(rows.row, found.checkpoints)]
    room = most - 1 - len(head) - len(tail)
    if len(table) > room:
        table = [table[0], "…", *table[len(table) - room + 2 :]] if room > 2 else table[:room]
    return [*head, *table, *tail, more]


def _comparison(found: Comparison, width: int) -> list[str]:
    """The two networks, their figures, how far the functions differ, and the layers."""
    old, new = found.old, found.new
    ends = [f"{one.source}, {one.kind}" for one in (old, new)]
    block = wrapped(f"old: {old.name}, {ends[0]}", width)
    block += wrapped(f"new: {new.name}, {ends[1]}", width)
    table: list[Sequence[str]] = [("", "old", "new", "change")]
    for one in found.changes:
        table.append(
            (
                one.title,
                old.text(one.name, number),
                new.text(one.name, number),
                FIGURES[one.name].change(one.old, one.new, partial(number, digits=3)),
            )
        )
    block += ["", *_aligned(table, width)]
    if _undecided((old, new)):
        block += wrapped("? the gap does not separate this rank: it is undecided", width)
    apart = found.difference
    if apart is not None:
        relative = "" if apart.relative is None else f", {apart.relative:.2g} of the largest output"
        mean = "" if apart.mean is None else f"; in mean square by {apart.mean:.2g}"
        block += ["", *wrapped(
            f"on {apart.points} points the functions differ by at most {number(apart.largest)}"
            f"{relative} (at point {apart.point}){mean}",
            width,
        )]  # fmt: skip
        if apart.decisions is not None:
            block += wrapped(
                f"the largest output is another one at {apart.decisions} of {apart.points} points",
                width,
            )
    if found.moved:
        rows: list[Sequence[str]] = [("layer", "moved", "‖θ‖² old", "new")]
        for layer in found.moved[:LAYERS]:
            moved = "" if layer.distance is None else f"{layer.distance:.3g}"
            rows.append((layer.layer, moved, number(layer.old), number(layer.new)))
        block += ["", *wrapped("what moved most, relative to the old parameters", width)]
        block += _aligned(rows, width)
        if len(found.moved) > LAYERS:
            block += [f"and {len(found.moved) - LAYERS} layers that moved less"]
    for note in found.notes:
        block += wrapped(f"* {note}", width)
    return block


def _undecided(many: Sequence[Checkpoint]) -> bool:
    return any("?" in text for one in many for text in one.ranks.values())


def _aligned(table: Sequence[Sequence[str]], width: int) -> list[str]:
    """Columns whose first one is on the left and shortened where the line is too long."""
    sizes = [max(map(len, column)) for column in zip(*table, strict=True)]
    sizes[0] = min(sizes[0], max(8, width - sum(sizes[1:]) - 2 * len(sizes[1:])))
    return [
        "  ".join(
            [f"{_named(row[0], sizes[0]):{sizes[0]}}"]
            + [f"{cell:>{size}}" for cell, size in zip(row[1:], sizes[1:], strict=True)]
        ).rstrip()
        for row in table
    ]


def _named(name: str, most: int = NAME) -> str:
    return shortened(printable(" ".join(name.split())), most)
