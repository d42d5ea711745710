"""Every picture is well-formed, small and inside its frame, and data never becomes markup."""

from __future__ import annotations

import re

import pytest

from rankcheck.report.charts import bounds
from rankcheck.report.charts.audit import pictures as of_audit
from rankcheck.report.charts.sharpening import frontier
from rankcheck.report.charts.sharpening import pictures as of_relation
from rankcheck.verification.ledger import Ledger, RelationFacts, Row
from tests.report.audits import made_up
from tests.sharpen.made import STATES

EVIL = '<script>alert("1")</script>&\x1b'


def ledger(*rows):
    return Ledger(rows, "quick", 0, 1.0, {})


def row(id_, *relations):
    return Row(id=id_, title="A title", kind="bound", verdict="holds", relations=relations)


@pytest.fixture(scope="module")
def drawn():
    facts = [RelationFacts(f"part {n}", ratio=n / 300, tight_ratio=1.0) for n in range(300)]
    rows = [row(f"rank.a-claim-with-a-name-{n}", *facts[2 * n : 2 * n + 2]) for n in range(150)]
    loose = STATES["loose"]()
    return [
        bounds(ledger(*rows)),
        *of_audit(made_up()),
        *of_relation(loose, loose["relations"][0]),
        frontier(STATES["frontier"]()["dial"]),
    ]


NAMES = ["bounds"]
NAMES += ["spectra", "costs", "jacobians"]
NAMES += ["ratios", "history", "frontier"]


@pytest.mark.parametrize("place", range(len(NAMES)), ids=lambda place: NAMES[place])
def test_a_picture_is_well_formed_small_and_inside(drawn, read, place):
    one = drawn[place]
    assert len(one.svg.encode()) < 40_000
    assert one.title
    drawing = read(one.svg)
    left, top, width, height = map(float, drawing.root.get("viewBox").split())
    assert (left, top) == (0, 0)
    for element in drawing.root.iter():
        written = " ".join(element.get(name, "") for name in ("d", "x", "y"))
        assert not re.search("nan|inf", written, re.IGNORECASE)
        assert not {"style", "fill", "stroke", "onclick", "onload"} & set(element.keys())
    for _, x, y in drawing.texts():
        assert -1 <= x <= width
        assert 0 <= y <= height
    for path in drawing.all("path", "line") + drawing.all("path", "dots"):
        assert all(-1 <= x <= width + 1 and -1 <= y <= height + 1 for x, y in drawing.points(path))


@pytest.mark.parametrize("hidden", [EVIL, '"><svg onload=alert(1)>', "'", "\ud800"])
def test_text_from_data_is_escaped(read, hidden):
    bad = RelationFacts(hidden, ratio=0.5)
    svg = bounds(ledger(row(hidden, bad))).svg
    svg.encode()
    drawing = read(svg)
    assert not drawing.all("script")
    assert len(drawing.all("svg")) == 1
    shown = "".join(drawing.root.itertext())
    assert re.sub("[\x1b\ud800]", "\ufffd", hidden) in shown
    assert all(link.get("href").startswith("#claim-") for link in drawing.all("a"))
