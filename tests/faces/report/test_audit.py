"""The page of an audit: what it says, that nothing in it is markup, and that odd numbers fit."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from rankcheck.audit.result import BoundByRank, Quantiles
from rankcheck.faces.report import audit_page
from rankcheck.faces.report.notebook import html

from .audits import DEPTH, made_up, odd
from .conftest import MARKUP
from .test_page import Page, assert_inert, words


def test_what_a_page_says():
    audit = made_up()
    page = Page(audit_page(audit))
    assert page.open == []
    said = words(page.text)
    for wanted in (
        "‖θ‖² = 17.75;",
        "1 at 16 points, 2 at 220 points, 3 at 4 points; undecided at 4.",
    ):
        assert wanted in said, wanted
    order = [said.index(one.title, said.index("Theorems")) for one in audit.theorems]
    fails, undecided, holds, large, other = order[4], order[2], order[0], order[3], order[1]
    assert fails < undecided < holds < large < other
    assert len(page.all("id")) == len(set(page.all("id")))
    assert "$" not in page.text


def test_nothing_of_an_audit_is_markup_or_a_request():
    text = audit_page(odd(MARKUP + "\x1b[2J\x00\udc80"))
    assert_inert(text, DEPTH)
    assert not [
        tag for tag, attributes in Page(text).tags if tag == "script" or "href" in attributes
    ]


def test_a_notebook_shows_the_same():
    shown = made_up()._repr_html_()
    assert shown == html(made_up())
    assert shown.startswith('<div class="rankcheck audit"><style>')
    whole, part = Page(audit_page(made_up())), Page(shown)
    assert part.open == []
    assert words(part.text.rpartition("}\n")[2])[-1000:] == words(whole.text)[-1000:]


def extremes():
    """Audits with numbers at the ends of what occurs, by name."""
    usual = made_up()
    assert usual.data is not None
    first = usual.layers[0]
    zero = replace(first, singular_values=(0.0,) * 10, weights=0.0, bias=0.0, distance=0.0)
    huge = replace(first, singular_values=(1e150, 1.0, 1e-150), weights=1e300)
    none = Quantiles(0.0, 0.0, 0.0, 0.0, 0.0)
    bare = replace(usual.data, points=1, ranks={0: 1}, gaps=None, singular_values=(none,),
                   bounds=(BoundByRank(0, 1, 0.0, 0.0),))  # fmt: skip
    wide = replace(first, singular_values=tuple(1 / n for n in range(1, 800)))
    thin = replace(usual.model, depth=1, widths=(1, 1), folded=(), assumed=())
    return {
        "zero": replace(usual, rank=0, layers=(zero,) * 2, model=thin, data=bare),
        "huge": replace(usual, layers=(huge,) * 3),
        "one layer": replace(usual, layers=(first,), model=thin),
        "deep": replace(usual, layers=(wide,) * 200, theorems=usual.theorems * 20),
        "names of nothing": replace(
            usual, name="", words=(), layers=(replace(first, name=""),), versions={}
        ),
    }


@pytest.mark.parametrize("name", extremes())
def test_odd_numbers_have_a_page(name):
    text = audit_page(extremes()[name])
    assert Page(text).open == []
    assert not re.search(r'd="[^"]*(nan|inf)', text)
    assert len(text) < 1_500_000
