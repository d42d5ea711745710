"""The pictures of a sharpening show the numbers of its JSON."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from rankcheck.report.charts.sharpening import frontier, history, ratios
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


def test_the_trend_is_a_rule_in_a_band_and_an_open_dot(read):
    drawing = read(ratios(["depth of net"], of_refuted()).svg)
    height = drawing.scale("y", (1, "1"), (1.4, "1.4"))
    depth = drawing.scale("x", (1, "1"), (5, "5"))
    rules = {
        path.get("class").split()[-1]: drawing.points(path)
        for path in drawing.all("path", "line", "dash")
    }
    assert [height(y) for _, y in rules["s0"]] == pytest.approx([1, 1], abs=SHARE)
    assert height(rules["s3"][0][1]) == pytest.approx(1.386, abs=SHARE)
    [band] = drawing.all("path", "band")
    heights = [height(y) for _, y in drawing.points(band)]
    assert (min(heights), max(heights)) == pytest.approx((1.382, 1.39), abs=SHARE)
    [(x, y)] = places(drawing, "ring", 3)
    assert depth(x) == pytest.approx(5, abs=0.01)
    assert height(y) == pytest.approx(1.2802, abs=SHARE)
    assert "the limit" in [text for text, _, _ in drawing.texts()]


def test_growth_has_an_open_dot_and_no_limit(read):
    one = relation("1", "2", "3", trend=STATES["growth"]()["relations"][0]["trend"])
    picture = ratios(["depth"], one)
    drawing = read(picture.svg)
    assert len(places(drawing, "ring", 3)) == 1
    assert not drawing.all("path", "band")
    assert "limit" not in picture.caption


@pytest.mark.parametrize("values", [("1e-320", "1e400"), ("0", "0.5"), ("-3", "2"), ("1", "2")])
def test_ratios_of_any_size(read, values):
    drawing = read(ratios(["depth"], relation(*values)).svg)
    assert len(places(drawing, "dots", 1)) == 2
    read(frontier(dial(*(probe(str(n), True, v) for n, v in enumerate(values)))).svg)


def test_sizes_that_are_far_apart_have_a_logarithmic_axis(read):
    groups = [{"key": [n], "best": relation(str(n))["best"]} for n in (2, 10, 1000)]
    one = relation(best=groups[2]["best"], by=groups)
    drawing = read(ratios(["d"], one).svg)
    size = drawing.scale("x", (10, "10"), (1000, "1000"), log=True)
    assert [size(x) for x, _ in places(drawing, "dots", 1)] == pytest.approx(
        [2, 10, 1000], rel=0.01
    )


def test_equality_is_not_on_the_end_of_a_logarithmic_axis(read):
    drawing = read(ratios(["depth"], relation("1", "4000")).svg)
    [rule] = drawing.all("path", "line", "dash")
    [axis] = drawing.all("path", "axis")
    foot = float(re.search(r"V([\d.]+)H", axis.get("d"))[1])
    assert drawing.points(rule)[0][1] < foot - 10


def test_the_history_is_a_stair(read):
    data = STATES["loose"]()
    [one] = data["relations"]
    drawing = read(history(one, data["seconds"]).svg)
    value = drawing.scale("y", (0.05, "0.05"), (0.25, "0.25"))
    time = drawing.scale("x", (0, "0"), (8, "8"))
    [path] = drawing.all("path", "spot", "s1")
    found = [(time(x), value(y)) for x, y in drawing.points(path)]
    assert found == [pytest.approx(point, abs=0.02) for point in one["history"]]
    assert history(relation("1"), 9.0) is None
    late = relation("1", history=[[1, 0.98], [2, 0.99], [3, 1.0]])
    assert history(late, 9.0) is None
    assert "4 improvements, the last one after 4 of 9.84 seconds" in drawing.root[1].text


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
    gone = [STATES[name]()["dial"] for name in ("jagged", "neighbours", "all_false")]
    assert all("gap" not in frontier(one).caption for one in gone)
