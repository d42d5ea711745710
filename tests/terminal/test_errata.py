"""Texts of the list of errata are shown as they are written, by CommonMark and as on GitHub."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from rankcheck.catalogue.collect import project
from rankcheck.terminal.errata import markdown, plain

READERS = {
    "commonmark": MarkdownIt("commonmark"),
    "github": MarkdownIt("commonmark").enable(["strikethrough", "table"]),
    "formulas": MarkdownIt("commonmark").use(dollarmath_plugin, renderer=lambda f, _: f"${f}$"),
}


def shown(text: str, reader: str) -> str:
    """What a reader sees."""
    html = READERS[reader].renderInline(text)
    assert not re.search(r"<(?!/?(span|div)\b)", html), html
    return unescape(re.sub(r"<[^>]*>", "", html))


def words(text: str) -> str:
    return " ".join(text.split())


def texts():
    """Every text of an entry of the list."""
    for entry in project():
        for erratum in entry.errata:
            yield from (erratum.printed, erratum.right, erratum.survives, erratum.place or "")
        if entry.errata:
            yield from (*entry.readings, *entry.readings.values(), entry.result or "")


def test_the_texts_of_the_list():
    found = list(texts())
    assert len(found) > 300
    for text in found:
        reader = "formulas" if "$" in text else "commonmark"
        assert words(shown(plain(text), reader)) == words(text)
    # As they are, many of them are not.
    marked = [text for text in found if "<" in READERS["commonmark"].renderInline(text)]
    assert len(marked) > 10


@pytest.mark.parametrize("reader", ["commonmark", "github"])
@given(st.text("_*`~<>[]()&;#!\\|{}^/ab1 ‖é+", max_size=12))
@example("~~a~~")
@example("[a](b)")
@example("&amp; <a> <!--")
def test_any_text_is_shown_as_it_is(reader, text):
    assert words(shown(plain(text), reader)) == words(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$x_k$ and ‖_F, ‖_F", r"$x_k$ and ‖\_F, ‖\_F"),
        ("$$a_*$$ *b*", r"$$a_*$$ \*b\*"),
        ("5 $ or 6", r"5 \$ or 6"),
        ("c_1, snake_case", "c_1, snake_case"),
        ("two\n\nlines", "two lines"),
    ],
)
def test_formulas_and_names_stay(text, expected):
    assert plain(text) == expected


def test_nothing_but_the_frame_of_the_list_is_emphasised():
    html = READERS["formulas"].render(markdown(project()))
    assert "<em>" not in html
    strong = set(re.findall("<strong>(.*?)</strong>", html))
    frame = {"Printed:", "Right:", "How we know:", "Read as", "The result:", "What survives:"}
    assert strong == frame
