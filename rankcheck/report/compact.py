"""Pictures with short coordinates, for pages that have hundreds of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup

__all__ = ["compact", "shorter"]

_DATA = re.compile(r'(?<= d=")[^"]*')
_TOKEN = re.compile(r"[A-Za-z]|-?\d+(?:\.\d+)?")
#: How many numbers a command takes; paths with other commands are left as they are.
_COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "h": 1, "v": 1, "z": 0}

Point = tuple[int, int]


def compact(svg: Markup) -> Markup:
    """A picture whose paths of straight lines have whole coordinates, each from the one before."""
    return Markup(_DATA.sub(lambda found: shorter(found[0]), svg))


def shorter(path: str) -> str:
    """The text of a path of straight lines, rounded to whole units; of another one, as it is.

    Rounding is of places, so that errors do not add up. A point where the one before is, is left
    out, and so is a dot where there is one.

    >>> shorter("M10.2 10L12 14.1L12 20L12.3 20")
    'm10 10l2 4v6'
    >>> shorter("M5 5h0M5.2 5h0M7 4h0"), shorter("M0 0C1 2 3 4 5 6")
    ('m5 5h0m2-1h0', 'M0 0C1 2 3 4 5 6')
    """
    tokens = _TOKEN.findall(path)
    if not tokens or not set(re.findall("[A-Za-z]", path)) <= set(_COUNTS):
        return path
    out, dots = "", set()
    at = start = (0, 0)
    lone: Point | None = None  # a place that a subpath begins at, and no line has left
    for command, place in _places(tokens):
        if command == "M":
            lone = start = place
        elif command == "z":
            # Of a polygon that has become a point nothing is left.
            out, at, lone = (out + "z", start, None) if lone is None else (out, at, None)
        elif place == (at if lone is None else lone):
            if command == "h" and lone is not None and place not in dots:
                out, at, lone = f"{out}{_move('m', at, place)}h0", place, None
                dots.add(place)
        else:
            if lone is not None:
                out, at, lone = out + _move("m", at, lone), lone, None
            out, at = out + _move("l", at, place), place
    return out


def _places(tokens: list[str]) -> Iterator[tuple[str, Point]]:
    """Each command with the place where it ends, rounded."""
    x = y = u = v = 0.0
    numbers = iter(tokens)
    for command in numbers:
        values = [float(next(numbers)) for _ in range(_COUNTS[command])]
        match command:
            case "M" | "L":
                x, y = values
            case "H":
                x = values[0]
            case "V":
                y = values[0]
            case "h":
                x += values[0]
            case "v":
                y += values[0]
            case "z":
                x, y = u, v
        if command == "M":
            u, v = x, y
        yield command, (round(x), round(y))


def _move(letter: str, start: Point, end: Point) -> str:
    """A move or a line."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    if letter == "l" and dy == 0:
        return f"h{dx}"
    if letter == "l" and dx == 0:
        return f"v{dy}"
    return f"{letter}{dx}{'' if dy < 0 else ' '}{dy}"
