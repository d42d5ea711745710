"""Charts: scales, ticks, what is written, and what is refused."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankcheck.report.axes import Axis, steps
from rankcheck.report.paths import arrow
from rankcheck.report.svg import INK, STYLE, TALL, WIDE, Chart, apart, coordinate, tone


@given(st.floats(-1e3, 1e3), st.floats(1e-6, 1e6), st.integers(2, 12))
def test_steps_are_multiples_of_a_round_number(shift, span, count):
    low = shift * span
    high = low + span
    found = steps(low, high, count)
    assert len(found) <= count
    slack = 1e-9 * (abs(low) + span)
    assert all(low - slack <= value <= high + slack for value in found)
    if len(found) > 1:
        step = (found[-1] - found[0]) / (len(found) - 1)
        lead = step / 10 ** math.floor(math.log10(step) + 1e-6)
        assert min(abs(lead - m) for m in (1, 2, 5)) < 1e-3
        np.testing.assert_allclose(
            np.array(found) / step, np.round(np.array(found) / step), atol=1e-3
        )


@given(st.floats(1e-12, 1e12), st.floats(1e-12, 1e12), st.floats(1e-12, 1e12))
def test_scales_are_those_of_numpy(one, other, value):
    low, high = sorted((one, other))
    if high < 1.01 * low:
        return
    if low <= value <= high:
        expected = np.interp(value, [low, high], [0, 1])
        assert Axis(low, high).share(value) == pytest.approx(expected, abs=1e-9)
        expected = np.interp(np.log(value), np.log([low, high]), [0, 1])
        assert Axis(low, high, scale="log").share(value) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("axis", "texts"),
    [
        (Axis(-2, 3, count=6), ["−2", "−1", "0", "1", "2", "3"]),
        (Axis(0.5, 2e4, scale="log"), ["1", "10", "100", "1000", "10⁴"]),
        (Axis(2, 9, scale="log"), ["2", "4", "6", "8"]),
        (Axis(1e-9, 1, scale="log", count=4), ["10⁻⁹", "10⁻⁶", "10⁻³", "1"]),
        (Axis(0, 1, ticks={0.5: "half"}), ["half"]),
    ],
)
def test_ticks(axis, texts):
    assert list(axis.marks().values()) == texts


@pytest.mark.parametrize(
    ("low", "high", "scale"),
    [
        (1, 1, "linear"),
        (2, 1, "linear"),
        (0, 1, "log"),
        (0, math.inf, "linear"),
        (math.nan, 1, "log"),
    ],
)
def test_an_axis_that_is_none(low, high, scale):
    with pytest.raises(ValueError, match=r"received a .* axis from .* is finite and increases"):
        Axis(low, high, scale=scale)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_chart_shows_finite_numbers(value):
    with pytest.raises(ValueError, match="a chart shows finite numbers"):
        coordinate(value)
    with pytest.raises(ValueError, match="shows"):
        Chart("t", "d", Axis(0, 1), Axis(0, 1)).dots([(value, 0)])
    with pytest.raises(ValueError, match="received 0 for a logarithmic axis"):
        Axis(1, 2, scale="log").share(0)


@given(st.floats(-1e7, 1e7))
def test_a_coordinate_is_near_its_number(value):
    text = coordinate(value)
    assert re.fullmatch(r"-?\d+(\.\d)?", text)
    assert float(text) == pytest.approx(value, abs=0.051 if abs(value) < 1e5 else 0.51)


@given(st.lists(st.floats(0, 300), max_size=8))
def test_labels_are_moved_apart(places):
    moved = apart(places, 22, 0, 300)
    order = sorted(range(len(places)), key=places.__getitem__)
    gaps = np.diff([moved[i] for i in order])
    assert (gaps >= 22 - 1e-9).all()
    assert all(0 <= place <= 300 for place in moved)
    if (np.diff(sorted(places)) >= 22).all():
        assert moved == places


def test_bars_have_the_heights_of_their_counts():
    chart = Chart(
        "t", "d", Axis(0, 4, ticks={}), Axis(0, 10, ticks={}), width=400, height=200, right=0
    )
    chart.bars([0, 1, 2, 3, 4], [5, 0, 10, 2.5])
    (path,) = re.findall(r'class="bars s1" d="([^"]*)"', chart.svg)
    (left, foot), (right, top) = chart.place((0, 0)), chart.place((4, 10))
    x = [coordinate(left + i * (right - left) / 4) for i in range(5)]
    y = [coordinate(foot + share * (top - foot)) for share in (0, 0.25, 0.5, 1)]
    assert path == (
        f"M{x[0]} {y[0]}V{y[2]}H{x[1]}V{y[0]}M{x[2]} {y[0]}V{y[3]}H{x[3]}V{y[1]}H{x[4]}V{y[0]}"
    )


def test_the_title_is_escaped():
    chart = Chart("<script>x</script>", '"&', Axis(0, 1, "<b>"), Axis(0, 1, "</svg>"))
    chart.label((0, 0), "<i>", link='#"onclick="x', tip="</title>")
    root = ElementTree.fromstring(chart.svg)
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert names == {"svg", "title", "desc", "path", "text", "g", "a"}
    assert root[0].text == "<script>x</script>"


def test_colours_are_those_of_the_page():
    assert not re.search(r"#[0-9a-f]{3}|rgb|url|@import", STYLE)
    assert set(re.findall(r"var\((--[a-z0-9-]+)\)", STYLE)) == {
        *("--ink", "--faint", "--hue"),
        *(f"--series-{n}" for n in range(1, 6)),
    }


def plain(**size):
    """A chart without ticks over [0, 10] × [0, 10]."""
    return Chart("t", "d", Axis(0, 10, ticks={}), Axis(0, 10, ticks={}), right=0, **size)


def paths(svg, name):
    """The paths of a class: their attributes."""
    found = ElementTree.fromstring(svg).iter("path")
    return [e.attrib for e in found if name in e.get("class").split()]


def painted(text):
    """The cells that strokes `M3 0h2m0 1h1` go through, by hand."""
    x = y = 0.0
    cells = []
    for letter, numbers in re.findall(r"([Mmh])([-\d. ]+)", text):
        values = [float(number) for number in numbers.split()]
        if letter == "h":
            cells += [(x + k, y) for k in range(int(values[0]))]
            x += values[0]
        else:
            x, y = (x * (letter == "m") + values[0], y * (letter == "m") + values[1])
    return cells


@given(st.integers(1, 7), st.integers(1, 7), st.randoms(use_true_random=False))
def test_cells_have_the_levels_of_their_values(rows, columns, random):
    values = [[random.random() for _ in range(columns)] for _ in range(rows)]
    chart = plain()
    chart.cells(values, (2, 8), (6, 3), 3)
    found = {}
    for path in paths(chart.svg, "level"):
        assert path["class"] == "level s3"
        for cell in painted(path["d"]):
            assert cell not in found
            found[cell] = float(path["stroke-opacity"])
    for row, line in enumerate(values):
        for column, value in enumerate(line):
            assert abs(found.get((column, row), 0.0) - value) <= 0.05 + 1e-9
    assert len(paths(chart.svg, "level")) <= 10
    # The group maps the unit square of the first cell to a cell below the corner (2, 8).
    [group] = [e.get("transform") for e in ElementTree.fromstring(chart.svg).iter("g")]
    x, y, across, down = map(float, re.findall(r"-?[\d.]+", group))
    (left, top), (right, foot) = chart.place((2, 8)), chart.place((6, 3))
    assert (across * columns, down * rows) == pytest.approx((right - left, foot - top), rel=1e-3)
    assert (x, y) == pytest.approx((left, top + down / 2), abs=0.051)


def test_a_grid_of_noise_is_small():
    noise = np.random.default_rng(0).random((40, 40))
    chart = plain()
    chart.cells(noise.tolist(), (0, 10), (10, 0))
    assert len(chart.svg) < 10_000


def test_images_are_centred_at_their_points():
    chart = plain()
    image = [[1.0, 0.0], [0.0, 1.0]]
    chart.images([((5, 5), image), ((2, 7), image)], 30)
    [path] = paths(chart.svg, "level")  # one level, and so one path
    found = painted(path["d"])
    for point in ((5, 5), (2, 7)):
        x, y = chart.place(point)
        first, second = found.pop(0), found.pop(0)
        # A cell has 15 units: its stroke begins at the left, and is centred in height.
        assert (15 * first[0], 15 * first[1] - 7.5) == pytest.approx((x - 15, y - 15), abs=0.8)
        assert (second[0] - first[0], second[1] - first[1]) == pytest.approx((1, 1))
    assert found == []


@pytest.mark.parametrize("values", [[], [[]], [[1, 0], [1]]])
def test_a_grid_that_is_none(values):
    with pytest.raises(ValueError, match="received no grid; it has at least one row"):
        plain().cells(values, (0, 0), (1, 1))
    with pytest.raises(ValueError, match=r"received (no grid|images of several shapes)"):
        plain().images([((0, 0), [[1]]), ((0, 0), values)], 8)


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan])
def test_a_cell_has_a_share(value):
    with pytest.raises(ValueError, match=r"received the value .* of a cell; it lies in \[0, 1\]"):
        plain().cells([[0.5, value]], (0, 0), (1, 1))


@given(st.tuples(*[st.floats(-100, 100)] * 4))
def test_an_arrow_ends_with_its_head(ends):
    start, end = np.array(ends[:2]), np.array(ends[2:])
    length = float(np.hypot(*(end - start)))
    text = arrow(tuple(start), tuple(end))
    if length < 0.1:
        assert text == ""
        return
    numbers = np.array([float(n) for n in re.findall(r"-?[\d.]+", text)]).reshape(5, 2)
    np.testing.assert_allclose(numbers[[0, 1, 3]], [start, end, end], atol=0.051)
    sides, head = numbers[[2, 4]] - end, min(7, length)
    along = (start - end) / length
    np.testing.assert_allclose(sides @ along, [head, head], atol=0.2)
    across = sides @ np.array([-along[1], along[0]])
    np.testing.assert_allclose(sorted(across), [-head / 2, head / 2], atol=0.2)


def test_marks_are_drawn_about_their_points():
    chart = plain()
    chart.crosses([(5, 5)], 2)
    chart.rings([(5, 5), (1, 1)], 4)
    chart.lines([[(0, 0), (1, 1)], [(2, 2), (3, 3)]], 3, thin=True)
    chart.crosses([])
    x, y = chart.place((5, 5))
    wanted = [
        ("thin s2", f"M{coordinate(x - 4)} {coordinate(y - 4)}l8 8m0 -8l-8 8"),
        ("thin s4", f"M{coordinate(x - 4)} {coordinate(y)}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0"),
    ]
    found = [(path["class"], path["d"]) for path in paths(chart.svg, "thin")]
    assert found[0] == wanted[0]
    assert found[1][1].startswith(wanted[1][1])
    assert found[1][1].count("M") == found[2][1].count("M") == found[2][1].count("L") == 2
    assert len(found) == 3


def test_texts_of_ticks_do_not_overlap():
    """Widths are counted with the letters of narrow screens, which are the widest."""
    chart = Chart("t", "d", Axis(0, 1000, count=40), Axis(0, 1000, count=40), width=300, height=150)
    root = ElementTree.fromstring(chart.svg)
    below, beside = (
        [(float(t.get("x")), float(t.get("y")), t.text) for t in group] for group in root.iter("g")
    )
    for (x, _, a), (u, _, b) in pairwise(below):
        assert x + WIDE * len(a) / 2 <= u - WIDE * len(b) / 2
    for (_, y, _), (_, v, _) in pairwise(beside):
        assert y - v >= TALL - 0.11
    assert len(below) >= 4
    assert len(beside) >= 3
    steps_ = np.diff([float(text) for _, _, text in below])
    assert (steps_ == steps_[0]).all()


def test_tones_are_a_ramp():
    assert len({tone(k / 8) for k in range(9)}) == 9
    assert sorted(map(tone, np.linspace(0, 1, 30))) == list(map(tone, np.linspace(0, 1, 30)))
    for share in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="received the share"):
            tone(share)
    assert all(f".plot .s{tone(k / 8)}{{--hue:" in STYLE for k in range(9))
    assert f".plot .s{INK}{{--hue:var(--ink)}}" in STYLE
