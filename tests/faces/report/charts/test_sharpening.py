"""The pictures of a sharpening show the numbers of its JSON."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from rankcheck.faces.report.charts.sharpening import frontier, ratios
from tests.sharpen.made import STATES, dial, probe, relation

#: What rounding a place to a tenth of a unit may change, as a share of an axis.
SHARE = 0.002


def places(drawing, name, series):
    """The places of the dots, or of the rings, of a series."""
    paths = drawing.all("path", name, f"s{series}")
    starts = [re.match(r"M([\d.]+) ([\d.]+)", path.get("d")).groups() for path in paths]
    shift = 3.5 if name == "ring" else 0.0
    return [(float(x) + shift, float(y)) for x, y in starts]


def of_refuted():
    return STATES["refuted"]()["relations"][0]


def test_the_ratios_by_shape(read):
    one = of_refuted()
    drawing = read(ratios(["depth of net"], one).svg)
    height = drawing.scale("y", (1, "1"), (1.4, "1.4"))
    depth = drawing.scale("x", (1, "1"), (5, "5"))
    found = [(round(depth(x)), height(y)) for x, y in places(drawing, "dots", 1)]
    wanted = [(group["key"][0], float(group["best"]["ratio"])) for group in one["by"]]
    for (n, value), (m, ratio) in zip(found, wanted, strict=True):
        assert n == m
        assert value == pytest.approx(ratio, abs=SHARE)


@pytest.mark.parametrize("values", [("1e-320", "1e400"), ("0", "0.5"), ("-3", "2"), ("1", "2")])
def test_ratios_of_any_size(read, values):
    drawing = read(ratios(["depth"], relation(*values)).svg)
    assert len(places(drawing, "dots", 1)) == 2
    read(frontier(dial(*(probe(str(n), True, v) for n, v in enumerate(values)))).svg)


def test_the_frontier(read):
    """Filled dots are the false values, open ones those that survived; the gap is between."""
    one = STATES["frontier"]()["dial"]
    drawing = read(frontier(one).svg)
    height = drawing.scale("y", (1, "1"), (4, "4"))
    value = drawing.scale("x", (0, "0"), (1, "1"))
    for name, series, refuted in (("dots", 2, True), ("ring", 1, False)):
        wanted = [p for p in one["probes"] if p["refuted"] is refuted]
        found = places(drawing, name, series)
        assert [value(x) for x, _ in found] == pytest.approx(
            [float(Fraction(p["value"])) for p in wanted], abs=0.005
        )
        for (_, y), p in zip(found, wanted, strict=True):
            if p["ratio"] is not None:
                assert height(y) == pytest.approx(float(p["ratio"]), abs=0.02)
                assert (height(y) > 1) == refuted
    [band] = drawing.all("path", "band")
    ends = {round(value(x), 2) for x, _ in drawing.points(band)}
    assert ends == {0.4, 0.45}


def test_what_has_no_picture():
    assert frontier(dial(probe("0", True, "2"))) is None
    assert ratios(["depth"], relation("0.5")) is None
    assert ratios(["depth"], relation("0", "0", kind="eq")) is None
    assert ratios(["depth"], relation("1", "1")) is None
    gone = [STATES[name]()["dial"] for name in ("jagged", "all_false")]
    assert all("gap" not in frontier(one).caption for one in gone)
