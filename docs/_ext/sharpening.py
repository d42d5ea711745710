"""The answers of docs/first-conjecture.md and docs/sharpening.md: commands are run on their claims.

    python docs/_ext/sharpening.py

takes some minutes. It saves each claim of a page in the file that is named last before it, runs
each command of the page, puts its answer into the block below it, and draws the figures of
docs/sharpening.md from the JSON. The exit code is 1 if a command does not answer.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from rankcheck.report.charts.picture import Picture
from rankcheck.report.charts.sharpening import frontier, ratios
from rankcheck.report.svg import STYLE

__all__ = ["ANSWERED", "FIRST", "PAGE", "PICTURES", "answers", "files", "main", "pictures"]

_FOLDER = Path(__file__).parents[1]
PAGE, FIRST = _FOLDER / "sharpening.md", _FOLDER / "first-conjecture.md"
#: By its file the picture of a claim of the page.
PICTURES = {"depths.svg": "mine.two-slopes", "frontier.svg": "mine.lipschitz"}
#: A command of the page that prints something, and what it printed.
ANSWERED = re.compile(
    r"```\n(rankcheck (?:export|hunt|replay|score|sharpen|verify) [^\n]+)\n```\n\n"
    r"```text\n(.*?)```\n",
    re.DOTALL,
)
#: What is said before the answer.
_PROGRESS = re.compile(r"^(?:sharpening |hunting |about |  seconds )[^\n]*\n", re.MULTILINE)
_BLOCK = re.compile(r"`(\w+\.py)`|```python\n(.*?)```", re.DOTALL)
_COLOURS = re.compile(r":root \{.*?\n\}", re.DOTALL)
_FONT = "svg{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}"


def files(page: str) -> dict[str, str]:
    """The files of claims that a reader of a page has saved, by name."""
    found: dict[str, str] = {}
    name = ""
    for match in _BLOCK.finditer(page):
        if match[1]:
            name = match[1]
        elif "@conjecture" in match[2]:
            found[name] = "\n\n".join(filter(None, [found.get(name), match[2]]))
    return found


def answers(page: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """The page with what its commands print, and the sharpenings as JSON by their claims.

    Args:
        folder: where they run; the files of the page are saved there.

    Raises:
        RuntimeError: if a command ends as if its input was wrong.
    """
    for name, text in files(page).items():
        (folder / name).write_text(text, encoding="utf-8")
    found: dict[str, Any] = {}

    def answered(match: re.Match[str]) -> str:
        command = match[1].split("  #")[0]
        words, result = shlex.split(command), folder / "result.json"
        if words[1] == "sharpen":
            words += ["--json", result.name]
        ran = subprocess.run(
            [sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True, check=False
        )
        if ran.returncode > 1:
            raise RuntimeError(f"{command} ended with {ran.returncode}: {ran.stderr}")
        if words[1] == "sharpen":
            for one in json.loads(result.read_text("utf-8"))["sharpenings"]:
                found[one["claim"]] = one
        return f"```\n{match[1]}\n```\n\n```text\n{_PROGRESS.sub('', ran.stdout)}```\n"

    return ANSWERED.sub(answered, page), found


def pictures(found: Mapping[str, Any]) -> dict[str, str]:
    """The figures by name, as SVG that is light or dark as the page around it is."""
    drawn = {}
    for name, claim in PICTURES.items():
        data = found[claim]
        if data["dial"] is not None:
            picture = frontier(data["dial"])
        else:
            picture = ratios(data["by"], data["relations"][0])
        if picture is None:
            raise RuntimeError(f"{claim} has too few values for a picture")
        drawn[name] = alone(picture)
    return drawn


def alone(picture: Picture) -> str:
    """A picture of the report with the style that its page has."""
    import rankcheck.report

    sheet = Path(rankcheck.report.__file__).parent / "templates" / "page.css"
    colours = _COLOURS.findall(sheet.read_text("utf-8"))[0]  # then come those of print
    head, _, rest = str(picture.svg).partition(">")
    head = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
    svg = f"{head}>\n<style>{colours}{STYLE}{_FONT}</style>\n{rest}\n"
    ElementTree.fromstring(svg)
    return svg


def main() -> int:
    """Run the commands of the page, and write the page and its figures."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            first, _ = answers(FIRST.read_text("utf-8"), Path(folder))
            page, found = answers(PAGE.read_text("utf-8"), Path(folder))
            drawn = pictures(found)
        except RuntimeError as error:
            print(error, file=sys.stderr)
            return 1
    FIRST.write_text(first, encoding="utf-8")
    PAGE.write_text(page, encoding="utf-8")
    for name, svg in drawn.items():
        place = PAGE.with_suffix("") / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(svg, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
