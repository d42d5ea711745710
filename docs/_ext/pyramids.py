"""The figure of docs/proofs/two-hidden-layers.md: a cube as the union of its three pyramids."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

import rankcheck.faces.report
from rankcheck.faces.report.svg import STYLE, coordinate

__all__ = ["COMMON", "V", "W", "facets", "files"]

Vector = NDArray[np.float64]
ORIGIN, ONES, UNIT = np.zeros(3), np.ones(3), np.eye(3)
#: b′, in which the pyramids β_1 and β_2 meet, in the plane x_1 = x_2.
COMMON = (ORIGIN, UNIT[0] + UNIT[1], ONES)
#: v is in that plane, w is not. Each other plane of a facet contains w, or does not contain v.
V, W = np.array([1.0, 1.0, 0.7]), UNIT[0]
#: The directions on the page of what points to the right, up, and to the reader.
_TURN, _TILT = np.radians(-20.0), np.radians(17.0)
RIGHT = np.array([-np.sin(_TURN), np.cos(_TURN), 0.0])
READER = np.array([np.cos(_TURN) * np.cos(_TILT), np.sin(_TURN) * np.cos(_TILT), np.sin(_TILT)])
UP = np.cross(READER, RIGHT)
SCALE, WIDTH, HEIGHT = 125.0, 670, 320
FONT = "svg{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}"


def facets(i: int) -> list[tuple[Vector, ...]]:
    """The corners of the five facets of β_i = {0 ≤ x_j ≤ x_i ≤ 1 for all j}, i = 0, 1, 2."""
    j, k = (n for n in range(3) if n != i)
    p, q, r = UNIT[i], UNIT[i] + UNIT[j], UNIT[i] + UNIT[k]
    return [
        (p, q, ONES, r),
        (ORIGIN, p, q),
        (ORIGIN, p, r),
        (ORIGIN, q, ONES),
        (ORIGIN, r, ONES),
    ]


def files() -> dict[str, str]:
    """The SVG file of the folder `proofs`, by name."""
    parts = [*_cube(np.array([44.0, 220.0])), *_apart(np.array([395.0, 232.0]))]
    sheet = Path(rankcheck.faces.report.__file__).parent / "templates" / "page.css"
    [colours, *_] = re.findall(r":root \{.*?\n\}", sheet.read_text("utf-8"), re.DOTALL)
    svg = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img" viewBox="0 0 {0} {1}" '
        'width="{0}" height="{1}">\n<style>{2}</style>\n'
        "<title>{3}</title><desc>{4}</desc>{5}</svg>\n"
    ).format(
        WIDTH,
        HEIGHT,
        Markup(f"{colours}{STYLE}{FONT}"),
        "The pyramids in the cube",
        "On the left a cube with the plane x1 = x2; in it the triangle b′ with the corners 0, "
        "(1, 1, 0) and (1, 1, 1), the vector v, and the vector w, which crosses it. On the right "
        "the cube in its three pyramids, moved apart: beta 1 and beta 2 both have the facet b′, "
        "beta 3 has none in that plane.",
        Markup("").join(parts),
    )
    return {"two-hidden-layers.svg": str(svg)}


def _cube(origin: Vector) -> Iterable[Markup]:
    """The cube, the plane through b′, and the two vectors."""
    for i in range(3):
        j, k = (n for n in range(3) if n != i)
        for corner in (ORIGIN, UNIT[j], UNIT[k], UNIT[j] + UNIT[k]):
            hidden = not corner.any()
            yield _path(origin, [corner, corner + UNIT[i]], "line dash" if hidden else "line", 0)
        yield _text(origin, 1.12 * UNIT[i], "x" + "₁₂₃"[i])
    yield _text(origin, -0.1 * RIGHT, "0")
    low, high = -0.12, 1.22
    plane = [np.array([s, s, z]) for s, z in ((low, low), (high, low), (high, high), (low, high))]
    yield _path(origin, plane, "band", 0, closed=True)
    yield from _facet(origin, COMMON, 2)
    yield _text(origin, plane[2] + 0.06 * UP, "x₁ = x₂")
    yield _text(origin, 1.07 * (UNIT[0] + UNIT[1]) + 0.5 * UNIT[2], "b′")
    yield from _arrow(origin, ORIGIN, 0.9 * V, 1, "v")
    start = 0.35 * V
    yield _path(origin, [start - 0.35 * W, start], "line dash", 3)
    yield from _arrow(origin, start, start + 0.45 * W, 3, "w")


def _apart(origin: Vector) -> Iterable[Markup]:
    """The pyramids, moved apart: hidden edges are dashed."""
    moves = np.array([[0.4, -0.7, -0.2], [-0.3, 0.95, -0.1], [-0.3, 0.1, 0.68]])
    for i in (1, 2, 0):
        move, parts = moves[i], facets(i)
        middle = np.mean([ORIGIN, *parts[0]], axis=0)
        front = {n: _is_front(part, middle) for n, part in enumerate(parts)}
        for n in sorted(front, key=front.__getitem__):
            common = i < 2 and all(x[0] == x[1] for x in parts[n])
            yield _path(
                origin,
                [move + x for x in parts[n]],
                "band",
                2 if common else 1,
                closed=True,
            )
        edges: dict[tuple[tuple[float, ...], ...], bool] = {}
        for n, part in enumerate(parts):
            for a, b in pairwise((*part, part[0])):
                key = tuple(sorted((tuple(a), tuple(b))))
                edges[key] = edges.get(key, False) or front[n]
        for ends, seen in edges.items():
            common = i < 2 and all(x[0] == x[1] for x in ends)
            shown = "line" if seen else "line dash"
            yield _path(origin, [move + np.array(x) for x in ends], shown, 2 if common else 1)
        yield _text(origin, move + np.mean(parts[0], axis=0), "β" + "₁₂₃"[i])


def _is_front(part: tuple[Vector, ...], middle: Vector) -> bool:
    """Whether a facet of a polytope around a point is turned to the reader."""
    normal = np.cross(part[1] - part[0], part[2] - part[0])
    return bool((normal @ READER) * (normal @ (part[0] - middle)) > 0)


def _facet(origin: Vector, part: Iterable[Vector], series: int) -> Iterable[Markup]:
    corners = list(part)
    yield _path(origin, corners, "band", series, closed=True)
    yield _path(origin, corners, "line", series, closed=True)


def _arrow(origin: Vector, a: Vector, b: Vector, series: int, name: str) -> Iterable[Markup]:
    tail, tip = _place(origin, a), _place(origin, b)
    along = (tip - tail) / np.hypot(*(tip - tail))
    across = np.array([-along[1], along[0]])
    yield _drawn([tail, tip], "line", series)
    yield _drawn([tip - 9 * along + 4 * across, tip, tip - 9 * along - 4 * across], "line", series)
    yield _word(tip + 11 * along, name)


def _place(origin: Vector, x: Vector) -> Vector:
    """Where a point of space lies in the picture."""
    return origin + SCALE * np.array([x @ RIGHT, -(x @ UP)])


def _path(
    origin: Vector, points: Iterable[Vector], name: str, series: int, *, closed: bool = False
) -> Markup:
    return _drawn([_place(origin, x) for x in points], name, series, closed=closed)


def _drawn(places: Iterable[Vector], name: str, series: int, *, closed: bool = False) -> Markup:
    pairs = "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in places)
    return Markup('<path class="{} s{}" d="M{}"/>').format(name, series, pairs + "z" * closed)


def _text(origin: Vector, x: Vector, text: str) -> Markup:
    return _word(_place(origin, x), text)


def _word(place: Vector, text: str) -> Markup:
    """A text with its middle at a place of the picture."""
    x, y = place
    return Markup('<text x="{}" y="{}" text-anchor="middle">{}</text>').format(
        coordinate(x), coordinate(y + 5), text
    )
