"""Pictures as files: SVG that stands alone and PNG, read with other programs than ours."""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from rankcheck.report import standalone as room
from rankcheck.report.charts.picture import Picture
from rankcheck.report.panels import Key, panels
from rankcheck.report.standalone import font_note, png, standalone, write_figures
from rankcheck.report.svg import INK, Axis, Chart, tone

SVG = "{http://www.w3.org/2000/svg}"


def square(series):
    """A picture that is covered by one cell of a series."""
    chart = Chart("<t>", "d", Axis(0, 1), Axis(0, 1), width=100, height=100, frame=False)
    chart.cells([[1.0]], (0, 0), (1, 1), series)
    chart.label((0, 0.5), "text & more", series, link="#claim-x")
    return chart, Picture("square", "A square", "caption", chart.svg)


def everything():
    """A picture with all that a chart can draw."""
    chart = Chart("t", "d", Axis(0, 1, "x"), Axis(0, 1, "y"))
    for series in (0, 1, 2, 3, 4, 5, INK, *(tone(k / 8) for k in range(9))):
        chart.line([(0, 0), (1, 1)], series, dashed=True)
        chart.lines([[(0, 0), (1, 1)]], series, thin=True)
        chart.band([(0, 1)], [(0, 0)], series)
        chart.dots([(0, 0)], series, fine=True)
        chart.crosses([(0, 0)], series)
        chart.bars([0, 1], [1], series)
        chart.polygons([[(0, 0), (1, 0), (1, 1)]], series)
        chart.cells([[0.5, 1]], (0, 0), (1, 1), series)
        chart.label((0, 0), "label", series, strong=True)
        chart.end_label(0.5, "end", series)
    keys = [Key("one", 1), Key("two", tone(0.5), "cell")]
    return Picture(
        "all", "All", "c", panels([chart, chart], 1, title="T", description="D", keys=keys)
    )


def pixels(data):
    """The pixels of a PNG, (height, width, 4), by zlib and the filters of its standard."""
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at, parts, packed = 8, {}, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size :][:4])[0]
        parts[kind] = body
        packed += body if kind == b"IDAT" else b""
        at += size + 12
    width, height, depth, colours = struct.unpack(">IIBB", parts[b"IHDR"][:10])
    assert (depth, colours) == (8, 6)
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 4 * width + 1)
    out = np.zeros((height, 4 * width), np.uint8)
    for y, row in enumerate(rows):
        above = out[y - 1] if y else np.zeros(4 * width, np.uint8)
        out[y] = unfiltered(row[0], row[1:], above)
    return out.reshape(height, width, 4)


