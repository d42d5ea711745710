"""How the ratios of a bound, or the deviations of an identity, are distributed."""

from __future__ import annotations

from rankcheck.claims.signs import SIGNS
from rankcheck.report.charts.picture import Picture
from rankcheck.report.svg import Axis, Chart
from rankcheck.verification.ledger import DECADES, RelationFacts

__all__ = ["has_spread", "spread"]

#: A bar of one instance begins here, so that it has a height on the logarithmic axis.
BELOW_ONE = 0.5
_RATIOS = {0.0: "0", 0.5: "½", 1.0: "1"}
_DECADES = {0.5 - DECADES: "0", -10.0: "10⁻¹⁰", 0.0: "1"}


def has_spread(facts: RelationFacts) -> bool:
    """Whether there is something to draw: counts, of an identity not only of sides that agree.

    The first count of an identity is that of deviations below 10^(1 - DECADES), 0 included.

    >>> has_spread(RelationFacts(kind="eq", spread=(9, *[0] * 19)))
    False
    """
    return any(facts.spread if SIGNS[facts.kind].bound else facts.spread[1:])


def spread(facts: RelationFacts) -> Picture:
    """The histogram of one relation: of lhs / rhs on [0, 1], or of deviations by decades.

    The axis of the counts is logarithmic. A bound has a dashed line at equality.
    """
    bound, counts = SIGNS[facts.kind].bound, facts.spread
    total = sum(counts)
    most = max(counts, default=0)
    if bound:
        title, x = "Ratios of a bound", Axis(0, 1.03, ticks=_RATIOS)
        edges = [part / max(len(counts), 1) for part in range(len(counts) + 1)]
    else:
        title, x = "Deviations of an identity", Axis(-DECADES, 0, ticks=_DECADES)
        edges = [float(decade) for decade in range(-len(counts), 1)]
    if facts.label:
        title += f", {facts.label}"
    y = Axis(BELOW_ONE, max(10.0, 1.2 * most), "", "log", count=3)
    instances = f"{total} instances" if total else "no instance"
    chart = Chart(title, instances, x, y, width=320, height=120, right=8, small=True)
    if total:
        chart.bars(edges, counts)
    else:
        chart.label((x.low + (x.high - x.low) / 2, 2.0), instances, anchor="middle")
    if bound:
        chart.rule(x=1.0, series=2)
        caption = (
            r"How often $\mathrm{lhs}/\mathrm{rhs}$ had which value; the dashed line is equality."
        )
    else:
        caption = "How often the sides differed by how much, relative to them, in powers of ten."
    return Picture("spread", title, caption, chart.svg)
