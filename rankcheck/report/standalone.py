"""Pictures as files: SVG that needs no page around it, and PNG."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import resvg_py

from rankcheck import files
from rankcheck.report.charts.picture import Picture
from rankcheck.report.style import STYLE

if TYPE_CHECKING:
    from rankcheck.experiments.result import Result

__all__ = ["font_note", "png", "standalone", "write_figures"]

#: Around a picture, in units.
_MARGIN = 12.0
_FONTS = "system-ui,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans','Liberation Sans',Arial,sans-serif"
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_VARIABLE = re.compile(r"var\((--[a-z0-9-]+)\)")
_MIXED = re.compile(r"color-mix\(in xyz,(#[0-9a-f]{6}) ([\d.]+)%,(#[0-9a-f]{6})\)")
_COLOUR = re.compile(r"(--[a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")


def standalone(picture: Picture, *, dark: bool = False) -> str:
    """A picture as an SVG file, with its style sheet and a light or dark background.

    Colours are written out, links are left out. What the style sheet says of narrow screens and of
    the pointer is for pages only.
    """
    root = ElementTree.fromstring(picture.svg)
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    across, down = width + 2 * _MARGIN, height + 2 * _MARGIN
    root.set("xmlns", "http://www.w3.org/2000/svg")
    root.set("viewBox", f"{-_MARGIN:g} {-_MARGIN:g} {across:g} {down:g}")
    root.set("width", f"{across:g}")
    root.set("height", f"{down:g}")
    for link in root.iter("a"):
        link.tag = "g"
        link.attrib.clear()
    style = ElementTree.Element("style")
    style.text = _style(dark, {int(n) for n in re.findall(r"\bs(\d{1,2})\b", picture.svg)})
    paper = {"x": f"{-_MARGIN:g}", "y": f"{-_MARGIN:g}", "width": f"{across:g}"}
    paper |= {"height": f"{down:g}", "fill": _colours(dark)["--paper"]}
    # The title and the description stay first: programs that read a picture aloud look there.
    at = sum(child.tag in ("title", "desc") for child in root)
    root[at:at] = [style, ElementTree.Element("rect", paper)]
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def png(svg: str, zoom: float = 2) -> bytes:
    """An SVG file as PNG, with so many pixels for a unit.

    Raises:
        ValueError: if it is no SVG, or cannot be drawn.
    """
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=zoom))


def write_figures(result: Result, folder: Path) -> list[Path]:
    """Write the figures of an experiment into a folder, each as `NAME.svg` and `NAME.png`."""
    from rankcheck.report.charts.experiments import figures

    out = []
    for picture in figures(result):
        svg = standalone(picture)
        out += [folder / f"{picture.name}.svg", folder / f"{picture.name}.png"]
        files.write_text(out[-2], svg)
        files.write_bytes(out[-1], png(svg))
    return out


@cache
def font_note() -> str:
    """What is to be said of PNG files where no font is installed: they have no text."""
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">{}</svg>'
    text = f'<text y="15" font-family="{_FONTS}">rank</text>'
    if png(svg.format(text), 1) != png(svg.format(""), 1):
        return ""
    return "no font was found, so the PNG files have no text; the SVG files have it"


@cache
def _colours(dark: bool) -> dict[str, str]:
    """The colours of the page."""
    page = resources.files("rankcheck.report").joinpath("templates", "page.css").read_text("utf-8")
    return {found[1]: found[3 if dark else 2] for found in _COLOUR.finditer(page)}


def _style(dark: bool, series: set[int]) -> str:
    """The style sheet of charts, with the colours of these series written out."""
    colours = _colours(dark)
    sheet, hues, out = STYLE.partition("@media")[0], {}, ""
    for selectors, rule in _RULE.findall(sheet):
        resolved = _VARIABLE.sub(lambda found: colours.get(found[1], found[0]), rule)
        resolved = resolved.replace("font-family:inherit", f"font-family:{_FONTS}")
        if "--hue:" in resolved:
            number = int(selectors.strip().removeprefix(".plot .s"))
            hues[number] = _MIXED.sub(_mixed, resolved.removeprefix("--hue:"))
        elif ":hover" in selectors:
            continue
        elif "var(--hue)" not in resolved:
            out += f"{selectors.strip()}{{{resolved}}}"
        else:
            for number in sorted(series & set(hues)):
                each = ",".join(f"{one.strip()}.s{number}" for one in selectors.split(","))
                out += f"{each}{{{resolved.replace('var(--hue)', hues[number])}}}"
    return out


def _mixed(found: re.Match[str]) -> str:
    """A mixture of two colours in the space XYZ, which is linear in the light that is emitted."""
    share = float(found[2]) / 100
    pairs = zip(_light(found[1]), _light(found[3]), strict=True)
    return "#" + "".join(_written(share * a + (1 - share) * b) for a, b in pairs)


def _light(colour: str) -> list[float]:
    """The light of red, green and blue in [0, 1], by the transfer function of sRGB."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]


def _written(light: float) -> str:
    """The two hexadecimal digits of a light; the inverse of `_light`."""
    value = 12.92 * light if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055
    return f"{round(255 * value):02x}"
