"""The pages of audits over time: what they say, that nothing is markup, that odd numbers fit."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from rankcheck.audit.result import GUESSED
from rankcheck.report import comparison_page, history_page
from rankcheck.report.charts.history import pictures

from .charts.conftest import parse
from .conftest import MARKUP
from .histories import assumed, checkpoint, comparison, history, odd
from .test_page import Page, words


def said(text):
    page = Page(text)
    assert page.open == []
    assert "$" not in page.text
    return words(page.text)


def test_what_the_page_of_a_history_says():
    found = history()
    text = said(history_page(found))
    for wanted in (
        "Audits of run over time",
        "6 checkpoints rank 2 at the last one 3.125 cost per layer 240 points",
        "state dict, depth 8, widths 10 → 20 (7 times) → 5, slope 0; in order by the number behind",
        "From step 0 to step 500 the cost falls from 50 to 25.",
        "The rank of Jf at most points is 4?, then 2; the last one since step 300",
        "step_0.pt 0 50 6.25 4? 100 % 3 18 18 45 10 % 0.5 2 1 0.5 3 7",
        "step_500.pt 500 25 3.125 2 0 % 80 9 18 22.5 10 % 0.5 2 1 0.001 3 7",
        "skipped: optimizer.pt: 'state' is of the type dict",
        "no theorem was evaluated",
    ):
        assert wanted in text, wanted
    assert GUESSED not in text
    page = history_page(assumed(found))
    assert page.index("<h1>") < page.index(GUESSED) < page.index('class="totals"')


def test_without_data_there_is_nothing_of_data():
    text = said(history_page(history(data=False))).rpartition("}")[2]
    assert "rank of most layers" in text
    for absent in ("Jf", " points", "undecided", "Jacobian", "dead"):
        assert absent not in text, absent


def test_what_the_page_of_a_comparison_says():
    text = said(comparison_page(comparison()))
    for wanted in (
        "From step_200.pt to step_500.pt",
        "cost ‖θ‖²30 25 −5 (−16.7 %)",
        "rank k of Jf at most points4? 2 −2",
        "points of undecided rank100 % 0 % −100 pp",
        "On 240 points they differ by at most 0.75, 0.25 of the largest output, at point 17;",
        "in mean square by 0.125. The largest output is another one at 3 of 240 points.",
        "excess ‖θ‖² − kL−2 9 +11 least",
        "layers.2 0.5 2 1.5 layers.0 0 1",
        "The networks are of two kinds: one; two.",
    ):
        assert wanted in text, wanted
    bare = said(comparison_page(comparison(difference=None, moved=(), notes=())))
    assert "The functions" not in bare
    assert "The layers" not in bare


@pytest.mark.parametrize("page", [history_page, comparison_page])
def test_nothing_is_markup_or_a_request(page):
    shown = odd(MARKUP + "\x1b[2J\x00\udc80")[page is comparison_page]
    text = page(shown)
    text.encode()
    assert not set("\x1b\x00") & set(text)
    page = Page(text)
    assert page.text.count(MARKUP) > 5
    assert not {"img", "script", "iframe", "object", "embed", "link"} & {t for t, _ in page.tags}
    for tag, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert not {"src", "srcset", "style", "action", "href"} & set(attributes)


def test_a_notebook_shows_the_same():
    for shown, page in ((history(), history_page), (comparison(), comparison_page)):
        part = shown._repr_html_()
        assert part.startswith('<div class="rankcheck audit"><style>')
        assert Page(part).open == []
        whole = words(Page(page(shown)).text)
        assert words(Page(part).text.rpartition("}\n")[2])[-900:] == whole[-900:]


@pytest.fixture(scope="module")
def drawn():
    return {one.name: one for one in pictures(history())}


def test_the_curves_are_those_of_the_figures(drawn):
    """Every cost is read back from the picture, the rank with its open dots."""
    drawing = parse(drawn["costs"].svg)
    step, value = drawing.scale("x", (0, "0"), (500, "500")), drawing.scale(
        "y", (0, "0"), (40, "40")
    )  # fmt: skip
    for series, name in ((1, "cost"), (2, "balanced"), (3, "least_cost")):
        shown = [(step(x), value(y)) for x, y in drawing.series("line", series)]
        wanted = [one for pair in history().curve(name) for one in pair]
        assert [one for pair in shown for one in pair] == pytest.approx(wanted, abs=1)
    ranks = parse(drawn["ranks"].svg)
    assert len(ranks.all("path", "ring", "s2")) == 3  # the first three are undecided
    assert len(ranks.all("path", "spot", "s2")) == 3
    tips = [e.text for e in ranks.all("title")]
    assert "rank of Jf 4?, step 100" in tips
    assert list(drawn) == ["costs", "ranks", "values", "excess", "shares"]
    bare = pictures(history(data=False))
    assert [one.name for one in bare] == ["costs", "ranks", "excess", "shares"]


def test_steps_that_are_crowded_are_drawn_evenly():
    steps = (0, 1, 2, 4, 8, 16, 1000)
    drawing = parse(pictures(history(steps))[0].svg)
    ticks = [text for text, _, y in drawing.texts() if text in map(str, steps)]
    assert set(map(str, steps)) <= set(ticks)
    places = [x for x, _ in drawing.series("line", 1)]
    apart = {round(b - a) for a, b in pairwise(places)}
    assert max(apart) - min(apart) <= 1


EXTREMES = {
    "one": history((7,)),
    "nothing": history((), words=()),
    "many": history(range(0, 200_000, 100)),
    "no steps": history(checkpoints=(replace(checkpoint(0), step=None),) * 3),
    "one step twice": history((5, 5, 6)),
    "zero": history(
        checkpoints=tuple(
            checkpoint(n, figures=dict.fromkeys(checkpoint(0).figures, 0.0)) for n in (1, 2)
        )
    ),
    "huge": history(
        checkpoints=tuple(
            checkpoint(n, figures=dict.fromkeys(checkpoint(0).figures, 10.0 ** (150 * n)))
            for n in (-1, 0, 1)
        )
    ),
    "below": history(
        checkpoints=tuple(
            replace(one, figures={**one.figures, "excess": -5.0 * one.step})
            for one in map(checkpoint, (0, 1, 2))
        )
    ),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_odd_numbers_have_a_page(name):
    text = history_page(EXTREMES[name])
    assert Page(text).open == []
    assert not re.search(r'd="[^"]*(nan|inf)', text)
    assert len(text) < 4_000_000
