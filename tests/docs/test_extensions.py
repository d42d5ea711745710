"""What the build of the documentation generates; Sphinx is needed, which `.[docs]` installs."""

import html
import importlib
import re
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rankcheck.claims.catalogue.collect import project
from tests.browsing import CHROMIUM, SCREENS, chromium, faults
from tests.markup import MARKUP

from .pages import DOCS, GENERATED

pytest.importorskip(
    "sphinx", reason="Sphinx is not installed; pip install -c constraints.txt -e '.[docs,test]'"
)


@pytest.fixture
def extension(monkeypatch):
    """`extension(name)`: a module of docs/_ext."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    return importlib.import_module


def test_every_exported_name_is_described(extension):
    api = extension("api")
    for room in api.ROOMS[1:]:
        module = importlib.import_module(room)
        text = api.room_page(room)
        for name in getattr(module, "__all__", ()):
            found = re.findall(rf"^``````\{{py:\w+\}} {name}(?=[(\n])", text, re.MULTILINE)
            assert len(found) == 1, (room, name)


def test_a_name_of_the_front_door_is_described_once(extension):
    """Two descriptions are two targets, between which Sphinx cannot choose."""
    api = extension("api")
    text = "\n".join(map(api.room_page, api.ROOMS))
    for name in importlib.import_module(api.FRONT).__all__:
        found = re.findall(rf"^``````\{{py:\w+\}} {name}(?=[(\n])", text, re.MULTILINE)
        assert len(found) == (not name.startswith("_")), name


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("‖W‖_F² ≤ c_1 − |Jf|_+ and *not* ‖V‖_F", "‖W‖_F² ≤ c_1 − |Jf|_+ and not ‖V‖_F"),
        ("f^* ≤ g^* of x**2, (*B, n) and (*B)", "f^* ≤ g^* of x**2, (*B, n) and (*B)"),
        ("a < b, <b>, see [0, 1](x) at 2 $", "a < b, <b>, see [0, 1](x) at 2 $"),
        ("`a_b*c` and **both:** two", "a_b*c and both: two"),
    ],
)
def test_text_is_shown_as_it_is_written(extension, text, shown):
    """markdown-it, which MyST is built on, reads the escaped text."""
    page = (
        importlib.import_module("markdown_it").MarkdownIt().render(extension("written").plain(text))
    )
    assert html.unescape(re.sub(r"<[^>]+>", "", page)).strip() == shown


class Prose(HTMLParser):
    """What a reader of a page sees, but for code, formulas and signatures."""

    LEFT_OUT = ("code", "pre", "math", "script", "style", "svg", "dt")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.inside: Counter[str] = Counter()
        self.text, self.emphasised = "", ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.inside[tag] += 1

    def handle_endtag(self, tag):
        self.inside[tag] -= 1

    def handle_data(self, data):
        if not any(self.inside[tag] for tag in self.LEFT_OUT):
            self.text += data
            self.emphasised += data if self.inside["em"] else ""


#: What Sphinx makes of quotes, dashes and dots.
TYPESET = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "…": "...", "–": "-", "—": "-"})


def assert_no_page_shows_markup(site: Path) -> None:
    """No page does, and the errata stand there letter for letter: an index may open emphasis."""
    for page in site.rglob("*.html"):
        assert MARKUP.findall(Prose(page.read_text(encoding="utf-8")).text) == [], page
    wrong = (site / "errata.html").read_text(encoding="utf-8")
    assert re.search(r'<svg [^>]*class="network"', wrong)  # in the colours of the page
    errata = Prose(wrong)
    assert errata.emphasised == ""
    said = " ".join(errata.text.translate(TYPESET).split())
    for entry in project():
        for erratum in entry.errata:
            for text in (erratum.printed, erratum.right, erratum.survives):
                if "$" not in text:
                    assert " ".join(text.translate(TYPESET).split()) in said


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages as Sphinx builds them, without a warning."""
    folder = tmp_path_factory.mktemp("site")
    options = ["-W", "--keep-going", "-q", "-b", "html", "-d", str(folder / "doctrees")]
    made = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, str(DOCS), str(folder / "html")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (made.returncode, made.stderr) == (0, "")
    return folder / "html"


@pytest.mark.slow
def test_the_build_has_no_warnings_and_fetches_nothing(site):
    for entry in project():
        assert (site / "claims" / f"{entry.id}.html").is_file()
    loaded = '<script src="http', '<link rel="stylesheet" href="http', '<img src="http', "@import"
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "<!-- made: " not in text, page
        assert not [sign for sign in loaded if sign in text], page
    assert "<math" in (site / "claims" / "rank.sandwich.html").read_text(encoding="utf-8")
    assert_no_page_shows_markup(site)
    assert all((DOCS / name).is_dir() for name in GENERATED if name != "_build")


def test_what_is_made_stands_in_one_page_each(extension):
    """But for tables of records, which have claims as their arguments."""
    text = "".join(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))
    named = re.findall(r"^<!-- made: ([\w-]+) -->$", text, re.MULTILINE)
    assert sorted([*named, "records-of"]) == sorted(extension("made").MAKERS)
    with pytest.raises(KeyError, match="no-such-part"):
        extension("made").filled("<!-- made: no-such-part -->")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed; .ci/browser installs it")
def test_every_page_fits_phones_and_desks_and_is_legible(site):
    """In the dark and by day; of the pages of claims, which one template makes, every twentieth."""
    claims = sorted((site / "claims").glob("*.html"))
    pages = sorted({*site.rglob("*.html")} - {*claims}) + claims[::20]
    with chromium() as browser:
        page, found = browser.new_page(), {}
        for path in pages:
            page.goto(path.as_uri())
            if wrong := faults(page, SCREENS[:2]):
                found[path.relative_to(site).as_posix()] = wrong
    assert found == {}
