"""The pages as text: what they say, and that nothing in a ledger becomes markup or a request."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

import rankcheck
from rankcheck.claims.catalogue.selection import select
from rankcheck.claims.counterexample import Counterexample, Step
from rankcheck.engine.verification.counts import Counts
from rankcheck.engine.verification.ledger import (
    Row,
    Scope,
)
from rankcheck.faces.report import ledger_page
from rankcheck.faces.report.page import fragment

from .conftest import MARKUP, REFUTED, bound

VOID = {"meta", "input", "br", "img", "link", "hr"}


class Page(HTMLParser):
    """The tags of a page, its ids, its links, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag in ("dt", "dd", "td", "p"):
            self.text += " "

    def handle_data(self, data):
        self.text += data

    def all(self, name):
        """The values of an attribute."""
        return [attributes[name] for _, attributes in self.tags if name in attributes]


def words(text: str) -> str:
    return " ".join(text.split())


def assert_inert(text: str, markup: int) -> None:
    """Nothing of the data is markup, a request, or a control character; it is there as text."""
    text.encode()
    assert not set("\x1b\x00") & set(text)
    page = Page(text)
    assert page.text.count(MARKUP) >= markup
    assert not {"img", "iframe", "object", "embed", "link"} & {tag for tag, _ in page.tags}
    for tag, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert not {"src", "srcset", "style", "action"} & set(attributes)


def test_a_ledger_with_its_claims(ledger):
    scope = Scope(3, shapes=1, complete=True, text="all", counts=Counts(81))
    text = ledger_page(ledger(bound(scope=scope), REFUTED))
    page = Page(text)
    assert page.open == []
    assert {"claim-rank.bound-000", "claim-bottleneck.kernel-as-printed"} <= set(page.all("id"))
    assert "5 081 instances. Enumerated: all. 2 of 2 mutants killed" in words(page.text)
    assert len(page.all("id")) == len(set(page.all("id")))


def test_a_refutation_says_what_is_wrong_and_why_to_believe_it(ledger):
    said = words(Page(ledger_page(ledger(bound(), REFUTED))).text)
    part = said[said.rindex("Prop. 9/18 of bottleneck") :]
    for wanted in (
        "lhs 2 > rhs 1 by 0.99 (proved, 128-bit balls)",
        "for large L only chains of unit weights have the derivative L",
        "Corrected by rank.bound-000",
        "rankcheck replay properties/bottleneck/certificates/bottleneck.kernel-as-printed.json",
    ):
        assert wanted in part, wanted


def test_a_counterexample_shows_its_network_its_sides_and_the_names_in_the_body(ledger):
    """They are the lines of a message."""
    found = Counterexample(
        label="",
        kind="leq",
        lhs="2",
        rhs="1",
        excess="1",
        texts=("2 * size", "derivative"),
        entry=(1,),
        entries=3,
        description="depth 1, slope 0, W_1 = [[3/2]], b_1 = [0], x = [2]",
        family="f()",
        bits=128,
        steps=(
            Step("J", "net.jacobian(x)", "[[3/2]]"),
            Step("size", "", "≈ 1.41421"),
        ),
    )
    text = ledger_page(ledger(replace(REFUTED, counterexample=found)))
    said = words(Page(text).text)
    assert '<svg class="network"' in text
    assert " ".join("\n".join(found.lines("counterexample", "proved")).split()) in said
    assert "J = [[3/2]]; size = ≈ 1.41421" in said


def test_a_page_names_no_folder_of_the_machine_that_wrote_it(ledger):
    """Neither do the tracebacks of a claim that failed, nor a certificate in another folder."""
    raised = 'File "/home/me/work/mine.py", line 3, in test_it\nValueError: 1/2 < 3/4'
    failed = bound(verdict="failed", messages=(raised,), certificate="/home/me/t.a.json")
    installed = "/opt/venv/lib/site-packages/rankcheck/_properties/rank/certificates/t.json"
    [entry] = select(["rank.sandwich"])
    text = ledger_page(
        ledger(failed, replace(REFUTED, certificate=installed), Row.of(entry, "holds")),
        [replace(entry, file=Path("/opt/venv/rankcheck/_properties/rank/sandwich.py"))],
    )
    assert "/home/" not in text
    assert "/opt/" not in text
    said = words(Page(text).text)
    assert 'File "mine.py", line 3, in test_it ValueError: 1/2 < 3/4' in said
    assert "rankcheck replay properties/rank/certificates/t.json" in said
    assert "File: properties/rank/sandwich.py:" in said


def test_links_lead_to_parts_of_the_page(ledger, rows):
    page = Page(ledger_page(ledger(*rows)))
    ids = set(page.all("id"))
    for link in page.all("href"):
        assert link.startswith("#")
        assert unquote(link[1:]) in ids, link


def test_nothing_of_a_ledger_is_markup_or_a_request(ledger, rows):
    assert_inert(ledger_page(ledger(*rows)), 1)
    page = Page(ledger_page(ledger(*rows)))
    assert [tag for tag, _ in page.tags].count("script") == 1
    [policy] = [
        a["content"] for t, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")


def test_every_formula_of_the_catalogue_is_typeset():
    entries = select([])
    page = fragment([Row.of(entry, "cited") for entry in entries], verified=False)
    assert 'class="tex"' not in page
    assert page.count("<math") > 5 * len(entries)
    assert "$" not in "".join(re.findall(r'<div class="statement">(.*?)</div>', page, re.DOTALL))
    assert len(page.encode()) < 2_000_000


def test_what_a_notebook_shows(ledger, rows, declare, scalars):
    claim = declare(lambda x: None, scalars(), statement="$\\beta$")
    for shown in (ledger(*rows), rows[0], claim):
        html = shown._repr_html_()
        assert Page(html).open == []
        assert "<script" not in html
    assert "<mi>β</mi>" in claim._repr_html_()


@pytest.mark.parametrize(
    ("file", "selector"),
    [
        ("properties/rank/bound.py", "rank.bound-000"),
        ("", "rank.bound-000"),
        ("mine/claims.py", "mine/claims.py::rank.bound-000"),
        ("my claims.py", "'my claims.py::rank.bound-000'"),
        ("/tmp/ipykernel_7/1234.py", None),
        ("<ipython-input-3-0f1e>", None),
        ("<stdin>", None),
    ],
)
def test_a_command_that_is_offered_finds_the_claim(rows, file, selector, monkeypatch):
    monkeypatch.chdir(Path(rankcheck.__file__).parents[1])
    html = replace(rows[0], file=file)._repr_html_()
    offered = re.findall(r"<code>rankcheck verify (.*?)</code>", html)
    assert [unescape(one) for one in offered] == ([] if selector is None else [selector])
