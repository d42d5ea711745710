"""The pages that `docs/renew.py` writes are up to date, and complete."""

import importlib
import sys

import pytest
import torch

from rankcheck.balls.array import FUNCTIONS
from rankcheck.balls.missing import INSTEAD
from rankcheck.catalogue.collect import project

from .pages import DOCS

sys.path.insert(0, str(DOCS))
renew = importlib.import_module("renew")
NAMES = (
    "claims.md",
    "errata.md",
    "balls.md",
    "generators.md",
    "ledger.md",
    "oracles.md",
    "breaks.md",
)


@pytest.fixture(scope="module")
def pages():
    return renew.pages()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_up_to_date(name, pages):
    assert (DOCS / name).read_text(encoding="utf-8") == pages[name], "run: python docs/renew.py"
    assert {one for one in pages if one.endswith(".md")} == set(NAMES)


def test_every_claim_and_every_erratum_is_listed(pages):
    for entry in project():
        assert f"| `{entry.id}` |" in pages["claims.md"]
        assert pages["errata.md"].count(f"`{entry.id}` (") >= len(entry.errata)
    printed = sum(len(entry.errata) for entry in project())
    assert pages["errata.md"].count("**Printed:**") == printed


def test_every_function_of_balls_is_listed_under_its_name_in_torch(pages):
    forms = renew.ball_page
    for name in [*FUNCTIONS, *INSTEAD]:
        if not name.startswith("__"):
            assert f"`{forms.spelled(name)}`" in pages["balls.md"]
            place = torch
            for part in forms.spelled(name).split(".")[1:]:
                place = getattr(place, part)
    assert not set(INSTEAD) & set(FUNCTIONS)
    assert set(forms.NOTES) <= set(FUNCTIONS)
    assert {f.__module__.rpartition(".")[2] for f in FUNCTIONS.values()} == set(forms.CATEGORIES)
