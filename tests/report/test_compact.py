"""Short coordinates: a compact path goes through the rounded places of the path."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup
from scipy.ndimage import binary_dilation

from rankcheck.report.charts import Picture
from rankcheck.report.compact import compact, shorter
from rankcheck.report.standalone import png, standalone
from rankcheck.report.svg import Axis, Chart

from .test_standalone import pixels

PLACES = st.lists(
    st.tuples(*[st.floats(-500, 700).map(lambda v: round(v, 1))] * 2), min_size=1, max_size=9
)


def walked(path):
    """The subpaths of a path as lists of places, each with whether it is closed."""
    out: list[list] = []
    x = y = 0.0
    for letter, numbers in re.findall(r"([a-zA-Z])([-\d. ]*)", path):
        values = [float(number) for number in re.findall(r"-?[\d.]+", numbers)]
        if letter == "z":
            x, y = out[-1][0]
            out[-1].append("closed")
            continue
        both = {"m": (1, 1), "l": (1, 1), "h": (1, 0), "v": (0, 1)}[letter.lower()]
        dx, dy = values * 2 if len(values) == 1 else values
        if letter.isupper():
            x, y = (dx if both[0] else x), (dy if both[1] else y)
        else:
            x, y = x + dx * both[0], y + dy * both[1]
        if letter in "mM":
            out.append([])
        out[-1].append((x, y))
    return out


@given(st.lists(PLACES, min_size=1, max_size=4), st.booleans())
def test_lines_go_through_rounded_places(lines, closed):
    path = "".join("M" + "L".join(f"{x:g} {y:g}" for x, y in line) + "z" * closed for line in lines)
    wanted = []
    for line in lines:
        places = [(round(x), round(y)) for x, y in line]
        kept = [place for k, place in enumerate(places) if k == 0 or place != places[k - 1]]
        if len(kept) > 1:  # a point is no line
            wanted.append([*kept, "closed"] if closed else kept)
    assert walked(shorter(path)) == wanted
    assert len(shorter(path)) <= len(path)


@given(PLACES)
def test_every_place_of_a_dot_has_a_dot(places):
    path = "".join(f"M{x:g} {y:g}h0" for x, y in places)
    found = walked(shorter(path))
    assert all(len(dot) == 2 and dot[0] == dot[1] for dot in found)
    assert sorted(dot[0] for dot in found) == sorted({(round(x), round(y)) for x, y in places})


def test_bars_and_grids():
    path = "M24 103V9H31V27.4H38V103M10.6 5v4M0 0h7v-3z"
    assert walked(shorter(path)) == [
        [(24, 103), (24, 9), (31, 9), (31, 27), (38, 27), (38, 103)],
        [(11, 5), (11, 9)],
        [(0, 0), (7, 0), (7, -3), "closed"],
    ]


def test_other_paths_are_left_as_they_are():
    for path in ("", "M1.5 2C3 4 5 6 7 8", "M1.5 2a4 4 0 1 0 8 0", "M1.5 2l3 4", "m1.5 2h3"):
        assert shorter(path) == path


def test_a_compact_picture_looks_the_same():
    """What is drawn in one rendering is drawn within two pixels in the other."""
    chart = Chart("t", "d", Axis(0, 9), Axis(0, 90), width=150, height=100)
    chart.line([(x / 9, (x / 9) ** 2) for x in range(82)])
    chart.dots([(x, 90 - 9 * x) for x in range(10)], 2)
    chart.bars([1, 2, 3], [12.3, 45.6], 3)
    small = compact(chart.svg)
    assert isinstance(small, Markup)
    assert len(small) < 0.75 * len(chart.svg)
    one, other = (
        pixels(png(standalone(Picture("n", "t", "c", svg)), 1))[..., :3].min(2) < 180
        for svg in (chart.svg, small)
    )
    assert one.sum() > 1000
    for drawn, there in ((one, other), (other, one)):
        assert not (drawn & ~binary_dilation(there, iterations=2)).any()
    chart = Chart("d='M1.5 2'", ' d="M1.5 2"', Axis(0, 1), Axis(0, 1))
    title = re.search("<title>.*</desc>", compact(chart.svg))[0]
    assert title == re.search("<title>.*</desc>", chart.svg)[0]
