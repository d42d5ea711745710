"""The pages that `docs/renew.py` writes are up to date; what a build makes is complete."""

import importlib
import sys

import pytest
import torch

from rankcheck.balls.array import FUNCTIONS
from rankcheck.balls.missing import INSTEAD
from rankcheck.claims.catalogue.collect import project

from .pages import DOCS

sys.path.insert(0, str(DOCS))
renew = importlib.import_module("renew")
forms, lists = map(importlib.import_module, ("ball_page", "lists"))


@pytest.mark.slow
def test_the_pages_are_up_to_date():
    for name, text in renew.pages().items():
        there = (DOCS / name).read_text(encoding="utf-8")
        assert there == text, f"{name} is out of date; run: python docs/renew.py"


def test_every_claim_and_every_erratum_is_listed():
    claims, errata = lists.claims(project()), (DOCS / "errata.md").read_text(encoding="utf-8")
    for entry in project():
        assert f"| `{entry.id}` |" in claims
        assert errata.count(f"`{entry.id}` (") >= len(entry.errata)
    assert errata.count("**Printed:**") == sum(len(entry.errata) for entry in project())


def test_every_function_of_balls_is_listed_under_its_name_in_torch():
    tables = forms.forms() + forms.instead()
    for name in [*FUNCTIONS, *INSTEAD]:
        if not name.startswith("__"):
            assert f"`{forms.spelled(name)}`" in tables
            place = torch
            for part in forms.spelled(name).split(".")[1:]:
                place = getattr(place, part)
    assert not set(INSTEAD) & set(FUNCTIONS)
    assert set(forms.NOTES) <= set(FUNCTIONS)
    assert {f.__module__.rpartition(".")[2] for f in FUNCTIONS.values()} == set(forms.CATEGORIES)
