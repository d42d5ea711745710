"""An audit as text, and how far one is: what follows, layers, data, theorems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from rankcheck.audit.ranks import TOLERANCE
from rankcheck.audit.result import WITHOUT_DATA
from rankcheck.claims.signs import SIGNS
from rankcheck.faces.terminal.display import Display
from rankcheck.faces.terminal.figures import number, shortened
from rankcheck.faces.terminal.plain import WIDTH, fitting, printable, wrapped
from rankcheck.faces.terminal.table import count

if TYPE_CHECKING:
    from rankcheck.audit.result import Audit, DataFacts, LayerFacts, Quantiles, Side, TheoremFacts

#: In this order theorems are listed; the last ones stay on the screen.
_FINDINGS = ("not applicable", "holds", "not evaluated", "undecided", "fails")
#: The longest name in a table; a longer one loses its middle.
NAME = 24
#: How a row is written: the columns with their cells. One without cells is left out.
_COLUMNS: Mapping[str, Callable[[LayerFacts], str]] = {
    "layer": lambda layer: shortened(printable(" ".join(layer.name.split())), NAME),
    "shape": lambda layer: f"{layer.shape[0]}×{layer.shape[1]}",
    "cost": lambda layer: number(layer.weights + layer.bias),
    "rank": lambda layer: layer.rank.text,
    "gap": lambda layer: number(layer.rank.gap, 2),
    "dist²": lambda layer: number(layer.distance, 2),
    "imbal": lambda layer: number(layer.imbalance, 2),
    "dead": lambda layer: number(layer.dead),
    "linear": lambda layer: number(layer.linear),
    "bent": lambda layer: number(layer.bent),
}
#: The columns that a narrow terminal does without, the first one first.
_SPARED = ("bent", "imbal", "shape", "dist²", "linear", "dead", "gap")


class AuditDisplay(Display):
    """Shows how far an audit is."""

    def progress(self, stage: str, done: int, total: int | None) -> None:
        """So much of a stage is done."""
        self.tell(stage if total is None else f"{stage} {count(done)} of {count(total)}")

    def interrupted(self) -> None:
        """Say how far the audit was."""
        self.say(f"The audit was stopped in {self.doing}. An audit is reported as a whole.")


def lines(
    audit: Audit, *, width: int = WIDTH, readable: Callable[[str], str] = printable
) -> list[str]:
    """The lines of an audit.

    Args:
        width: of a line, in characters; at least 40, and at most `WIDTH`.
        readable: how a text with formulas is written.
    """
    width = min(max(width, 40), WIDTH)
    block = _head(audit, width)
    for sentence in audit.words:
        block += wrapped(f"* {readable(sentence)}", width)
    block += ["", *_layers(audit, width)]
    if audit.data is not None:
        block += ["", *_data(audit.data, width)]
    if audit.theorems:
        block += ["", *_theorems(audit.theorems, width, readable)]
    return block


def brief(audit: Audit, most: int) -> list[str]:
    """The first of `lines`: what was read, and what follows."""
    return [*lines(audit)[: most - 1], "print() shows all of it: layers, data, theorems"]


def _head(audit: Audit, width: int) -> list[str]:
    """What has to be known first, what was read, its rank and its cost, and how many theorems."""
    model = audit.model
    block = [] if audit.headline is None else [*wrapped(audit.headline, width), ""]
    block += wrapped(f"{audit.name}: {model.source}, {model.text}", width)
    if audit.data is None:
        block += wrapped(WITHOUT_DATA, width)
    least = number(audit.balanced.cost) if audit.balanced.converged else "unknown"
    cost = f"cost {number(model.cost)}, {number(audit.ceiling)} a layer, {least} after balancing"
    block += wrapped(f"rank {audit.rank_text}; {cost}", width)
    if model.folded and model.stored_cost != model.cost:
        block += wrapped(f"cost as stored, before folding: {number(model.stored_cost)}", width)
    if model.outputs is not None:
        block += wrapped(f"outputs: {model.outputs.sentence}", width)
    for what, sentences in (("folded", model.folded), ("assumed", model.assumed)):
        for sentence in sentences:
            block += wrapped(f"{what}: {sentence}", width)
    if audit.theorems:
        counts = {name: sum(one.finding == name for one in audit.theorems) for name in _FINDINGS}
        said = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
        block += wrapped(f"theorems: {said}", width)
    return block


def _layers(audit: Audit, width: int) -> list[str]:
    """Numbered rows; the names are on the left, and give way to the others."""
    rows = audit.layers
    cells: dict[str, list[str]] = {"": ["", *map(str, range(1, len(rows) + 1))]}
    for name, cell in _COLUMNS.items():
        written = [cell(row) for row in rows]
        if name == "layer" or any(written):
            cells[name] = [name, *written]
    widths = {name: max(map(len, column)) for name, column in cells.items()}
    shown = fitting(widths, _SPARED, width, 1)
    others = sum(1 + widths[name] for name in shown if name != "layer")
    widths["layer"] = min(widths["layer"], max(6, width - others))
    cells["layer"] = [shortened(cell, widths["layer"]) for cell in cells["layer"]]
    padded = []
    for name in shown:
        side = "<" if name == "layer" else ">"
        padded.append([f"{cell:{side}{widths[name]}}" for cell in cells[name]])
    block = [" ".join(row).rstrip() for row in zip(*padded, strict=True)]
    if any("?" in cell for cell in cells["rank"]):
        block += wrapped("? the next singular value is close: this rank is undecided", width)
    return block


def _data(data: DataFacts, width: int) -> list[str]:
    """What was measured at the points, and the excess by rank."""
    ranks = ", ".join(f"{rank} at {count}" for rank, count in sorted(data.ranks.items()))
    undecided = f"; {data.undecided} undecided" if data.undecided else ""
    facts = {
        "rank of Jf": f"{ranks}{undecided}",
        "gap s_k / s_(k+1)": "" if data.gaps is None else _spread(data.gaps),
        "s_1 of Jf": _spread(data.singular_values[0]) if data.singular_values else "",
        "tr Θ(x, x)": _spread(data.kernel_trace),
        "rank of mean JᵀJ": data.index_rank.text,
        "points on a kink": str(data.kinks) if data.kinks else "",
    }
    counts = f"singular values below {TOLERANCE:g} of the largest count as zero"
    block = wrapped(f"{data.points} points; least, median and largest of each; {counts}", width)
    for name, figure in facts.items():
        if figure:
            block += wrapped(f"  {name + ':':19}{figure}", width, " " * (21 if width > 70 else 4))
    block += ["", *wrapped("excess: ‖θ‖² − kL is at least 2 Σ log s_i(Jf), i ≤ k", width)]
    for bound in data.bounds:
        block += wrapped(
            f"  k = {bound.rank} ({bound.points} points): {number(bound.excess)} against "
            f"{number(bound.logs)}, slack {number(bound.excess - bound.logs)}",
            width,
            "    ",
        )
    return block


def _theorems(
    theorems: Sequence[TheoremFacts], width: int, readable: Callable[[str], str]
) -> list[str]:
    """Which theorems hold and which do not apply; of the others the sides, and what is not met."""
    block: list[str] = []
    for finding in _FINDINGS:
        found = [one for one in theorems if one.finding == finding]
        if found and finding in ("holds", "not applicable"):
            block += wrapped(f"{finding}: {', '.join(one.claim for one in found)}", width)
            continue
        for one in found:
            block += wrapped(f"{finding}: {one.claim}", width)
            said = [_side(side, readable) for side in one.sides]
            for condition in one.hypotheses:
                if condition.met is not True:
                    state = "undecided" if condition.met is None else "not met"
                    figure = f" ({condition.figure})" if condition.figure else ""
                    said.append(f"{state}: {readable(condition.text + figure)}")
            said += [readable(one.message)] if one.message else []
            for text in said:
                block += wrapped(f"  {text}", width, "    ")
    return block


def _side(side: Side, readable: Callable[[str], str]) -> str:
    """One relation: both sides, the slack, where, and whether it is proved."""
    sign = SIGNS[side.kind].holds
    label = f"{readable(side.label)}: " if side.label else ""
    at = "" if side.point is None else f", at point {side.point}"
    proved = {True: ", proved in balls", False: ", not proved in balls", None: ""}[side.certified]
    return (
        f"{label}{number(side.lhs, 6)} {sign} {number(side.rhs, 6)}, "
        f"slack {side.slack:.2g}{at}{proved}"
    )


def _spread(many: Quantiles) -> str:
    return " · ".join(number(one) for one in (many.least, many.median, many.most))
