"""A small network as a picture: its neurons, weights and biases, and the values at its points.

It is drawn from the text of an instance, as certificates have it, and in the colour of the text
around it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from markupsafe import Markup

from rankcheck.faces.report.instances import split

#: Larger networks are not drawn, nor are more points than these.
DEEPEST, WIDEST, POINTS = 4, 3, 2
#: Longer numbers are not written at a neuron.
LONGEST = 9
#: The distances between layers and between neurons, the radius of a neuron, the margins.
ACROSS, DOWN, RADIUS, MARGIN, TOP = 150, 74, 15, 62, 34
_NAME = re.compile(r"[Wb]_[1-9]\d?")
_FONT = "ui-sans-serif, system-ui, sans-serif"

Vector = list[Fraction]
Matrix = list[Vector]


@dataclass(frozen=True)
class _Drawn:
    """What is drawn: the layers, the slope, and the points by their names."""

    weights: list[Matrix]
    biases: list[Vector]
    slope: Fraction
    points: list[tuple[str, Vector]]

    @property
    def widths(self) -> list[int]:
        return [len(self.weights[0][0]), *map(len, self.weights)]

    def values(self, x: Vector) -> list[list[str]]:
        """What each neuron has: the input; before and after its activation; the output."""
        columns, value = [[_short(each) for each in x]], x
        for number, (W, b) in enumerate(zip(self.weights, self.biases, strict=True), 1):
            before = [
                sum((w * v for w, v in zip(row, value, strict=True)), shift)
                for row, shift in zip(W, b, strict=True)
            ]
            last = number == len(self.weights)
            value = [v if v >= 0 or last else self.slope * v for v in before]
            columns.append(
                [
                    _short(new) if new == old else f"{_short(old)} → {_short(new)}"
                    for old, new in zip(before, value, strict=True)
                ]
            )
        return columns


def drawing(description: str) -> Markup | None:
    """The network of an instance as an element `svg`; None if there is none, or it is large.

    >>> drawing("x = [1]") is None
    True
    >>> "W₁" in str(drawing("depth 1, slope 0, W_1 = [[1/2]], b_1 = [0], x = [2]"))
    True
    """
    network = _read(description)
    return None if network is None else _svg(network)


def _read(description: str) -> _Drawn | None:
    """The network of a description, with the points that fit its inputs."""
    arrays: dict[str, Any] = {}
    slope = Fraction(0)
    for part in split(description):
        name, equals, value = part.partition(" = ")
        if part.startswith("slope "):
            slope = _number(part.removeprefix("slope ")) or Fraction(0)
        elif equals and len(value) < 400:
            arrays[name] = _array(value)
    depth = sum(name.startswith("W_") for name in arrays)
    weights: list[Any] = [arrays.get(f"W_{i}") for i in range(1, depth + 1)]
    biases: list[Any] = [arrays.get(f"b_{i}") for i in range(1, depth + 1)]
    if not 0 < depth <= DEEPEST or not all(map(_is_matrix, weights)) or None in biases:
        return None
    points = []
    others = {name: array for name, array in arrays.items() if not _NAME.fullmatch(name)}
    for name, array in others.items():
        inputs = len(weights[0][0])
        several = [array] if isinstance(array, list) and array and not _nested(array) else array
        if _is_matrix(several) and len(several[0]) == inputs and name in ("x", "X", "ends"):
            indices = "₁₂" if len(several) > 1 else " "
            if len(several) <= POINTS:
                symbol = "x" if name == "ends" else name
                points += [
                    (f"{symbol}{i}".strip(), x) for i, x in zip(indices, several, strict=False)
                ]
    network = _Drawn(weights, biases, slope, points[:POINTS])
    chained = all(
        len(W[0]) == width and len(W) == len(b)
        for W, width, b in zip(weights, network.widths, biases, strict=False)
    )
    return network if chained and max(network.widths) <= WIDEST else None


def _svg(network: _Drawn) -> Markup:
    widths, values = network.widths, [network.values(x) for _, x in network.points]
    tall = max(widths) * DOWN + TOP + 16 * max(len(values) - 1, 0)
    wide = 2 * MARGIN + ACROSS * (len(widths) - 1)

    def place(layer: int, neuron: int) -> tuple[float, float]:
        middle = TOP + (tall - TOP) / 2
        return MARGIN + ACROSS * layer, middle + DOWN * (neuron - (widths[layer] - 1) / 2)

    lines: list[str] = []
    texts: list[Markup] = []
    for number, W in enumerate(network.weights, 1):
        mid = MARGIN + ACROSS * (number - 0.5)
        texts.append(_text(mid, 14, f"W{_index(number)}", faint=True))
        for i, j in product(range(len(W)), range(len(W[0]))):
            (x0, y0), (x1, y1) = place(number - 1, j), place(number, i)
            if W[i][j] == 0:
                continue
            lines.append(
                f'<path d="M{x0 + RADIUS:g} {y0:g}L{x1 - RADIUS:g} {y1:g}" stroke-opacity=".55"/>'
            )
            share = 0.5 if len(W) * len(W[0]) == 1 or y0 == y1 else 0.36
            x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
            texts.append(_text(x, y - 5, _short(W[i][j])))
    for layer, width in enumerate(widths):
        last = layer == len(widths) - 1
        head = "input" if layer == 0 else "output" if last else f"σ, slope {_short(network.slope)}"
        if layer and not last and network.slope == 0:
            head = "ReLU"
        texts.append(_text(place(layer, 0)[0], 14, head, faint=True))
        for neuron in range(width):
            x, y = place(layer, neuron)
            lines.append(f'<circle cx="{x:g}" cy="{y:g}" r="{RADIUS}"/>')
            if layer and not last:
                bend = f"M{x - 8:g} {y + 4 + 7 * float(network.slope):g}L{x:g} {y + 4:g}l7 -9"
                lines.append(f'<path d="{bend}" stroke-opacity=".55"/>')
            if layer and network.biases[layer - 1][neuron]:
                shift = network.biases[layer - 1][neuron]
                sign = "+" if shift > 0 else "−"
                texts.append(_text(x, y - RADIUS - 5, f"{sign}{_short(abs(shift))}"))
            for number, at in enumerate(values):
                texts.append(_text(x, y + RADIUS + 14 + 15 * number, at[layer][neuron], bold=True))
    said = "; ".join(
        f"at {name} = ({', '.join(map(_short, x))}) it has the value "
        f"({', '.join(network.values(x)[-1])})"
        for name, x in network.points
    )
    title = f"The network of the counterexample{f': {said}' if said else ''}"
    return Markup(
        '<svg class="network" role="img" viewBox="0 0 {0} {1}" width="{0}" height="{1}">'
        "<title>{2}</title>"
        '<g fill="none" stroke="currentColor" stroke-width="1.4">{3}</g>'
        '<g fill="currentColor" font-size="13" font-family="{5}" text-anchor="middle">{4}</g></svg>'
    ).format(f"{wide:g}", f"{tall:g}", title, Markup("".join(lines)), Markup("").join(texts), _FONT)


def _text(x: float, y: float, text: str, *, faint: bool = False, bold: bool = False) -> Markup:
    look = ' font-weight="600"' * bold + ' opacity=".8"' * faint
    return Markup('<text x="{:g}" y="{:g}"{}>{}</text>').format(x, y, Markup(look), text)


def _index(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def _short(value: Fraction) -> str:
    """A number, rounded if it is long, with the minus of mathematics."""
    exact = str(value)
    text = exact if len(exact) <= LONGEST else f"≈ {float(value):.4g}"
    return text.replace("-", "−")


def _number(text: str) -> Fraction | None:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def _array(text: str) -> Any:
    """The numbers of a vector or a matrix; None for anything else."""
    try:
        parsed = json.loads(re.sub(r"[^\[\],\s]+", lambda word: json.dumps(word[0]), text))
    except (ValueError, RecursionError):
        return None
    return _numbers(parsed) if isinstance(parsed, list) else None


def _numbers(values: list[Any]) -> list[Any] | None:
    made = [_numbers(each) if isinstance(each, list) else _number(each) for each in values]
    return None if any(each is None for each in made) else made


def _nested(values: Sequence[object]) -> bool:
    return isinstance(values[0], list)


def _is_matrix(values: object) -> bool:
    return (
        isinstance(values, list)
        and bool(values)
        and all(isinstance(row, list) and row and not _nested(row) for row in values)
        and len({len(row) for row in values}) == 1
    )
