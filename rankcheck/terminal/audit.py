"""An audit as text, and watching one: layers, data, excess, theorems, and what follows."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TextIO

from rankcheck.claims.signs import SIGNS
from rankcheck.terminal.display import Display
from rankcheck.terminal.plain import printable
from rankcheck.terminal.table import count

if TYPE_CHECKING:
    from rich.text import Text

    from rankcheck.audit.result import (
        Audit,
        DataFacts,
        LayerFacts,
        Quantiles,
        Side,
        TheoremFacts,
    )

__all__ = ["AuditDisplay", "lines"]

#: Lines have at most so many characters.
WIDTH = 100
#: The longest name of a layer in the table; a longer one loses its middle.
NAME = 24
#: The columns of the layers with their alignment, and those that a narrow terminal does without,
#: the first one first.
_COLUMNS = {
    "": ">",
    "layer": "<",
    "shape": ">",
    "cost": ">",
    "near 1": ">",
    "rank": ">",
    "gap": ">",
    "stable": ">",
    "dist²": ">",
    "imbal": ">",
    "dead": ">",
    "linear": ">",
    "bent": ">",
}
_SPARED = ("bent", "linear", "dead", "stable", "imbal", "shape", "gap", "dist²", "near 1")
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


class AuditDisplay(Display):
    """Shows how far an audit is."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._stage = "importing"

    def progress(self, stage: str, done: int, total: int | None) -> None:
        """So much of a stage is done."""
        self._stage = stage if total is None else f"{stage} {count(done)} of {count(total)}"
        self.now_and_then(self._line)

    def interrupted(self) -> None:
        """Say how far the audit was."""
        self.say(f"The audit was stopped in {self._stage}. An audit is reported as a whole.")

    def render(self) -> Text:
        """The stage, how much of it is done, and the seconds."""
        from rich.text import Text

        return Text(printable(self._line()), style="bold")

    def _line(self) -> str:
        return f"{self._stage}, {self.seconds:.0f} s"


def lines(
    audit: Audit, *, width: int = WIDTH, written: Callable[[str], str] = printable
) -> list[str]:
    """The lines of an audit.

    Args:
        width: of a line, in characters; at least 40, and at most `WIDTH`.
        written: how a text with formulas is written.
    """
    width = min(max(width, 40), WIDTH)
    found = [] if audit.headline is None else [*_wrapped(audit.headline, width), ""]
    found += _head(audit, width)
    found += ["", *_layers(audit, width)]
    if audit.data is not None:
        found += ["", *_data(audit, audit.data, width)]
    if audit.theorems:
        found += ["", *_theorems(audit.theorems, width, written)]
    if audit.words:
        found += [""]
        for word in audit.words:
            found += _wrapped(f"* {written(word)}", width)
    return found


def _head(audit: Audit, width: int) -> list[str]:
    """What was read, its rank and its cost."""
    model = audit.model
    found = _wrapped(
        f"{audit.name}: {model.source}, depth {model.depth}, "
        f"widths {model.chain}, slope {model.slope:g}",
        width,
    )
    cost = f"cost {_number(model.cost)}, {_number(audit.ceiling)} a layer; rank {audit.rank}; "
    if audit.balanced.converged:
        cost += f"{_number(audit.balanced.cost)} after balancing"
    else:
        cost += "balancing did not converge"
    if audit.balanced.converged and audit.balanced.change is not None:
        cost += f" (the outputs change by {audit.balanced.change:.1e})"
    found += _wrapped(cost, width)
    if model.folded and model.stored_cost != model.cost:
        found += _wrapped(f"cost as stored, before folding: {_number(model.stored_cost)}", width)
    for said in model.folded:
        found += _wrapped(f"folded: {said}", width)
    for said in model.assumed:
        found += _wrapped(f"assumed: {said}", width)
    return found


def _layers(audit: Audit, width: int) -> list[str]:
    """The table of the layers."""
    rows = [_cells(number, layer) for number, layer in enumerate(audit.layers, 1)]
    names = list(_COLUMNS)
    kept = [
        place
        for place, name in enumerate(names)
        if name in ("", "layer") or any(row[place] for row in rows)
    ]
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    for name in _SPARED:
        if sum(widths[place] + 1 for place in kept) - 1 <= width:
            break
        if names.index(name) in kept:
            kept.remove(names.index(name))
    if sum(widths[place] + 1 for place in kept) - 1 > width:
        excess = sum(widths[place] + 1 for place in kept) - 1 - width
        widths[1] = max(6, widths[1] - excess)
        rows = [(row[0], _shortened(row[1], widths[1]), *row[2:]) for row in rows]
    found = []
    for row in [tuple(names), *rows]:
        cells = (f"{row[place]:{_COLUMNS[names[place]]}{widths[place]}}" for place in kept)
        found.append(" ".join(cells).rstrip())
    if any(not layer.rank.separated for layer in audit.layers):
        found += _wrapped("? the next singular value is close: this rank is undecided", width)
    return found


def _cells(number: int, layer: LayerFacts) -> tuple[str, ...]:
    """The cells of a layer, in the order of `_COLUMNS`; a cell without a value is empty."""
    rows, columns = layer.shape
    rank = f"{layer.rank.rank}{'' if layer.rank.separated else '?'}"
    return (
        str(number),
        _shortened(_plain(layer.name), NAME),
        f"{rows}×{columns}",
        _number(layer.weights + layer.bias),
        str(layer.near_one),
        rank,
        "" if layer.rank.gap is None else _number(layer.rank.gap, 2),
        _number(layer.stable_rank, 3),
        "" if layer.distance is None else _number(layer.distance, 2),
        "" if layer.imbalance is None else _number(layer.imbalance, 2),
        "" if layer.dead is None else str(layer.dead),
        "" if layer.linear is None else str(layer.linear),
        "" if layer.bent is None else str(layer.bent),
    )


