"""How close every bound of a ledger comes to equality."""

from __future__ import annotations

import math
from collections import defaultdict

from rankcheck.report.charts.picture import Picture
from rankcheck.report.svg import Axis, Chart, Point, claim_link
from rankcheck.verification.ledger import Ledger, RelationFacts

__all__ = ["bounds"]

TITLE = "How close each bound comes to equality"
#: A ratio that is this close to 1, or beyond it, is drawn as equality.
CLOSEST = 1e-9
#: The axis shows 1/(1 − r) for a ratio r.
_TICKS = {1.0: "0", 10.0: "0.9", 100.0: "0.99", 1e3: "0.999", 1e6: "1−10⁻⁶", 1 / CLOSEST: "1"}
_OUTSIDE, _TIGHT = 1, 2


def bounds(ledger: Ledger) -> Picture:
    """The largest lhs / rhs of each relation that is a bound, outside the tight family and on it.

    Relations are sorted by the first of these. A ratio r is drawn at the height −log(1 − r), from
    r = 0 to r = 1 − `CLOSEST`. All dots of a claim are one link.
    """
    ranked = [
        (_outside(facts), row.id, facts)
        for row in ledger.rows
        for facts in row.relations
        if facts.ratio is not None or facts.tight_ratio is not None
    ]
    ranked.sort(key=lambda one: one[:2])
    equal = sum(1 for *_, facts in ranked if not _text(facts))
    chart = Chart(
        TITLE,
        f"The largest ratios of {len(ranked)} bounds, sorted; {equal} were seen at equality.",
        Axis(0, len(ranked) + 1, f"{len(ranked)} bounds, sorted", ticks={}),
        Axis(0.8, 1 / CLOSEST, "largest lhs / rhs", "log", ticks=_TICKS),
    )
    claims: dict[str, list[tuple[int, RelationFacts]]] = defaultdict(list)
    for place, (_, id_, facts) in enumerate(ranked, 1):
        claims[id_].append((place, facts))
    for id_, many in claims.items():
        outside = [_point(place, facts.ratio) for place, facts in many if facts.ratio is not None]
        tight = [
            _point(place, facts.tight_ratio)
            for place, facts in many
            if facts.tight_ratio is not None
        ]
        tip = "; ".join([id_, *filter(None, (_text(facts) for _, facts in many))])
        chart.marked(
            [(_TIGHT, tight), (_OUTSIDE, outside)], tip=tip, link=claim_link(id_), fine=True
        )
    if ranked:
        x = len(ranked) * 0.98
        chart.label((x, 200.0), "on the tight family", _TIGHT, anchor="end")
        chart.label((x, 30.0), "on other instances", _OUTSIDE, anchor="end")
    caption = (
        rf"Each of {len(ranked)} bounds $\mathrm{{lhs}} \le \mathrm{{rhs}}$ has one dot at its "
        "largest ratio on the instances outside its tight family, and one at the largest ratio on "
        rf"the tight family. The top line is equality up to $10^{{-9}}$; {equal} of the bounds "
        "were seen there. A dot leads to its claim."
    )
    return Picture("bounds", TITLE, caption, chart.svg)


def _outside(facts: RelationFacts) -> float:
    return _known(facts.tight_ratio if facts.ratio is None else facts.ratio)


def _point(place: int, ratio: float) -> Point:
    return place, 1 / min(max(1 - _known(ratio), CLOSEST), 1.0)


def _text(facts: RelationFacts) -> str:
    """The largest ratio of a bound that was not seen at equality."""
    ratio = max(_known(facts.ratio), _known(facts.tight_ratio))
    return "" if ratio >= 1 - CLOSEST else f"{ratio:.4g} {facts.label}".strip()


def _known(ratio: float | None) -> float:
    """A ratio, at most 1; 0 where there is none."""
    return 0.0 if ratio is None or math.isnan(ratio) else min(ratio, 1.0)
