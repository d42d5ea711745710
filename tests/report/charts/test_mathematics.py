"""What is drawn lies where the numbers say."""

from __future__ import annotations

import pytest

from rankcheck.report.charts.bounds import bounds
from rankcheck.verification.ledger import Ledger, RelationFacts, Row

#: Half a tenth of a unit, and the same of the tick that is measured from.
ROUNDING = 0.11


def test_bounds_are_at_their_ratios(read):
    facts = [
        RelationFacts("a", ratio=0.99, tight_ratio=1.0000001),
        RelationFacts("b", ratio=0.0, tight_ratio=0.999),
        RelationFacts("c", ratio=0.9),
    ]
    rows = [
        Row(id=id_, title="X", kind="bound", verdict="holds", relations=tuple(some))
        for id_, some in (("rank.x", facts[:2]), ("rank.y", facts[2:]))
    ]
    drawing = read(bounds(Ledger(tuple(rows), "quick", 0, 1.0, {})).svg)
    height = {text: drawing.tick(text, "y") for text in ("0", "0.9", "0.99", "0.999", "1")}
    links = {link.get("href"): link for link in drawing.all("a")}
    assert set(links) == {"#claim-rank.x", "#claim-rank.y"}

    def dots(link):
        inside = [child for child in links[link] if "spot" in child.get("class", "")]
        return {child.get("class").split()[1]: drawing.points(child) for child in inside}

    x, y = dots("#claim-rank.x"), dots("#claim-rank.y")
    # From left to right the ratios 0, 0.9, 0.99.
    assert [h for _, h in x["s1"]] == pytest.approx([height["0"], height["0.99"]], abs=ROUNDING)
    assert [h for _, h in x["s2"]] == pytest.approx([height["0.999"], height["1"]], abs=ROUNDING)
    assert [h for _, h in y["s1"]] == pytest.approx([height["0.9"]], abs=ROUNDING)
    assert x["s1"][0][0] < y["s1"][0][0] < x["s1"][1][0]
    assert links["#claim-rank.x"][0].text == "rank.x; 0.999 b"