def unfiltered(kind, row, above):
    """One row, as the standard says."""
    if kind == 0:
        return row
    if kind == 2:
        return row + above
    out = row.astype(int)
    for x in range(len(row)):
        left = int(out[x - 4]) if x >= 4 else 0
        up, corner = int(above[x]), int(above[x - 4]) if x >= 4 else 0
        near = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
        out[x] = (out[x] + {1: left, 3: (left + up) // 2, 4: near}[int(kind)]) % 256
    return out.astype(np.uint8)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("picture", [everything], ids=["everything"])
def test_a_file_asks_for_nothing(picture, dark):
    text = standalone(picture(), dark=dark)
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert {e.tag for e in root.iter()} <= {
        f"{SVG}{name}" for name in ("svg", "style", "title", "desc", "rect", "path", "text", "g")
    }
    for sign in (
        "var(",
        "--",
        "color-mix",
        "@",
        ":not",
        ":hover",
        "inherit",
        "href",
        "currentColor",
    ):
        assert sign not in text, sign
    # Every class of a series has its colours.
    [style] = [e.text for e in root.iter(f"{SVG}style")]
    for element in root.iter():
        names = element.get("class", "").split()
        if names and names[-1].startswith("s") and names[-1][1:].isdigit():
            name, hue = names[0] if names[0] != "strong" else "tone", names[-1]
            assert re.search(rf"\.{name}\.{hue}\b", style), names


def test_the_description_is_kept_and_the_picture_has_a_margin():
    _, picture = square(1)
    root = ElementTree.fromstring(standalone(picture))
    assert [e.text for e in root[:2]] == ["<t>", "d"]
    assert root.get("viewBox") == "-12 -12 124 124"
    assert (root.get("width"), root.get("height")) == ("124", "124")
    paper = next(root.iter(f"{SVG}rect"))
    assert [paper.get(name) for name in ("x", "y", "width", "height")] == [
        "-12",
        "-12",
        "124",
        "124",
    ]
    assert [e.text for e in root.iter(f"{SVG}text")] == ["text & more"]


def test_text_that_looks_like_style_is_text():
    chart, _ = square(1)
    bad = "s" + "9" * 5000 + ' class="s7" var(--ink) <style>*{fill:red}</style>'
    chart.label((0, 0), bad, tip=bad)
    text = standalone(Picture("n", "t", "c", chart.svg))
    root = ElementTree.fromstring(text)
    assert bad in [e.text for e in root.iter(f"{SVG}text")]
    [style] = root.iter(f"{SVG}style")
    assert "red" not in style.text
    assert png(text, 1).startswith(b"\x89PNG")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("series", [1, 2, 5, INK, tone(0), tone(0.25), tone(1)])
def test_what_is_drawn_where(series, dark):
    """The colours are those of page.css; those of tones are mixed here in the light of sRGB."""
    chart, picture = square(series)
    page = Path(room.__file__).parent / "templates" / "page.css"
    found = {
        name: colours[dark]
        for name, *colours in re.findall(
            r"--([\w-]+): light-dark\(#(\w+), #(\w+)\)", page.read_text()
        )
    }

    def rgb(name):
        return np.array([int(found[name][k : k + 2], 16) for k in (0, 2, 4)])

    def light(value):
        return np.where(value <= 10, value / 255 / 12.92, ((value / 255 + 0.055) / 1.055) ** 2.4)

    if series == tone(0.25):  # half of the first and half of the fourth
        mean = (light(rgb("series-1")) + light(rgb("series-4"))) / 2
        wanted = 255 * (1.055 * mean ** (1 / 2.4) - 0.055)
    else:
        names = {INK: "ink", tone(0): "series-1", tone(1): "series-2"}
        wanted = rgb(names.get(series, f"series-{series}"))
    image = pixels(png(standalone(picture, dark=dark), 1))
    assert image.shape == (124, 124, 4)
    (left, foot), (right, top) = chart.place((0, 0)), chart.place((1, 1))
    inside = image[round(top) + 12 + 2, round(left) + 12 + 2]
    np.testing.assert_allclose(inside[:3], wanted, atol=1)
    np.testing.assert_array_equal(image[2, 2], [*rgb("paper"), 255])
    np.testing.assert_array_equal(
        image[round(foot) + 12 + 3, round(left) + 12], [*rgb("paper"), 255]
    )
    assert right > left


def test_the_size_of_a_png():
    _, picture = square(1)
    data = png(standalone(picture))
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", data[16:24]) == (248, 248)


@pytest.mark.parametrize("svg", ["", "<svg", "no picture"])
def test_what_is_no_svg(svg):
    with pytest.raises(ValueError, match=r"\w"):
        png(svg)


def test_the_figures_of_an_experiment_are_written(monkeypatch, tmp_path):
    drawn = [square(1)[1], Picture("other", "Other", "c", square(2)[0].svg)]
    monkeypatch.setattr("rankcheck.report.charts.experiments.figures", lambda result: drawn)
    found = write_figures(None, tmp_path)
    assert [path.name for path in found] == ["square.svg", "square.png", "other.svg", "other.png"]
    for picture, svg, image in zip(drawn, found[::2], found[1::2], strict=True):
        assert svg.read_text("utf-8") == standalone(picture)
        assert image.read_bytes() == png(standalone(picture))


def test_a_machine_without_fonts_is_noticed(monkeypatch):
    draw = room.resvg_py.svg_to_bytes
    monkeypatch.setattr(
        room.resvg_py, "svg_to_bytes", lambda **how: draw(**how, skip_system_fonts=True)
    )
    font_note.cache_clear()
    try:
        assert "no font was found" in font_note()
        assert png(standalone(square(1)[1])).startswith(b"\x89PNG")
    finally:
        font_note.cache_clear()
