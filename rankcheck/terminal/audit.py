"""An audit as text, and how far one is: layers, data, excess, theorems, and what follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from rankcheck.audit.result import WITHOUT_DATA
from rankcheck.claims.signs import SIGNS
from rankcheck.terminal.display import Display
from rankcheck.terminal.figures import number, shortened
from rankcheck.terminal.plain import WIDTH, fitting, printable, wrapped
from rankcheck.terminal.table import count

if TYPE_CHECKING:
    from rankcheck.audit.result import Audit, DataFacts, LayerFacts, Quantiles, Side, TheoremFacts

__all__ = ["AuditDisplay", "brief", "lines"]

#: In this order theorems are listed; the last ones stay on the screen.
_ORDER = ("not applicable", "not evaluated", "holds", "undecided", "fails")
#: How a finding begins its line.
_MARKS = {
    "holds": "holds",
    "not applicable": "not appl.",
    "not evaluated": "not eval.",
    "undecided": "undecided",
    "fails": "FAILS",
}
#: The longest name in a table; a longer one loses its middle.
NAME = 24
#: How a row is written: the columns with their cells. One without cells is left out.
_COLUMNS: Mapping[str, Callable[[LayerFacts], str]] = {
    "layer": lambda layer: shortened(printable(" ".join(layer.name.split())), NAME),
    "shape": lambda layer: f"{layer.shape[0]}×{layer.shape[1]}",
    "cost": lambda layer: number(layer.weights + layer.bias),
    "near 1": lambda layer: str(layer.near_one),
    "rank": lambda layer: layer.rank.text,
    "gap": lambda layer: number(layer.rank.gap, 2),
    "stable": lambda layer: number(layer.stable_rank, 3),
    "dist²": lambda layer: number(layer.distance, 2),
    "imbal": lambda layer: number(layer.imbalance, 2),
    "dead": lambda layer: number(layer.dead),
    "linear": lambda layer: number(layer.linear),
    "bent": lambda layer: number(layer.bent),
}
#: The columns that a narrow terminal does without, the first one first.
_SPARED = ("bent", "linear", "dead", "stable", "imbal", "shape", "gap", "dist²", "near 1")


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
    block = [] if audit.headline is None else [*wrapped(audit.headline, width), ""]
    block += _head(audit, width)
    block += _first(audit, width, readable)
    block += ["", *_layers(audit, width)]
    if audit.data is not None:
        block += ["", *_data(audit, audit.data, width)]
    if audit.theorems:
        block += ["", *_theorems(audit.theorems, width, readable)]
    block += [""] if audit.words else []
    for sentence in audit.words:
        block += wrapped(f"* {readable(sentence)}", width)
    return block


def brief(audit: Audit, most: int) -> list[str]:
    """The first and the last of `lines`: what was read, ranks, totals, and what follows."""
    block = [] if audit.headline is None else [audit.headline]
    block += _head(audit, WIDTH)
    block += _first(audit, WIDTH, printable)
    if audit.data is not None:
        block += _data(audit, audit.data, WIDTH)[:2]
    if audit.theorems:
        block += [_totals(audit.theorems)]
        bad = [one for one in audit.theorems if one.finding in ("fails", "undecided")]
        block += [f"  {_MARKS[one.finding]:9}  {one.claim}" for one in bad[:3]]
    for sentence in audit.words:
        lines = wrapped(f"* {sentence}", WIDTH)
        if len(block) + len(lines) >= most:
            break
        block += lines
    return [*block[: most - 1], "print() shows all of it: layers, data, theorems"]


def _head(audit: Audit, width: int) -> list[str]:
    """What was read, its rank and its cost."""
    model = audit.model
    block = wrapped(f"{audit.name}: {model.source}, {model.text}", width)
    if audit.data is None:
        block += wrapped(WITHOUT_DATA, width)
    cost = f"cost {number(model.cost)}, {number(audit.ceiling)} a layer; rank {audit.rank_text}; "
    if audit.balanced.converged:
        cost += f"{number(audit.balanced.cost)} after balancing"
    else:
        cost += "balancing did not converge"
    if audit.balanced.converged and audit.balanced.change is not None:
        cost += f" (the outputs change by {audit.balanced.change:.1e})"
    block += wrapped(cost, width)
    if model.folded and model.stored_cost != model.cost:
        block += wrapped(f"cost as stored, before folding: {number(model.stored_cost)}", width)
    if model.outputs is not None:
        block += wrapped(f"outputs: {model.outputs.sentence}", width)
    for what, sentences in (("folded", model.folded), ("assumed", model.assumed)):
        for sentence in sentences:
            block += wrapped(f"{what}: {sentence}", width)
    return block


def _first(audit: Audit, width: int, readable: Callable[[str], str]) -> list[str]:
    """What to do first."""
    block = ["", "what to do first"] if audit.first else []
    for place, sentence in enumerate(audit.first, 1):
        block += wrapped(f"{place}. {readable(sentence)}", width, "   ")
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


def _data(audit: Audit, data: DataFacts, width: int) -> list[str]:
    """What was measured at the points, and the excess by rank."""
    ranks = ", ".join(
        f"{rank} at {count}" for rank, count in sorted(data.ranks.items(), key=lambda pair: pair[0])
    )
    undecided = f"; {data.undecided} undecided" if data.undecided else ""
    facts = {
        "rank of Jf": f"{ranks}{undecided}",
        "gap s_k / s_(k+1)": "" if data.gaps is None else _spread(data.gaps),
        "s_1 of Jf": _spread(data.singular_values[0]) if data.singular_values else "",
        "Schatten 2/L of Jf": f"{_spread(data.schatten)}; at most {number(audit.ceiling)}",
        "tr Θ(x, x)": _spread(data.kernel_trace),
        "largest eigenvalue of Θ/K": f"{number(data.kernel_top)}, K = {data.kernel_points}",
        "rank of mean JᵀJ": data.index_rank.text,
        "points on a kink": str(data.kinks) if data.kinks else "",
    }
    counts = f"singular values below {data.tolerance:g} of the largest count as zero"
    head = f"{data.points} points; least, median and largest of each; {counts}"
    block = wrapped(head, width)
    for name, figure in facts.items():
        if figure:
            block += wrapped(f"  {name + ':':27}{figure}", width, " " * (29 if width > 70 else 4))
    if data.bounds:
        block += ["", *wrapped("excess: ‖θ‖² − kL is at least 2 Σ log s_i(Jf), i ≤ k", width)]
        for bound in data.bounds:
            logs = "none" if bound.logs is None else number(bound.logs)
            slack = "" if bound.logs is None else f", slack {number(bound.excess - bound.logs)}"
            block += wrapped(
                f"  k = {bound.rank} ({bound.points} points): {number(bound.excess)} against "
                f"{logs}{slack}",
                width,
                "    ",
            )
    return block


def _theorems(
    theorems: Sequence[TheoremFacts], width: int, readable: Callable[[str], str]
) -> list[str]:
    """A line or more for each theorem: the finding, the sides, and what is not met."""
    block = wrapped(_totals(theorems), width)
    for one in sorted(theorems, key=lambda one: _ORDER.index(one.finding)):
        shown = one.sides
        if one.finding == "holds":  # the relation that comes closest says enough
            closest = one.closest
            shown = () if closest is None else (closest,)
        block += wrapped(f"  {_MARKS[one.finding]:9}  {one.claim}", width, "    ")
        for side in shown:
            block += wrapped(f"{'':13}{_side(side, readable)}", width, " " * 15)
        if one.finding == "holds":
            continue
        for condition in one.hypotheses:
            if condition.met is not True:
                state = "undecided" if condition.met is None else "not met"
                text = condition.text + (f" ({condition.figure})" if condition.figure else "")
                block += wrapped(f"{'':13}{state}: {readable(text)}", width, " " * 15)
        if one.message:
            block += wrapped(f"{'':13}{readable(one.message)}", width, " " * 15)
    return block


def _totals(theorems: Sequence[TheoremFacts]) -> str:
    """How many theorems were found to be what."""
    counts = {name: sum(one.finding == name for one in theorems) for name in _MARKS}
    return "theorems: " + ", ".join(f"{count} {name}" for name, count in counts.items() if count)


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
