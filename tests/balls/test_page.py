"""docs/balls.md is up to date, and what it advises instead of missing functions exists."""

from pathlib import Path

import torch

from rankcheck.balls import page
from rankcheck.balls.array import FUNCTIONS
from rankcheck.balls.missing import INSTEAD

PAGE = Path(__file__).parents[2] / "docs" / "balls.md"


def test_the_page_is_that_of_the_code():
    assert PAGE.read_text(encoding="utf-8") == page.page(), (
        "docs/balls.md is out of date: python -m rankcheck.balls.page > docs/balls.md"
    )


def test_every_function_is_on_the_page():
    text = page.page()
    for name in FUNCTIONS:
        if not name.startswith("__"):
            assert f"`{page.spelled(name)}`" in text


def test_names_are_those_of_torch():
    for name in [*FUNCTIONS, *INSTEAD]:
        if name.startswith("__"):
            continue
        place, spelled = torch, page.spelled(name).split(".")
        for part in spelled[1:]:
            place = getattr(place, part)
    assert page.spelled("linalg_eigh") == "torch.linalg.eigh"
    assert page.spelled("special_log1p") == "torch.special.log1p"
    assert page.spelled("leaky_relu") == "torch.nn.functional.leaky_relu"
    assert page.spelled("double") == "torch.Tensor.double"


def test_what_is_missing_is_missing():
    assert not set(INSTEAD) & set(FUNCTIONS)
    assert set(page.NOTES) <= set(FUNCTIONS)
    modules = {f.__module__.rpartition(".")[2] for f in FUNCTIONS.values()}
    assert modules == set(page.CATEGORIES)
