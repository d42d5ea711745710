"""The page in headless Chromium: it renders, asks for nothing, filters, sorts, and fits a phone."""

from __future__ import annotations

import pytest

from rankcheck.audit.result import Audit
from rankcheck.catalogue.collect import project
from rankcheck.report import audit_page, ledger_page, sharpening_page
from tests.browsing import IN_A_BROWSER, SCREENS, chromium, faults
from tests.sharpen.made import STATES
from tests.sharpen.made import odd as odd_sharpening

from .audits import made_up, odd
from .conftest import MARKUP, REFUTED, bound
from .whole import whole

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

    def open_(shown, anchor="", **context):
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
        page.goto(f"{path.as_uri()}{anchor}")
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


def test_sorting(visit, many):
    """Each document by itself."""
    page, noted = visit(many)
    titles = sorted(f"Bound {n}" for n in range(199))

    def of_rank() -> list[str]:
        rows = page.locator("#claims .entry[data-document=rank] .what")
        return rows.all_text_contents()

    page.get_by_role("button", name="claim").click()
    assert of_rank() == titles
    page.get_by_role("button", name="claim").press("Enter")
    assert of_rank() == titles[::-1]
    assert page.locator("#heads [data-order=descending]").inner_text().startswith("claim")
    page.get_by_role("button", name="best").click()
    assert page.locator("#heads [data-order=ascending]").all_inner_texts() == ["best"]
    assert set(of_rank()) == set(titles)
    assert noted == []


def test_a_printer_gets_everything_unfolded(visit, many):
    page, _ = visit(many)
    closed = "document.querySelectorAll('details:not([open])').length"
    before = page.evaluate(closed)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert (page.evaluate(closed), before > 200) == (0, True)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(closed) == before


def test_a_deep_link_leads_to_the_claim(visit, many):
    page, _ = visit(many, anchor="#claim-bottleneck.kernel-as-printed")
    target = page.locator("details:target")
    assert target.get_attribute("id") == f"claim-{REFUTED.id}"
    assert target.locator("article").is_visible()
    box = target.bounding_box()
    assert 0 <= box["y"] < 720


def test_the_page_fits_phones_and_desks_and_is_legible(visit, ledger, rows):
    """By day and in the dark, with all its parts unfolded; the last row is made of markup."""
    page, _ = visit(ledger(*rows[:2]))
    assert faults(page) == []
    page, _ = visit(ledger(*rows))
    assert [fault for fault in faults(page) if not fault.startswith("shows")] == []


def test_the_page_of_the_whole_catalogue(visit):
    """What is wrong and the verdicts come first, and nothing is far; unfolded, everything fits."""
    page, noted = visit(whole(), viewport={"width": 1400, "height": 900})
    assert page.evaluate("document.documentElement.scrollHeight") <= 5_000
    assert page.locator("#wrong h3").first.bounding_box()["y"] < 900
    page.get_by_label("Text").fill("a")  # opens the documents
    assert page.evaluate("document.documentElement.scrollHeight") <= 70 * len(project())
    page.set_viewport_size({"width": 390, "height": 900})
    rows = page.locator("#claims .row .verdict").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().right)"
    )
    assert len(rows) > 200
    assert max(rows) < 390
    assert faults(page, SCREENS[:1]) == []
    assert noted == []


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize(
    "make",
    [
        *(made_up, lambda: odd(MARKUP), lambda: odd("a" * 300)),
    ],
)
def test_the_page_of_an_audit_fits_and_asks_for_nothing(visit, make, width):
    page, noted = visit(make(), viewport={"width": width, "height": 800}, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("img").count() == 0
    for chart in page.locator("svg.plot").all():
        box = chart.bounding_box()
        assert 300 < box["width"] <= width
        assert box["height"] > 100
    assert noted == []


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize(
    "make",
    [
        *(STATES[name] for name in ("loose", "refuted", "frontier")),
        lambda: odd_sharpening(MARKUP),
        lambda: odd_sharpening("a" * 300),
    ],
)
def test_the_page_of_a_sharpening_fits_and_asks_for_nothing(visit, make, width):
    page, noted = visit(make(), viewport={"width": width, "height": 800}, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for chart in page.locator("svg.plot").all():
        box = chart.bounding_box()
        assert 300 < box["width"] <= width
        assert box["height"] > 100
    assert noted == []


@pytest.mark.parametrize(
    "make",
    [
        made_up,
        *(STATES[name] for name in ("loose", "refuted", "frontier")),
    ],
)
def test_audits_and_sharpenings_show_no_markup_and_are_legible(visit, make):
    page, _ = visit(make())
    assert faults(page) == []
