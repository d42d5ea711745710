"""The page of a ledger: seconds to write it, its size, and how long Chromium takes to show it.

    python -m benchmarks.report [LEDGER]

Beside it, in the same run: the formulas by latex2mathml in place of math-core, if it is there, and
a page of a tenth of the claims, to see how it grows. Without LEDGER the claims of the catalogue are
shown unverified. Needs `.[browser]` and Chromium for the last columns.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring import timed
from rankcheck.catalogue.collect import project
from rankcheck.report import ledger_page
from rankcheck.report.markup import formula
from rankcheck.verification.ledger import Ledger, Row, read_ledger

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
#: What a person does: type a word, then sort a column. Milliseconds.
FILTER = """() => {
    const begin = performance.now(), text = document.getElementById("f-text");
    text.value = "kernel";
    text.dispatchEvent(new Event("input", {bubbles: true}));
    document.body.offsetHeight;
    return performance.now() - begin;
}"""
SORT = """() => {
    const begin = performance.now();
    document.querySelectorAll("#table th button")[4].click();
    document.body.offsetHeight;
    return performance.now() - begin;
}"""


def least(work: Callable[[], object]) -> float:
    """The least seconds of three runs."""
    return timed(work, 3)[0]


def shown(page: Path) -> tuple[float, float, float] | None:
    """Milliseconds until the page is loaded, is filtered, is sorted; None without a browser."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None or importlib.util.find_spec("playwright") is None:
        return None
    from playwright.sync_api import sync_playwright

    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=quiet)
        tab = browser.new_page(viewport={"width": 1400, "height": 900})
        tab.goto(page.as_uri())
        loaded = tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        times = loaded, tab.evaluate(FILTER), tab.evaluate(SORT)
        browser.close()
    return times


def row(name: str, ledger: Ledger, folder: Path) -> None:
    """Print a line for one ledger."""
    entries = project()
    path = folder / f"{name}.html"
    took = least(lambda: path.write_text(ledger_page(ledger, entries), encoding="utf-8"))
    times = shown(path)
    ends = ["-"] * 3 if times is None else [f"{ms:.0f} ms" for ms in times]
    size = path.stat().st_size / 1e6
    print(
        f"{name:>6} {len(ledger.rows):7} {took:8.2f} s {size:8.2f} MB", *(f"{e:>9}" for e in ends)
    )


def formulas() -> None:
    """Print what the two libraries take for all formulas of the catalogue."""
    texts = [m for entry in project() for m in re.findall(r"\$([^$]+)\$", entry.statement)]
    ours = least(lambda: [formula(text) for text in texts])
    print(f"\n{len(texts)} formulas: math-core {ours:.3f} s", end="")
    if importlib.util.find_spec("latex2mathml") is not None:
        from latex2mathml.converter import convert

        theirs = least(lambda: [convert(text) for text in texts])
        print(f", latex2mathml {theirs:.3f} s ({theirs / ours:.0f} times as long)", end="")
    print()


def main() -> None:
    """Print the table."""
    if len(sys.argv) > 1:
        ledger = read_ledger(Path(sys.argv[1]))
    else:
        rows = [Row.of(entry, "cited") for entry in project()]
        ledger = Ledger.of(rows, profile="quick", seed=0, seconds=0.0)
    few = Ledger(ledger.rows[::10], ledger.profile, ledger.seed, ledger.seconds, ledger.versions)
    print("          claims    write     size      load    filter      sort")
    with tempfile.TemporaryDirectory() as folder:
        row("tenth", few, Path(folder))
        row("whole", ledger, Path(folder))
    formulas()


if __name__ == "__main__":
    main()
