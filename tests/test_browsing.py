"""What looks at pages sees each fault: a page with all of them, and the same page without."""

import pytest

from tests.browsing import IN_A_BROWSER, chromium, faults

pytestmark = IN_A_BROWSER

HEAD = """<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<style>:root { color-scheme: light dark } body { background: light-dark(#fff, #111);
color: light-dark(#111, #eee) } .box { overflow-x: auto } pre { margin: 0 }</style><main>"""
#: Of two words in a row, the second is beyond the edge of a phone.
FAR = "<b style='display: inline-block; width: 500px'>one</b><b>two</b>"
LONG = "<span style='display: inline-block; width: 700px'>a long formula</span>"
#: A fault, and the same thing as it should be.
PAIRS = {
    r"shows '\\_'": (r"<p>the norm ‖W‖\_F</p>", "<p>the norm ‖W‖_F</p>"),
    r"shows '\\f'": (r"<p>is \frac{1}{2}</p>", r"<p>is <code>\frac{1}{2}</code></p>"),
    r"shows '\\|'": (r"<p>\|x\| is small</p>", "<p>‖x‖ is small</p>"),
    "shows '$'": ("<p>of $x$</p>", "<p>of <math><mi>x</mi></math></p>"),
    "shows '**'": ("<p>a **bold** word</p>", "<p>x**2 is no markup</p>"),
    "shows '`'": ("<p>run `this`</p>", "<pre>run `this`</pre>"),
    "shows '{ref}`'": ("<p>see {ref}`here`</p>", "<p>the set {ref}</p>"),
    "shows ']('": ("<p>see [this](there.md)</p>", "<p>in [0, 1] (closed)</p>"),
    "shows '&lt;'": ("<p>a &amp;lt; b</p>", "<p>a &lt; b &amp; c</p>"),
    "shows '<sub>'": ("<p>x&lt;sub&gt;1&lt;/sub&gt;</p>", "<p>x<sub>1</sub>, a &lt; b</p>"),
    "folded `": ("<details><p>`folded`</p></details>", "<details><p>folded</p></details>"),
    "390 px: the page scrolls": (f"<p>{LONG}</p>", f"<p class='box'>{LONG}</p>"),
    "390 px: beyond the edge": (
        f"<p style='overflow: hidden; white-space: nowrap'>{FAR}</p>",
        f"<p style='overflow: auto; white-space: nowrap'>{FAR}</p>",
    ),
    "390 px: cut off": (
        "<p style='height: 1em; line-height: 1.5em; overflow: hidden'>one<br>two</p>",
        "<p style='height: 1em; overflow: auto'>one<br>two</p>",
    ),
    "light: contrast": (
        "<p style='color: light-dark(#aaa, #aaa)'>pale by day</p>",
        "<p style='color: light-dark(#666, #aaa)'>legible</p>",
    ),
    "dark: contrast": (
        "<p style='color: #06c'>dark blue</p>",
        "<p style='font-size: 24px; color: #27e'>large and blue</p>",
    ),
    "light: contrast <text>": (
        "<svg height='20'><text y='15' fill='light-dark(#ccc, #ccc)'>axis</text></svg>",
        "<svg height='20'><text y='15' style='fill: light-dark(#333, #ccc)'>axis</text></svg>",
    ),
}


@pytest.fixture(scope="module")
def page():
    with chromium() as browser:
        yield browser.new_page()


@pytest.mark.parametrize("fault", PAIRS)
def test_each_fault_is_seen_and_its_mend_is_none(page, fault):
    bad, good = PAIRS[fault]
    page.set_content(HEAD + bad)
    found = faults(page)
    wanted = fault.replace("folded ", "shows '").replace(" <text>", "")
    assert any(one.startswith(wanted) for one in found), found
    page.set_content(HEAD + good)
    assert faults(page) == []
