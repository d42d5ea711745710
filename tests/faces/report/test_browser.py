"""Pages in headless Chromium: they render, ask for nothing, filter, and fit a phone."""

from __future__ import annotations

import pytest

from rankcheck.audit.result import Audit
from rankcheck.faces.report import audit_page, ledger_page, sharpening_page
from tests.browsing import IN_A_BROWSER, chromium, faults
from tests.sharpen.made import STATES
from tests.sharpen.made import odd as odd_sharpening

from .audits import made_up, odd
from .conftest import MARKUP, REFUTED, bound

pytestmark = IN_A_BROWSER


@pytest.fixture(scope="module")
def browser():
    """Chromium."""
    with chromium() as opened:
        yield opened


@pytest.fixture
def visit(browser, tmp_path):
    """`visit(shown, **context)`: the opened page, and what went wrong or was asked for."""
    contexts = []

    def open_(shown, **context):
        path = tmp_path / "page.html"
        if isinstance(shown, Audit):
            text = audit_page(shown)
        else:
            text = sharpening_page(shown) if isinstance(shown, dict) else ledger_page(shown)
        path.write_text(text, encoding="utf-8")
        contexts.append(browser.new_context(**context))
        page, noted = contexts[-1].new_page(), []
        page.on("console", lambda message: noted.append(message.text))
        page.on("pageerror", lambda error: noted.append(str(error)))
        page.on("dialog", lambda dialog: noted.append(dialog.message))
        page.on("request", lambda request: noted.append(request.url))
        page.goto(path.as_uri())
        assert noted.pop(0).startswith(path.as_uri())
        return page, noted

    yield open_
    for context in contexts:
        context.close()


def shown(page) -> list[str]:
    """The ids in the list of claims, as they stand."""
    return page.eval_on_selector_all(
        "#claims .entry:not([hidden])", "rows => rows.map(row => row.dataset.id)"
    )


@pytest.fixture
def many(ledger):
    """Two hundred claims."""
    rows = [bound(n, title=f"Bound {n}") for n in range(199)]
    return ledger(*rows, REFUTED)


def test_it_renders_and_asks_for_nothing(visit, many):
    page, noted = visit(many)
    assert page.title() == "The ledger of 200 claims"
    assert len(shown(page)) == 200
    refuted = page.locator("#claim-bottleneck\\.kernel-as-printed")
    assert refuted.locator("article").is_hidden()
    refuted.locator("summary").first.press("Enter")
    box = refuted.locator(".statement math").bounding_box()
    assert box["width"] > 30
    assert box["height"] > 10
    assert noted == []


def test_the_filter_and_the_keyboard(visit, many):
    page, noted = visit(many)
    page.keyboard.press("Tab")
    page.get_by_label("Text").focus()
    page.keyboard.type("prop. 9/18 kernel")
    assert shown(page) == [REFUTED.id]
    assert page.locator("#claims .entry:visible").count() == 1
    assert page.locator("#f-count").inner_text() == "1 of 200 claims"
    page.get_by_label("Text").fill("nothing has this")
    assert page.locator("#none").is_visible()
    page.get_by_label("Text").fill("")
    page.get_by_label("Verdict").select_option("refuted")
    assert shown(page) == [REFUTED.id]
    # A link to a claim that is filtered out shows it.
    page.evaluate("location.hash = 'claim-rank.bound-003'")
    page.wait_for_function("document.querySelectorAll('.entry:not([hidden])').length > 100")
    assert page.locator("#claim-rank\\.bound-003 article").is_visible()
    assert noted == []


def test_the_page_fits_phones_and_desks_and_is_legible(visit, ledger, rows):
    """By day and in the dark, with all its parts unfolded; the last row is made of markup."""
    page, _ = visit(ledger(*rows[:2]))
    assert faults(page) == []
    page, _ = visit(ledger(*rows))
    assert [fault for fault in faults(page) if not fault.startswith("shows")] == []


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize(
    "make",
    [
        *(made_up, lambda: odd(MARKUP), lambda: odd("a" * 300)),
        *(STATES[name] for name in ("loose", "refuted", "frontier")),
        *(lambda: odd_sharpening(MARKUP), lambda: odd_sharpening("a" * 300)),
    ],
)
def test_a_page_of_its_own_fits_and_asks_for_nothing(visit, make, width):
    page, noted = visit(make(), viewport={"width": width, "height": 800}, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("img").count() == 0
    for chart in page.locator("svg.plot").all():
        box = chart.bounding_box()
        assert 300 < box["width"] <= width
        assert box["height"] > 100
    assert noted == []


@pytest.mark.parametrize(
    "make",
    [made_up, *(STATES[name] for name in ("loose", "refuted", "frontier"))],
)
def test_audits_and_sharpenings_show_no_markup_and_are_legible(visit, make):
    page, _ = visit(make())
    assert faults(page) == []
