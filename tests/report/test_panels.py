"""Panels: where each chart stands, what is written above it, and the legend."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from rankcheck.report.panels import Key, panels
from rankcheck.report.svg import TALL, WIDE, Axis, Chart


def chart(title="t", width=310, height=200, **labels):
    """A chart with one line."""
    made = Chart(title, f"about {title}", Axis(0, 1), Axis(0, 1), width=width, height=height)
    made.line([(0, 0), (1, 1)])
    return made


def placed(svg):
    """The places of the panels."""
    groups = [e.get("transform") for e in ElementTree.fromstring(svg) if e.tag == "g"]
    return [tuple(map(float, re.findall(r"-?[\d.]+", each))) for each in groups]


def texts(svg):
    """The texts beside the panels, with their places."""
    found = [e for e in ElementTree.fromstring(svg) if e.tag == "text"]
    return [(e.text, float(e.get("x")), float(e.get("y"))) for e in found]


def test_panels_stand_in_rows():
    svg = panels([chart(f"n{k}", height=200 + k) for k in range(5)], 2, title="T", description="D")
    # A heading has 22 units, rows and columns are 20 apart, a row is as high as its highest panel.
    first, second, third = 22, 22 + 201 + 20 + 22, 22 + 201 + 20 + 22 + 203 + 20 + 22
    assert placed(svg) == [(0, first), (330, first), (0, second), (330, second), (0, third)]
    root = ElementTree.fromstring(svg)
    assert root.get("viewBox") == f"0 0 640 {third + 204}"
    assert [(e.tag, e.text) for e in root[:2]] == [("title", "T"), ("desc", "D")]
    inner = [[e.text for e in group[:2]] for group in root.iter("g") if group.get("transform")]
    assert inner == [[f"n{k}", f"about n{k}"] for k in range(5)]
    assert [text for text, _, _ in texts(svg)] == [f"{a} n{k}" for k, a in enumerate("abcde")]


def test_a_heading_is_wrapped_above_its_panel():
    words = "one two three four five six seven eight nine ten eleven twelve"
    svg = panels([chart(words), chart("short")], 2, title="T", description="D")
    *long, short = texts(svg)
    assert " ".join(text for text, _, _ in sorted(long, key=lambda each: each[2])) == f"a {words}"
    assert all(1.25 * WIDE * len(text) <= 310 for text, _, _ in long)
    [(_, top), _] = placed(svg)
    assert top == len(long) * TALL
    # The lines are a line apart, and the last of each panel is directly above it.
    assert sorted(y for _, _, y in long) == pytest.approx(
        [top - TALL * (k + 0.25) for k in reversed(range(len(long)))], abs=0.051
    )
    assert short == ("b short", 330, top - 0.25 * TALL)


def test_one_chart_has_no_letter():
    [(text, _, _)] = texts(panels([chart("alone")], 3, title="T", description="D"))
    assert text == "alone"


def test_a_legend_is_above_all_and_does_not_overlap():
    marks = ("line", "dash", "dot", "cross", "ring", "cell")
    keys = [Key(f"a text of {mark}", n, mark) for n, mark in enumerate(marks)]
    svg = panels([chart()] * 2, 2, title="T", description="D", keys=keys)
    found = [each for each in texts(svg) if each[0].startswith("a text")]
    assert [text for text, _, _ in found] == [key.text for key in keys]
    for text, x, y in found:
        assert x + WIDE * len(text) <= 640
        for other, u, v in found:
            if y == v and x < u:
                assert x + WIDE * len(text) <= u - 24  # the mark of the other one
            assert other == text or x == u or y == v or abs(y - v) >= TALL
    assert len({y for _, _, y in found}) == 2
    assert min(y for _, y in placed(svg)) - TALL > max(y for _, _, y in found)
    drawn = [e for e in ElementTree.fromstring(svg) if e.tag == "path"]
    assert [e.get("class").split()[-1] for e in drawn] == [f"s{n}" for n in range(6)]


def test_what_is_written_is_escaped():
    bad = "<script>&\x1b"
    svg = panels([chart(bad), chart(bad)], 1, title=bad, description=bad, keys=[Key(bad, 1)])
    root = ElementTree.fromstring(svg)
    assert root[0].text == "<script>&\ufffd"
    assert {e.tag for e in root.iter()} == {"svg", "title", "desc", "path", "text", "g"}
    assert not [e for e in root.iter() if "id" in e.attrib]


def test_links_in_a_panel_can_be_reached():
    linked = chart()
    linked.dots([(0, 0)], link="#there")
    assert 'role="group"' in panels([chart(), linked], 2, title="T", description="D")
    assert 'role="img"' in panels([chart()], 2, title="T", description="D")


@pytest.mark.parametrize(("count", "columns"), [(0, 1), (1, 0), (27, 3)])
def test_what_is_no_picture_of_panels(count, columns):
    with pytest.raises(ValueError, match=rf"received {count} charts in {columns} columns; "):
        panels([chart()] * count, columns, title="T", description="D")
