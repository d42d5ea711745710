"""Pages in headless Chromium: how it is started, and what is wrong with what a page shows."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.markup import MARKUP

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
#: What a test is marked with that looks at pages.
IN_A_BROWSER = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium is installed; .ci/browser installs it"
    ),
]
#: A phone and a desk, in the dark and by day.
SCREENS = ((390, "dark"), (1400, "light"), (390, "light"), (1400, "dark"))
_LOOK = (Path(__file__).parent / "look.js").read_text(encoding="utf-8")


@contextmanager
def chromium() -> Iterator[Any]:
    """Chromium; the test is skipped where its driver is not installed."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="the tests with a browser need the package playwright"
    )
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=quiet)
        yield opened
        opened.close()


def faults(page: Any, screens: Any = SCREENS) -> list[str]:
    """What a reader would stumble over on an opened page: its folded parts are unfolded first.

    Markup that is shown as text, outside of code and formulas; what is wider than the screen and
    does not scroll in a box of its own; text that is cut off; text with a contrast below 4.5, large
    text below 3 (WCAG AA). A shot of a page is not needed for any of these.
    """
    found: dict[str, None] = {}
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    for number, (width, scheme) in enumerate(screens):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        seen = page.evaluate(_LOOK)
        for text in seen["texts"] if number == 0 else ():
            if shown := MARKUP.search(text):
                found[f"shows {shown[0]!r} in {_short(text)!r}"] = None
        for what in seen["wide"]:
            found[f"{width} px: {what}"] = None
        for what in seen["pale"]:
            found[f"{scheme}: {what}"] = None
    return list(found)


def _short(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    return text if len(text) <= 90 else text[:90] + " …"
