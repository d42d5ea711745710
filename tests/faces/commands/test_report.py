"""rankcheck report and export, on good and bad input."""

from pathlib import Path

import pytest

from rankcheck import files
from rankcheck.engine.verification.ledger import Ledger, Row, read_ledger
from rankcheck.files import project_folder

CERTIFICATE = project_folder() / "rank" / "certificates" / "rank.cross-example-as-printed.json"


@pytest.fixture(autouse=True)
def here(mine):
    """An empty working directory."""


@pytest.fixture
def written():
    """A ledger of two rows, in ledger.json."""
    rows = [
        Row(id="rank.sandwich", title="S", kind="bound", verdict="holds", statement="$x$"),
        Row(id="rank.constant-cost", title="C", kind="bound", verdict="failed", messages=("m",)),
    ]
    Ledger.of(rows, profile="quick", seed=0, seconds=1.0).write(Path("ledger.json"))
    return Path("ledger.json")


def test_a_page_of_a_ledger(written, command):
    page = Path("rankcheck-report.html")
    arguments = ("--ledger", "ledger.json")
    assert command("report", *arguments) == (0, f"page: {page}\n", "")
    text = page.read_text(encoding="utf-8")
    assert files.GENERATOR in text
    assert "rank.sandwich" in text
    assert "Not as expected" in text
    assert command("report", "rank.sandwich", *arguments)[0] == 0  # it is replaced
    assert "rank.constant-cost" not in page.read_text(encoding="utf-8")


def test_without_a_ledger_nothing_is_verified(command):
    code, _, err = command("report", "rank.sandwich")
    assert (code, "--ledger" in err) == (2, True)


def test_a_claim_that_was_verified_is_shown(command):
    assert command("verify", "rank.relu-from-leaky", "--workers", 1, "--json", "l.json")[0] == 0
    assert command("report", "--ledger", "l.json")[0] == 0
    page = Path("rankcheck-report.html").read_text(encoding="utf-8")
    assert "<q>the sign as printed</q>" in page
    [row] = read_ledger(Path("l.json")).rows
    assert "x = " in row.broken_by["the sign as printed"]


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ("--ledger none.json", "none.json: No such file"),
        ("--ledger .", "Is a directory"),
        ("--ledger other.json", "other.json"),
        ("rank.no-such --ledger ledger.json", "rank.no-such"),
        ("rank.bijections --ledger ledger.json", "rank.bijections"),
        ("--ledger ledger.json --out mine.html", "mine.html"),
        ("--ledger ledger.json --out /dev/full", "No space left on device"),
    ],
)
def test_bad_input_is_one_line_and_loses_nothing(written, command, arguments, fact):
    Path("other.json").write_text("{}")
    Path("mine.html").write_text("<p>mine</p>")
    before = {path: path.read_bytes() for path in Path().iterdir()}
    code, _, error = command("report", *arguments.split())
    assert code in (2, 4)
    assert fact in error
    assert error.count("\n") == 1
    assert {path: path.read_bytes() for path in Path().iterdir()} == before
