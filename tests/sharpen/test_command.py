from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankcheck.claims import registry
from rankcheck.faces.commands.cli import main

STATEMENTS = Path(__file__).with_name("statements.py")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(name, *arguments, budget=0.6):
    selector = f"{STATEMENTS}::sharp.{name}"
    fast = ["--budget", str(budget), "--limit", "0"]
    return main(["sharpen", selector, *fast, *arguments])


def test_the_constant_is_told_and_written_as_json_and_as_a_page(capsys):
    assert run("irrational", "--json", "-", "--html", "page.html") == 0
    out, err = capsys.readouterr()
    (data,) = json.loads(out)["sharpenings"]
    (relation,) = data["relations"]
    assert relation["best"]["ratio"].startswith("0.70710678118654")
    assert "lhs/rhs reaches 0.7071067812" in err
    assert "looks like 1/√2" in err
    assert "0.70710678" in Path("page.html").read_text(encoding="utf-8")
    assert Path(".rankcheck/records/sharp.irrational.json").exists()


def test_a_refuted_claim_exits_with_one_and_its_certificate_replays(capsys):
    assert run("unbounded") == 1
    assert "false as written" in capsys.readouterr().out
    claims = ["--claims", f"{STATEMENTS}::sharp.unbounded", "--limit", "0"]
    assert main(["replay", ".rankcheck/sharp.unbounded.json", *claims]) == 0


def test_nothing_certified_exits_with_three(capsys):
    assert run("floats") == 3
    assert "no ratio is certified: no ball form" in capsys.readouterr().out


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """`kept("hill")`: sharpen a claim of a file of one's own, beside which records are kept."""
    monkeypatch.setattr(registry, "_claims", {})  # each test declares the same ones
    mine = tmp_path / "mine.py"
    mine.write_text(STATEMENTS.read_text(encoding="utf-8").replace('"sharp.', '"kept.'))
    fast = ["--budget", "0.5", "--limit", "0"]
    return lambda name: main(["sharpen", f"{mine}::kept.{name}", *fast, "--record"])


def test_better_instances_are_kept_beside_the_claim(capsys, kept):
    assert kept("hill") == 0
    assert "relation 1: the record is 0.5" in capsys.readouterr().out
    assert main(["replay", "records/kept.hill.json", "--limit", "0"]) == 0
    assert kept("hill") == 0
    assert "no instance beats a record" in capsys.readouterr().out


def test_a_relation_that_fails_has_no_record(capsys, kept):
    assert kept("readme") == 1
    assert "no instance beats a record" in capsys.readouterr().out
    assert not Path("records").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["hill", "--dial", "factor=2..1"], "the interval of factor is 2..1"),
        (["hill", "--html", "no/such/folder.html"], "cannot write to"),
        (["hill", "--html", "mine.html"], "it exists and is not a page of rankcheck"),
        (["hill", "--json", "a.html", "--html", "a.html"], "a.html is named twice"),
    ],
)
def test_wrong_input_exits_with_two_and_loses_nothing(capsys, arguments, says):
    Path("mine.html").write_text("<p>mine</p>")
    assert run(*arguments) == 2
    assert says in capsys.readouterr().err
    assert Path("mine.html").read_text() == "<p>mine</p>"


def test_a_dial_is_for_one_claim(capsys):
    assert main(["sharpen", str(STATEMENTS), "--dial", "factor=0..1"]) == 2
    assert "--dial is for one" in capsys.readouterr().err


def test_an_interrupted_search_tells_what_it_has_found(capsys, monkeypatch):
    def interrupted(claim, *, progress, **settings):
        from rankcheck.sharpen.progress import Progress

        progress(Progress(1.0, 2.0, 3, 4, {"relation 1": "0.25"}))
        raise KeyboardInterrupt

    monkeypatch.setattr("rankcheck.sharpen.run.sharpen", interrupted)
    assert run("hill") == 130
    out, err = capsys.readouterr()
    assert "0.25" in out
    assert "interrupted" in err
