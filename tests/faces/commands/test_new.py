"""`rankcheck new`: a file that is a claim, fails until it is filled in, and destroys nothing."""

from pathlib import Path

import pytest

from rankcheck.claims import registry
from rankcheck.claims.catalogue.reading import read_file
from rankcheck.claims.reference import Document
from rankcheck.faces.commands import new
from rankcheck.faces.commands.new import KINDS


@pytest.fixture(autouse=True)
def here(mine):
    """An empty working directory."""


@pytest.mark.parametrize("kind", KINDS)
def test_the_file_is_a_claim(command, kind):
    code, out, _ = command("new", "t.first-try", "--kind", kind)
    assert code == 0
    assert "rankcheck verify first_try.py" in out
    [entry] = read_file(Path("first_try.py"))
    assert (entry.id, entry.kind, entry.name) == ("t.first-try", kind, "test_first_try")
    compile(Path("first_try.py").read_text(), "first_try.py", "exec")


def test_it_fails_until_it_is_filled_in(command):
    assert command("new", "t.first-try", "--kind", "conjecture")[0] == 0
    code, out, _ = command("verify", "first_try.py", "--workers", 1)
    assert code == 1
    assert "t.first-try" in out


def test_a_document_is_added(command, monkeypatch):
    added = []

    def add_document(document):
        added.append(document)
        return [Path("made.toml")]

    monkeypatch.setattr(new, "add_document", add_document)
    options = ("--authors", "A. Me", "--title", "On costs", "--venue", "here", "--year", "2027")
    code, out, _ = command("new", "--document", "me2027", *options)
    assert (code, out.splitlines()[0]) == (0, "wrote made.toml")
    assert added == [Document("me2027", "A. Me", "On costs", "here", 2027, "me2027")]
    assert "rankcheck new me2027.my-claim" in out
    assert 'paper("me2027", "Thm 1")' in out


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ("Rank.Upper", "'Rank.Upper'"),
        ("rank.cross-example", "bottleneck_rank.py"),
        ("t.a", "a.py exists"),
        ("", "neither a claim nor a document"),
        ("t.a --document b", "both a claim and a document"),
        ("--document b --title T --venue V", "--authors, --year are missing"),
        (
            "--document rank --authors A --title T --venue V --year 2027",
            "'rank' is the key of a document",
        ),
    ],
)
def test_what_is_wrong_is_one_line_and_no_file_is_lost(command, arguments, fact):
    Path("a.py").write_text("mine")
    code, _, err = command("new", *arguments.split())
    assert (code, err.count("\n")) == (2, 1)
    assert fact in err
    assert Path("a.py").read_text() == "mine"
    assert "t.a" not in registry.declared()
