"""`read(svg)`: what a chart shows, read back from its text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree

import pytest

from rankcheck.faces.report.svg import TALL

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass
class Drawing:
    """A chart as an XML tree; `name` is without the namespace."""

    root: ElementTree.Element

    def all(self, name, *classes):
        """The elements of a name that have these classes."""
        found = [e for e in self.root.iter() if e.tag.rpartition("}")[2] == name]
        return [e for e in found if set(classes) <= set(e.get("class", "").split())]

    def texts(self):
        """Every text with its place."""
        return [(e.text, float(e.get("x")), float(e.get("y"))) for e in self.all("text")]

    def tick(self, text, axis):
        """Where a tick is drawn, along x or along y."""
        anchor = {"x": "middle", "y": "end"}[axis]
        ticks = [e for g in self.all("g") if g.get("text-anchor") == anchor for e in g]
        (place,) = [e for e in ticks if e.text == text]
        return float(place.get("x")) if axis == "x" else float(place.get("y")) - TALL / 4

    def scale(self, axis, one, other):
        """A function from places to values, by two ticks, each a value with its text."""
        start, end = self.tick(one[1], axis), self.tick(other[1], axis)
        return lambda place: one[0] + (place - start) / (end - start) * (other[0] - one[0])

    def points(self, element):
        """The points of a path of straight lines, with absolute coordinates."""
        numbers = [float(n) for n in _NUMBER.findall(element.get("d").replace("h0", ""))]
        return list(zip(numbers[::2], numbers[1::2], strict=True))


def parse(svg) -> Drawing:
    return Drawing(ElementTree.fromstring(str(svg)))


@pytest.fixture
def read():
    return parse
