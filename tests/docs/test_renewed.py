"""The pages that `docs/renew.py` writes are up to date, and complete."""

import importlib
import sys

import matplotlib
import pytest
import torch

from rankcheck.balls.array import FUNCTIONS
from rankcheck.balls.missing import INSTEAD
from rankcheck.catalogue.collect import project

from .pages import DOCS, PINNED

sys.path.insert(0, str(DOCS))
renew = importlib.import_module("renew")


def written(name):
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_pages_are_up_to_date():
    for name, text in renew.pages().items():
        if name.endswith(".md") or matplotlib.__version__ == PINNED:  # others draw other lines
            assert written(name) == text, f"{name} is out of date; run: python docs/renew.py"


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_a_page_begins_with_what_it_is_about(path):
    """That a program has written it stands at its end."""
    assert "renew.py" not in "\n".join(path.read_text(encoding="utf-8").splitlines()[:8])


def test_every_claim_and_every_erratum_is_listed():
    claims, errata = written("claims.md"), written("errata.md")
    for entry in project():
        assert f"| `{entry.id}` |" in claims
        assert errata.count(f"`{entry.id}` (") >= len(entry.errata)
    assert errata.count("**Printed:**") == sum(len(entry.errata) for entry in project())


def test_every_function_of_balls_is_listed_under_its_name_in_torch():
    forms, page = renew.ball_page, written("balls.md")
    for name in [*FUNCTIONS, *INSTEAD]:
        if not name.startswith("__"):
            assert f"`{forms.spelled(name)}`" in page
            place = torch
            for part in forms.spelled(name).split(".")[1:]:
                place = getattr(place, part)
    assert not set(INSTEAD) & set(FUNCTIONS)
    assert set(forms.NOTES) <= set(FUNCTIONS)
    assert {f.__module__.rpartition(".")[2] for f in FUNCTIONS.values()} == set(forms.CATEGORIES)