def _data(audit: Audit, data: DataFacts, width: int) -> list[str]:
    """What was measured at the points, and the excess by rank."""
    ranks = ", ".join(
        f"{rank} at {count}" for rank, count in sorted(data.ranks.items(), key=lambda pair: pair[0])
    )
    undecided = f"; {data.undecided} undecided" if data.undecided else ""
    facts = {
        "rank of Jf": f"{ranks}{undecided} (zero: below {data.tolerance:g} of the largest)",
        "gap s_k / s_(k+1)": "" if data.gaps is None else _spread(data.gaps),
        "s_1 of Jf": _spread(data.singular_values[0]) if data.singular_values else "",
        "Schatten 2/L of Jf": f"{_spread(data.schatten)}; at most {_number(audit.ceiling)}",
        "tr Θ(x, x)": _spread(data.kernel_trace),
        "largest eigenvalue of Θ/K": f"{_number(data.kernel_top)}, K = {data.kernel_points}",
        "rank of mean JᵀJ": f"{data.index_rank.rank}"
        + ("" if data.index_rank.separated else ", undecided"),
        "points on a kink": str(data.kinks) if data.kinks else "",
    }
    found = _wrapped(f"{data.points} points; least, median and largest of each", width)
    for name, said in facts.items():
        if said:
            found += _wrapped(f"  {name + ':':27}{said}", width, " " * (29 if width > 70 else 4))
    if data.bounds:
        found += ["", *_wrapped("excess: ‖θ‖² − kL is at least 2 Σ log s_i(Jf), i ≤ k", width)]
        for bound in data.bounds:
            logs = "none" if bound.logs is None else _number(bound.logs)
            slack = "" if bound.logs is None else f", slack {_number(bound.excess - bound.logs)}"
            found += _wrapped(
                f"  k = {bound.rank} ({bound.points} points): {_number(bound.excess)} against "
                f"{logs}{slack}",
                width,
                "    ",
            )
    return found


def _theorems(
    theorems: Sequence[TheoremFacts], width: int, written: Callable[[str], str]
) -> list[str]:
    """A line or more for each theorem: the finding, the sides, and what is not met."""
    counts = {name: sum(one.finding == name for one in theorems) for name in _MARKS}
    totals = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    found = _wrapped(f"theorems: {totals}", width)
    for one in sorted(theorems, key=lambda one: _ORDER.index(one.finding)):
        shown = one.sides
        if one.finding == "holds":  # the relation that comes closest says enough
            closest = one.closest
            shown = () if closest is None else (closest,)
        found += _wrapped(f"  {_MARKS[one.finding]:9}  {one.claim}", width, "    ")
        for side in shown:
            found += _wrapped(f"{'':13}{_side(side, written)}", width, " " * 15)
        if one.finding == "holds":
            continue
        for condition in one.hypotheses:
            if condition.met is not True:
                state = "undecided" if condition.met is None else "not met"
                said = condition.text + (f" ({condition.figure})" if condition.figure else "")
                found += _wrapped(f"{'':13}{state}: {written(said)}", width, " " * 15)
        if one.message:
            found += _wrapped(f"{'':13}{written(one.message)}", width, " " * 15)
    return found


def _side(side: Side, written: Callable[[str], str]) -> str:
    """One relation: both sides, the slack, where, and whether it is proved."""
    sign = SIGNS[side.kind].holds
    label = f"{written(side.label)}: " if side.label else ""
    at = "" if side.point is None else f", at point {side.point}"
    proved = {True: ", proved in balls", False: ", not proved in balls", None: ""}[side.certified]
    return (
        f"{label}{_number(side.lhs, 6)} {sign} {_number(side.rhs, 6)}, "
        f"slack {side.slack:.2g}{at}{proved}"
    )


def _spread(many: Quantiles) -> str:
    return " · ".join(_number(one) for one in (many.least, many.median, many.most))


def _number(value: float, digits: int = 4) -> str:
    """A number with so many digits.

    >>> _number(2.00012), _number(12345.6), _number(1.5e-7, 2), _number(0.0)
    ('2', '12346', '1.5e-07', '0')
    """
    if not math.isfinite(value):
        return str(value)
    return f"{value:.0f}" if 10 ** (digits - 1) <= abs(value) < 1e6 else f"{value:.{digits}g}"


def _plain(name: str) -> str:
    """A name on one line, without control characters."""
    return printable(" ".join(name.split()))


def _shortened(text: str, most: int) -> str:
    """A text without its middle, if it is longer than `most` characters.

    >>> _shortened("encoder.0.weight", 10), _shortened("short", 10)
    ('enco…eight', 'short')
    """
    if len(text) <= most:
        return text
    end = most // 2
    return f"{text[: most - end - 1]}…{text[-end:]}"


def _wrapped(text: str, width: int, indent: str = "  ") -> list[str]:
    """A text in lines of at most so many characters; a word that is longer is cut."""
    return textwrap.wrap(
        printable(text), width, subsequent_indent=indent, break_on_hyphens=False, tabsize=1
    )
