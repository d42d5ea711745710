"""The pictures of docs/gallery.md and README: charts of claims, and runs of commands.

    python docs/_ext/gallery.py [NAME …]

draws all of `CHARTS` and `RUNS`, which takes some minutes, or those named. What a chart shows is
computed by the code of the claim; a run is one of a command, on the files of `examples` and those
of the pages.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import sharpening
import terminals
from gallery_charts import CHARTS, ROOT, file_of, page
from rich.text import Text

from rankcheck.audit import audit
from rankcheck.audit.result import Audit
from rankcheck.report.charts import audit as audited
from rankcheck.report.charts.sharpening import frontier, ratios

__all__ = ["CHARTS", "COLUMNS", "FOLDER", "RUNS", "main"]

FOLDER = ROOT / "docs" / "gallery"
#: The characters of a line of the terminal.
COLUMNS = 80


def refuted(folder: Path) -> str:
    """The conjecture of README, and what `verify` answers."""
    text = (ROOT / "examples" / "sup_norm.py").read_text("utf-8")
    (folder / "sup_norm.py").write_text(text, "utf-8")
    body = text[text.index("@conjecture") :]
    shown = f"tail -{len(body.splitlines())} sup_norm.py"
    return _terminal("refuted", ["verify", "sup_norm.py"], folder, (shown, body))


def commutator(folder: Path) -> str:
    """The constant of a commutator."""
    text = sharpening.files(page("sharpening.md"))["commutator.py"]
    (folder / "commutator.py").write_text(text, "utf-8")
    return _terminal("commutator", ["sharpen", "commutator.py", "--budget", "5"], folder)


def proved(folder: Path) -> str:
    """A theorem of the catalogue, proved at small shapes."""
    words = ["prove", "rank.jacobian-bounds-cost", "--entries", "3", "--shape", "depth=2"]
    return _terminal("proved", words, folder)


def hunted(folder: Path) -> str:
    """Ten seconds of search against what is true instead of the conjecture of README."""
    (folder / "root_n.py").write_text((ROOT / "examples" / "root_n.py").read_text("utf-8"), "utf-8")
    return _terminal("hunted", ["hunt", "root_n.py", "--budget", "10"], folder)


def constant(folder: Path) -> str:
    """The constants of the conjecture of README by depth."""
    data = _sharpened(ROOT / "examples" / "sup_norm.py", folder, "--budget", "120")
    picture = ratios(data["by"], data["relations"][0])
    assert picture is not None
    return sharpening.alone(picture)


def exponent(folder: Path) -> str:
    """For which exponent the norm of a product is bounded: the dial of a recipe."""
    target = f"{file_of('recipes.md')}::test_schatten"
    data = _sharpened(target, folder, "--dial", "p=1/2..2", "--budget", "20")
    picture = frontier(data["dial"])
    assert picture is not None
    return sharpening.alone(picture)


def spectra(folder: Path) -> str:
    """The singular values of the network that examples/train_and_audit.py trains."""
    return sharpening.alone(audited.spectra(_trained()))


def jacobians(folder: Path) -> str:
    """The Jacobians of the same network at its data."""
    picture = audited.jacobians(_trained())
    assert picture is not None
    return sharpening.alone(picture)


#: The runs, by the files of their pictures.
RUNS: dict[str, Callable[[Path], str]] = {
    one.__name__: one
    for one in (
        *(refuted, commutator, proved, hunted, constant, exponent),
        *(spectra, jacobians),
    )
}


@cache
def _trained() -> Audit:
    """The audit of the network of examples/train_and_audit.py; it is trained for two minutes."""
    with tempfile.TemporaryDirectory() as folder:
        script = ROOT / "examples" / "train_and_audit.py"
        subprocess.run([sys.executable, str(script), "--folder", folder], check=True)
        return audit(Path(folder) / "trained.pt", Path(folder) / "data.npy", slope=0)


def _sharpened(target: Path | str, folder: Path, *options: str) -> dict[str, Any]:
    """The JSON of a run of `rankcheck sharpen`."""
    words = [sys.executable, "-m", "rankcheck", "sharpen", str(target), "--json", "found.json"]
    subprocess.run([*words, *options], cwd=folder, check=False, capture_output=True)
    [one] = json.loads((folder / "found.json").read_text("utf-8"))["sharpenings"]
    return dict(one)


def _terminal(
    name: str, words: Sequence[str], folder: Path, before: tuple[str, str] | None = None
) -> str:
    """A run of a command as a terminal shows it, and a file that is shown before it."""
    code, text = terminals.ran(words, folder, COLUMNS)
    if code not in (0, 1):
        raise RuntimeError(f"rankcheck {' '.join(words)} ended with {code}: {text.plain}")
    parts = [Text(f"$ rankcheck {' '.join(words)}", "bold"), text]
    if before is not None:
        parts = [Text(f"$ {before[0]}", "bold"), terminals.code(before[1]), *parts]
    return terminals.drawn(parts, f"rankcheck {words[0]}", name, COLUMNS)


def main(names: Sequence[str]) -> int:
    """Draw the pictures of these names, or all; the exit code is 1 if a command fails."""
    FOLDER.mkdir(exist_ok=True)
    for name in names or [*CHARTS, *RUNS]:
        if name in CHARTS:
            svg = sharpening.alone(CHARTS[name]())
        else:
            with tempfile.TemporaryDirectory() as folder:
                svg = RUNS[name](Path(folder))
        (FOLDER / f"{name}.svg").write_text(svg, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
