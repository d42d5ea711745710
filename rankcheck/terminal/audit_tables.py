"""The tables of an audit: its layers, and of a network with blocks these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankcheck.terminal.figures import number, shortened
from rankcheck.terminal.plain import fitting, printable, wrapped

if TYPE_CHECKING:
    from rankcheck.audit.part_facts import BlockFacts, LayerFacts, Quantiles
    from rankcheck.audit.result import Audit

__all__ = ["blocks", "layers"]

#: The longest name in a table; a longer one loses its middle.
NAME = 24
#: How a row of a table is written: the columns with their cells. One without cells is left out.
_Columns = Mapping[str, Callable[[Any], str]]


def layers(audit: Audit, width: int) -> list[str]:
    """The table of the layers."""
    columns = {n: cell for n, cell in _LAYERS.items() if n != "dist²" or audit.model.is_chain}
    block = _table(columns, audit.layers, _SPARED_OF_LAYERS, width)
    block += _marks([layer.rank_text for layer in audit.layers], width)
    if any(layer.copies > 1 for layer in audit.layers):
        block += wrapped("rows: the layer acts on each alike, and is given for one", width)
    return block


def blocks(audit: Audit, width: int) -> list[str]:
    """The table of the blocks, and what is claimed of them."""
    from rankcheck.audit.claimed import claimed

    block = wrapped("blocks: what lies between the places that every path passes", width)
    block += _table(_BLOCKS, audit.blocks, _SPARED_OF_BLOCKS, width)
    if any(each.points for each in audit.blocks):
        figures = "rank, gap and s_1: of the Jacobian of a block at its inputs, the median"
        if any(each.branch for each in audit.blocks):
            figures += "; branch: s_1 of what is added to its input, against 1 of an identity"
        block += wrapped(figures, width)
    if any(each.rowwise for each in audit.blocks):
        block += wrapped("a row: the block acts on every row alike, and is given for one", width)
    block += [*_marks([each.rank_text for each in audit.blocks], width), ""]
    for said in claimed(audit.blocks):
        block += wrapped(f"{said.verdict} of {_names(said.blocks)}: {said.sentence}", width)
    return block


def _marks(ranks: Sequence[str], width: int) -> list[str]:
    """What is meant by the marks of some ranks."""
    marks = {
        "?": "? the next singular value is close: this rank is undecided",
        "≥": "≥ the largest singular values alone were taken, and so many of them count",
    }
    shown = [text for mark, text in marks.items() if any(mark in rank for rank in ranks)]
    return [line for text in shown for line in wrapped(text, width)]


def _shape(part: LayerFacts | BlockFacts) -> str:
    return f"{part.shape[0]}×{part.shape[1]}"


def _name(part: LayerFacts | BlockFacts) -> str:
    return shortened(printable(" ".join(part.name.split())), NAME)


def _first(many: Sequence[Quantiles]) -> str:
    return number(many[0].median, 3) if many else ""


_LAYERS: _Columns = {
    "layer": _name,
    "kind": lambda layer: "" if layer.kind == "linear" else str(layer.kind),
    "shape": _shape,
    "rows": lambda layer: "" if layer.copies == 1 else str(layer.copies),
    "cost": lambda layer: number(layer.weights + layer.bias),
    "near 1": lambda layer: f"{'' if layer.complete else '≥ '}{layer.near_one}",
    "rank": lambda layer: str(layer.rank_text),
    "gap": lambda layer: number(layer.rank.gap, 2),
    "stable": lambda layer: number(layer.stable_rank, 3),
    "dist²": lambda layer: number(layer.distance, 2),
    "imbal": lambda layer: number(layer.imbalance, 2),
    "dead": lambda layer: number(layer.dead),
    "linear": lambda layer: number(layer.linear),
    "bent": lambda layer: number(layer.bent),
}
_SPARED_OF_LAYERS = (
    *("bent", "linear", "dead", "stable", "imbal", "kind", "rows", "shape", "gap", "dist²"),
    "near 1",
)
_BLOCKS: _Columns = {
    "block": _name,
    "kind": lambda block: f"{block.kind}{', a row' if block.rowwise else ''}",
    "shape": _shape,
    "depth": lambda block: str(block.depth),
    "cost": lambda block: number(block.cost),
    "rank": lambda block: str(block.rank_text),
    "gap": lambda block: "" if block.gaps is None else number(block.gaps.median, 2),
    "s_1": lambda block: _first(block.singular_values),
    "branch": lambda block: _first(block.branch),
    "imbal": lambda block: number(block.imbalance, 2),
    "balanced": lambda block: number(block.balanced),
    "a chain": lambda block: "" if block.least_cost is None else f"≥ {number(block.least_cost)}",
}
_SPARED_OF_BLOCKS = ("gap", "imbal", "balanced", "shape", "depth", "branch", "kind", "a chain")


def _table(columns: _Columns, rows: Sequence[Any], spared: Sequence[str], width: int) -> list[str]:
    """Numbered rows; the first column is on the left, and gives way to the others.

    Args:
        spared: the columns that a narrow terminal does without, the first one first.
    """
    first = next(iter(columns))
    cells: dict[str, list[str]] = {"": ["", *map(str, range(1, len(rows) + 1))]}
    for name, cell in columns.items():
        written = [cell(row) for row in rows]
        if name == first or any(written):
            cells[name] = [name, *written]
    widths = {name: max(map(len, column)) for name, column in cells.items()}
    shown = fitting(widths, spared, width, 1)
    others = sum(1 + widths[name] for name in shown if name != first)
    widths[first] = min(widths[first], max(6, width - others))
    cells[first] = [shortened(cell, widths[first]) for cell in cells[first]]
    padded = []
    for name in shown:
        side = "<" if name in (first, "kind") else ">"
        padded.append([f"{cell:{side}{widths[name]}}" for cell in cells[name]])
    return [" ".join(row).rstrip() for row in zip(*padded, strict=True)]


def _names(names: Sequence[str], most: int = 6) -> str:
    shown = [shortened(printable(" ".join(name.split())), NAME) for name in names[:most]]
    more = len(names) - most
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
