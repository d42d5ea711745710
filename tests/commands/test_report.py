"""rankcheck report, show --html and export, on good and bad input."""

import json
from pathlib import Path

import pytest

from rankcheck import files
from rankcheck.catalogue.collect import project_folder
from rankcheck.commands.cli import main
from rankcheck.verification.ledger import Ledger, Row, read_ledger

CERTIFICATE = project_folder() / "rank" / "certificates" / "rank.cross-example-as-printed.json"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def written():
    """A ledger of two rows, in ledger.json."""
    rows = [
        Row(id="rank.sandwich", title="S", kind="bound", verdict="holds", statement="$x$"),
        Row(id="rank.constant-cost", title="C", kind="bound", verdict="failed", messages=("m",)),
    ]
    Ledger.of(rows, profile="quick", seed=0, seconds=1.0).write(Path("ledger.json"))
    return Path("ledger.json")


def test_a_page_from_a_ledger(written, capsys):
    assert main(["report", "--ledger", "ledger.json"]) == 0
    assert capsys.readouterr().out == "page: rankcheck-report.html\n"
    page = Path("rankcheck-report.html").read_text(encoding="utf-8")
    assert files.GENERATOR in page
    assert "rank.sandwich" in page
    assert "Not as expected" in page
    assert main(["report", "rank.sandwich", "--ledger", "ledger.json"]) == 0  # it is replaced
    assert "rank.constant-cost" not in Path("rankcheck-report.html").read_text(encoding="utf-8")


def test_the_badge_of_a_ledger(written, capsys):
    options = ["--ledger", "ledger.json", "--badge", "b.json"]
    assert main(["report", *options]) == 0
    assert capsys.readouterr().out == "page: rankcheck-report.html\nbadge: b.json\n"
    assert json.loads(Path("b.json").read_text(encoding="utf-8"))["color"] == "red"
    assert main(["report", "rank.sandwich", *options]) == 0
    assert json.loads(Path("b.json").read_text(encoding="utf-8"))["color"] == "brightgreen"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--badge", "mine.json"], "mine.json: it exists and is not a badge of rankcheck"),
        (["--badge", "ledger.json"], "ledger.json: it exists and is not a badge of rankcheck"),
        (["--badge", "no/b.json"], "cannot write to no/b.json: the folder no does not exist"),
        (["--badge", "folder.json"], "cannot write to folder.json: it is a folder"),
        (["--badge", "./b.json", "--out", "b.json"], "the page and the badge have a file each"),
    ],
)
def test_a_badge_replaces_no_other_file(written, capsys, arguments, said):
    Path("mine.json").write_text("{}")
    Path("folder.json").mkdir()
    before = written.read_bytes()
    assert main(["report", "--ledger", "ledger.json", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert written.read_bytes() == before
    assert Path("mine.json").read_text() == "{}"
    assert not {Path("b.json"), Path("rankcheck-report.html")} & set(Path().iterdir())


def test_without_a_ledger_the_claims_are_verified(monkeypatch, capsys):
    made = []

    def ledger(self, shown):
        made.append([entry.id for entry in self.entries])
        row = Row.of(self.entries[0], "failed", messages=("broken",))
        return Ledger.of([row], profile="quick", seed=0, seconds=1.0)

    monkeypatch.setattr("rankcheck.commands.verify.Run.ledger", ledger)
    assert main(["report", "rank.sandwich", "--out", "a.html"]) == 1
    assert made == [["rank.sandwich"]]
    assert "broken" in Path("a.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_claim_is_verified_and_shown():
    assert main(["report", "rank.relu-from-leaky", "--workers", "1"]) == 0
    page = Path("rankcheck-report.html").read_text(encoding="utf-8")
    assert "with the change <q>the sign as printed</q> it fails" in page
    ledger = Path("l.json")
    assert main(["verify", "rank.relu-from-leaky", "--workers", "1", "--json", str(ledger)]) == 0
    [row] = read_ledger(ledger).rows
    assert "x = " in row.broken_by["the sign as printed"]
    assert sum(row.relations[0].spread) > 10_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--ledger", "none.json"], "no ledger can be read from none.json: No such file"),
        (["--ledger", "."], "no ledger can be read from .: Is a directory"),
        (["--ledger", "other.json"], "other.json is JSON, but no ledger"),
        (["rank.no-such", "--ledger", "ledger.json"], "rank.no-such"),
        (
            ["rank.bijections", "--ledger", "ledger.json"],
            "the ledger has no row of rank.bijections",
        ),
        (["--ledger", "ledger.json", "--out", "mine.html"], "it exists and is not a page of"),
        (
            ["--ledger", "ledger.json", "--out", "a.py"],
            "a page of rankcheck is HTML, and this is a",
        ),
        (["--ledger", "ledger.json", "--out", "no/a.html"], "the folder no does not exist"),
        (["--ledger", "ledger.json", "--out", "."], "it is a folder"),
        (["--ledger", "ledger.json", "--out", "/dev/full"], "No space left on device"),
        (["--ledger", "ledger.json", "--hunt", "ledger.json"], "it has no list of hunts"),
        (["--ledger", "ledger.json", "--hunt", "bad.json"], "the history of a hunt is a list"),
        (["--ledger", "ledger.json", "--hunt", "none"], "no hunt can be read from none"),
        (["--workers", "0"], "a run has at least one worker"),
    ],
)
def test_bad_input_is_one_line_and_loses_nothing(written, capsys, arguments, said):
    Path("other.json").write_text("{}")
    Path("bad.json").write_text('{"hunts": [{"history": 3}]}')
    Path("mine.html").write_text("<p>mine</p>")
    before = written.read_bytes()
    assert main(["report", *arguments]) in (2, 4)
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert written.read_bytes() == before
    assert Path("mine.html").read_text() == "<p>mine</p>"
    assert not Path("rankcheck-report.html").exists()


def test_show_as_a_page(written, capsys):
    assert main(["show", "rank.sandwich", "--html", "s.html"]) == 0
    page = Path("s.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert 'class="verdict' not in page
    assert main(["show", "rank.sandwich", "--html", "s.html", "--ledger", "ledger.json"]) == 0
    assert 'class="verdict good"' in Path("s.html").read_text(encoding="utf-8")
    assert main(["show", "rank.bijections", "--html", "s.html", "--ledger", "ledger.json"]) == 2
    assert "ledger.json has no row of rank.bijections" in capsys.readouterr().err


def test_export(capsys):
    assert main(["export", str(CERTIFICATE), "--tex"]) == 0
    assert r"\texttt{rank.cross-example-as-printed} (rank, Example 1)" in capsys.readouterr().out
    data = json.loads(CERTIFICATE.read_text(encoding="utf-8"))
    Path("c.json").write_text(json.dumps(data | {"claim": "rank.another"}))
    assert main(["export", "c.json"]) == 2
    assert "c.json" in capsys.readouterr().err
    assert main(["export", "none.json"]) == 2
