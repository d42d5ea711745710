"""Every picture is well-formed, small and inside its frame, and data never becomes markup."""

from __future__ import annotations

import re

import pytest

from rankcheck.faces.report.charts.audit import pictures as of_audit
from rankcheck.faces.report.charts.sharpening import frontier, ratios
from tests.faces.report.audits import made_up
from tests.sharpen.made import STATES, dial, probe


@pytest.fixture(scope="module")
def drawn():
    loose = STATES["loose"]()
    return [
        *of_audit(made_up()),
        ratios(loose["by"], loose["relations"][0]),
        frontier(STATES["frontier"]()["dial"]),
    ]


NAMES = ["spectra", "costs", "jacobians", "ratios", "frontier"]


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


@pytest.mark.parametrize(
    "hidden", ['<script>alert("1")</script>&\x1b', '"><svg onload=alert(1)>', "'", "\ud800"]
)
def test_text_from_data_is_escaped(read, hidden):
    named = {**dial(probe("0", True, "2"), probe("1", False, "0.5")), "name": hidden}
    svg = frontier(named).svg
    svg.encode()
    drawing = read(svg)
    assert not drawing.all("script")
    assert len(drawing.all("svg")) == 1
    assert re.sub("[\x1b\ud800]", "\ufffd", hidden) in "".join(drawing.root.itertext())
