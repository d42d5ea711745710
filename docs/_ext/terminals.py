"""Pictures of a terminal: what a command writes to one, as SVG, light or dark as the page is."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console, RenderableType
from rich.syntax import Syntax
from rich.terminal_theme import TerminalTheme
from rich.text import Text

__all__ = ["WIDTH", "code", "drawn", "ran"]

#: How wide a picture is, in pixels.
WIDTH = 850
_FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono'"


def _theme(back: str, ink: str, *colours: str) -> TerminalTheme:
    parts = [tuple(bytes.fromhex(one)) for one in (back, ink, *colours)]
    return TerminalTheme(parts[0], parts[1], parts[2:], parts[2:])  # type: ignore[arg-type]


#: The background, the text, and black, red, green, yellow, blue, magenta, cyan and white.
_LIGHT = _theme(
    *("f6f8fa", "1f2328", "1f2328", "b3202c", "116329", "7a4b00"),
    *("0550ae", "7a33b8", "0b6471", "59636e"),
)
_DARK = _theme(
    *("1f2430", "d5d9e2", "3a4150", "ff7b72", "7ee787", "e3b341"),
    *("79b8ff", "d2a8ff", "6cd4e0", "aab2c0"),
)
_COLOUR = re.compile(r'fill(?:="|: )(#[0-9a-f]{6})')
_CLIPPED = re.compile(r' clip-path="url\(#([^)]+)\)"')
_SCREEN = re.compile(r'(clip-terminal">\s*<rect [^>]*height=")([\d.]+)')
#: What a terminal is told that moves its cursor or writes in colour.
_CONTROL = re.compile(r"(\x1b\[[0-9;?]*[A-Za-z]|\r?\n|\r)")


def ran(words: Sequence[str], folder: Path, columns: int) -> tuple[int, Text]:
    """The exit code of `rankcheck WORDS` in a folder, and what a terminal shows at its end."""
    import pty  # there is none on Windows, where pages are made, but no pictures

    master, slave = pty.openpty()
    known = {"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "50"}
    started = subprocess.Popen(
        [sys.executable, "-m", "rankcheck", *words],
        cwd=folder,
        env=os.environ | known,
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    written = bytearray()
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # Linux says so that nobody has the other end
            break
        if not part:
            break
        written += part
    os.close(master)
    return started.wait(), screen(written.decode("utf-8"))


def screen(written: str) -> Text:
    """What a terminal shows after this was written to it: lines are erased and written again."""
    lines, at = [""], 0
    for part in _CONTROL.split(written):
        if part.endswith("\n"):
            at += 1
            lines += [""] * (at == len(lines))
        elif part == "\x1b[2K":
            lines[at] = ""
        elif re.fullmatch(r"\x1b\[\d*A", part):
            at = max(0, at - int(part[2:-1] or 1))
        elif part.endswith("m") or not part.startswith(("\x1b", "\r")):
            lines[at] += part
    return Text.from_ansi("\n".join(lines).rstrip())


def code(text: str) -> Syntax:
    """Python, in the colours of the terminal."""
    return Syntax(text, "python", theme="ansi_light", background_color="default")


def drawn(parts: Sequence[RenderableType], title: str, name: str, columns: int) -> str:
    """What was written to a terminal, as SVG that asks for nothing.

    Args:
        name: in lower case; no other picture on a page may have it.
    """
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True)
    for part in parts:
        console.print(part)
    light, dark = (
        console.export_svg(title=title, unique_id=name, theme=theme, clear=False)
        for theme in (_LIGHT, _DARK)
    )
    return _alone(_both(light, dark))


def _both(light: str, dark: str) -> str:
    """The picture with both sets of colours; they are drawn in the same order."""
    pairs = dict.fromkeys(zip(_COLOUR.findall(light), _COLOUR.findall(dark), strict=True))
    names = {pair: f"--t{number}" for number, pair in enumerate(pairs)}
    order = iter(zip(_COLOUR.findall(light), _COLOUR.findall(dark), strict=True))

    def named(match: re.Match[str]) -> str:
        value = f"var({names[next(order)]})"
        kind, _, rest = match[0].partition(match[1])
        return f'style="{kind[:-2]}:{value}' if kind.endswith('"') else f"{kind}{value}{rest}"

    svg = _COLOUR.sub(named, light)
    day = "".join(f"{name}:{pair[0]};" for pair, name in names.items())
    night = "".join(f"{name}:{pair[1]};" for pair, name in names.items())
    colours = f":root{{{day}}}@media(prefers-color-scheme:dark){{:root{{{night}}}}}"
    return svg.replace("<style>", f"<style>\n{colours}", 1)


def _alone(svg: str) -> str:
    # Rich names a font on a server. Any font of equal widths does, as each text has its length.
    svg = svg.replace("rgba(255,255,255,0.35)", "rgba(128,128,128,0.35)")
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code", _FONTS)
    # It cuts each line by a shape, has none for the last one, and cuts the feet of its letters.
    shapes = set(re.findall(r'<clipPath id="([^"]+)"', svg))
    svg = _CLIPPED.sub(lambda found: found[0] if found[1] in shapes else "", svg)
    svg = _SCREEN.sub(lambda found: f"{found[1]}{float(found[2]) + 4:g}", svg)
    [size] = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    height = round(WIDTH * float(size[1]) / float(size[0]))
    svg = svg.replace("<svg ", f'<svg width="{WIDTH}" height="{height}" ', 1)
    return "\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n"
