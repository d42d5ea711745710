"""What is drawn lies where the numbers say."""

from __future__ import annotations

import math

import pytest

from rankcheck.report.charts.bounds import bounds
from rankcheck.report.charts.margin import margin
from rankcheck.stored import StoredError
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


def test_the_margin_goes_down_in_steps(read):
    told = [("a", 100, 0.5), ("b", 200, 1e-3), ("a", 1000, 1e-6), ("b", 2000, 0.0), ("a", 4000, -1)]
    history = [{"strategy": s, "instances": n, "margin": m} for s, n, m in told]
    drawing = read(margin({"history": history, "counts": {"evaluated": 10_000}}).svg)
    at = drawing.scale("x", (100, "100"), (10_000, "10⁴"), log=True)
    value = drawing.scale("y", (1e-6, "10⁻⁶"), (1, "1"), log=True)
    a = [(at(x), y) for x, y in drawing.series("dots", 1)]
    assert [x for x, _ in a] == pytest.approx([100, 1000, 4000], rel=0.01)
    assert [value(y) for _, y in a[:2]] == pytest.approx([0.5, 1e-6], rel=0.02)
    assert a[2][1] == pytest.approx(drawing.tick("< 0", "y"), abs=ROUNDING)
    b = drawing.series("dots", 2)
    assert b[1][1] == pytest.approx(drawing.tick("0", "y"), abs=ROUNDING)
    stairs = drawing.series("line", 1)
    assert [at(x) for x, _ in stairs] == pytest.approx([100, 1000, 1000, 4000, 4000, 1e4], rel=0.01)
    heights = [y for _, y in stairs]
    assert heights[0::2] == heights[0:1] + heights[2:3] + heights[4:5]
    assert [heights[1], heights[3], heights[5]] == [heights[0], heights[2], heights[4]]


@pytest.mark.parametrize(
    "history",
    ["no list", [1], [{"strategy": "a"}], [{"strategy": "a", "instances": 1, "margin": math.nan}]],
)
def test_what_is_no_history_is_refused(history):
    with pytest.raises(StoredError):
        margin({"history": history})
