"""The page of a sharpening: it says what the text says, and nothing in it is markup."""

from __future__ import annotations

import pytest

from rankcheck import leq
from rankcheck.faces.report import sharpening_page
from rankcheck.sharpen import sentences
from rankcheck.sharpen.run import sharpen
from tests.sharpen.made import STATES, odd

from .conftest import MARKUP
from .test_page import Page, assert_inert, words


def said(data) -> str:
    page = Page(sharpening_page(data))
    assert page.open == []
    assert "$" not in page.text
    return words(page.text)


@pytest.mark.parametrize("state", STATES)
def test_the_page_says_what_the_text_says(state):
    data = STATES[state]()
    text = said(data)
    assert sentences.closing(data)[1:] in text
    for one in data["relations"]:
        trend = sentences.trend(data["by"], one)
        for sentence in (sentences.headline(one), sentences.record(one), trend):
            assert sentence[1:] in text
    if data["dial"] is not None:
        assert sentences.frontier(data["dial"])[1:] in text


@pytest.mark.parametrize("state", STATES)
def test_every_ratio_of_a_page_is_one_of_the_json(state):
    """Shapes, values of a dial and growing instances, each with its number."""
    data = STATES[state]()
    text = said(data)
    ratios = [one["best"]["ratio"] for each in data["relations"] for one in each["by"]]
    probes = [] if data["dial"] is None else data["dial"]["probes"]
    ratios += [one["ratio"] for one in probes if one["ratio"] is not None]
    if state != "identity":  # where both sides agree, there is nothing to list
        assert all(sentences.shown(ratio) in text for ratio in ratios)
    for each in data["relations"]:
        for one in each["growing"][-4:]:
            assert f"{sentences.shown(one['ratio'], 6)} at" in text


def test_nothing_of_a_sharpening_is_markup_or_a_request():
    text = sharpening_page(odd(MARKUP + "\x1b[2J\x00\udc80"))
    assert_inert(text, 10)
    assert not [
        tag for tag, attributes in Page(text).tags if tag == "script" or "href" in attributes
    ]


def test_a_notebook_shows_the_result_of_a_search(declare, scalars, tmp_path):
    claim = declare(lambda x: leq(x.abs(), 2 * x.abs() + 1), scalars())
    result = sharpen(claim, budget=None, tasks=2, shrink=0.1, folder=tmp_path)
    part = Page(result._repr_html_())
    assert part.open == []
    assert sentences.headline(result.to_json()["relations"][0])[1:] in words(part.text)
    assert sentences.closing(result.to_json()) in words(part.text)
