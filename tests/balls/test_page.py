"""docs/balls.md is up to date, and what it advises instead of missing functions exists."""

from pathlib import Path

import pytest
import torch

from rankcheck.balls.array import FUNCTIONS
from rankcheck.balls.missing import INSTEAD

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    import ball_page  # type: ignore[import-not-found]

    return ball_page


def test_the_page_is_that_of_the_code(page):
    assert (DOCS / "balls.md").read_text(encoding="utf-8") == page.page(), (
        "docs/balls.md is out of date: python docs/_ext/ball_page.py > docs/balls.md"
    )
    for name in FUNCTIONS:
        assert name.startswith("__") or f"`{page.spelled(name)}`" in page.page()


def test_names_are_those_of_torch(page):
    for name in [*FUNCTIONS, *INSTEAD]:
        if not name.startswith("__"):
            place, spelled = torch, page.spelled(name).split(".")
            for part in spelled[1:]:
                place = getattr(place, part)


def test_what_is_missing_is_missing(page):
    assert not set(INSTEAD) & set(FUNCTIONS)
    assert set(page.NOTES) <= set(FUNCTIONS)
    modules = {f.__module__.rpartition(".")[2] for f in FUNCTIONS.values()}
    assert modules == set(page.CATEGORIES)
