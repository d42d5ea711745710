"""rankcheck audit, on good and bad input."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import rankcheck.audit
from rankcheck import files
from rankcheck.commands.cli import main
from tests.report.audits import made_up, without_data


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def asked(monkeypatch):
    """What `audit` was asked; it answers with `asked.found`, or raises it."""

    class Asked:
        found = replace(made_up(), theorems=())

        def __call__(self, model, data=None, **options):
            self.model, self.data, self.options = model, data, options
            options["watcher"].started("points", 7)
            options["watcher"].advanced(3)
            if isinstance(self.found, BaseException):
                options["watcher"].interrupted("The audit was stopped; in points, 3 of 7.")
                raise self.found
            return self.found

    one = Asked()
    monkeypatch.setattr(rankcheck.audit, "audit", one, raising=False)
    return one


def test_the_arguments_arrive(asked, capsys):
    line = [
        "audit",
        "m.pt",
        "--data",
        "x.npy",
        "--max-rank",
        "3",
        "--slope",
        "0.1",
        "--no-theorems",
    ]
    assert main([*line, "--tolerance", "0.01", "--workers", "2"]) == 0
    assert (asked.model, asked.data) == (Path("m.pt"), Path("x.npy"))
    del asked.options["watcher"]
    assert asked.options == {
        "max_rank": 3,
        "tolerance": 0.01,
        "device": "cpu",
        "slope": 0.1,
        "theorems": False,
        "executor": 2,
    }
    assert main(["audit", "m.pt", "--executor", "dask://a:1"]) == 0
    assert asked.options["executor"] == "dask://a:1"
    assert "trained.safetensors" in capsys.readouterr().out


def test_json_and_page(asked, capsys):
    assert main(["audit", "m.pt", "--json", "a.json", "--html", "a.html"]) == 0
    out = capsys.readouterr().out
    assert out.endswith("audit: a.json\npage: a.html\n")
    assert json.loads(Path("a.json").read_text(encoding="utf-8")) == asked.found.to_json()
    page = Path("a.html").read_text(encoding="utf-8")
    assert files.GENERATOR in page
    asked.found = without_data()
    assert main(["audit", "m.pt", "--json", "a.json", "--html", "a.html"]) == 0  # replaced
    assert json.loads(Path("a.json").read_text(encoding="utf-8"))["data"] is None


def test_json_on_standard_output(asked, capsys):
    assert main(["audit", "m.pt", "--json", "-"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == asked.found.to_json()
    assert "depth 8" in err


def test_a_theorem_that_fails_is_an_exit_code(asked):
    codes = {}
    for one in made_up().theorems:
        asked.found = made_up(theorems=(one,))
        codes[one.finding] = main(["audit", "m.pt"])
    assert codes == {"holds": 0, "not applicable": 0, "undecided": 0, "fails": 1}


def test_an_interruption_says_what_was_done(asked, capsys):
    asked.found = KeyboardInterrupt()
    assert main(["audit", "m.pt", "--json", "a.json"]) == 130
    out, err = capsys.readouterr()
    assert "The audit was stopped; in points, 3 of 7." in out
    assert err == "rankcheck: interrupted\n"
    assert not Path("a.json").exists()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "rankcheck: out of memory (MemoryError)\n"),
        (
            RuntimeError("DefaultCPUAllocator: can't allocate memory"),
            "out of memory (RuntimeError)",
        ),
    ],
)
def test_memory_that_is_short_is_one_line(monkeypatch, capsys, error, said):
    def audit(*arguments, **options):
        raise error

    monkeypatch.setattr(rankcheck.audit, "audit", audit, raising=False)
    assert main(["audit", "m.pt", "--json", "a.json"]) == 4
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--max-rank", "0"], "--max-rank is 0"),
        (["--tolerance", "1"], "--tolerance is 1;"),
        (["--tolerance", "nan"], "--tolerance is nan;"),
        (["--slope", "-1"], "--slope is -1;"),
        (["--slope", "inf"], "--slope is inf;"),
        (["--workers", "0"], "at least one worker"),
        (["--workers", "2", "--executor", "dask://a:1"], "takes one of them"),
        (["--json", "mine.html"], "mine.html: it exists and is not an audit"),
        (["--json", "ledger.json"], "ledger.json: it exists and is not an audit"),
        (["--html", "mine.html"], "it exists and is not a page of rankcheck"),
        (["--html", "a.py"], "a page of rankcheck is HTML, and this is a"),
        (["--html", "no/a.html"], "the folder no does not exist"),
        (["--json", "."], "it is a folder"),
        (["--balanced", "mine.safetensors"], "it exists; name another file"),
        (["--balanced", "b.pt"], "a balanced network is a .safetensors file"),
        (["--json", "a.html", "--html", "a.html"], "a.html is named twice"),
        (["--data", "m.pt"], "m.pt is named twice"),
        (["--html", "/dev/full"], "No space left on device"),
        (["--json", "/dev/full"], "No space left on device"),
    ],
)
def test_bad_arguments_are_one_line_and_lose_nothing(asked, capsys, arguments, said):
    kept = {
        "mine.html": "<p>mine</p>",
        "mine.safetensors": "mine",
        "ledger.json": '{"schema": 3, "claims": []}',
        "m.pt": "weights",
    }
    for name, text in kept.items():
        Path(name).write_text(text)
    assert main(["audit", "m.pt", *arguments]) in (2, 4)
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert {path.name: path.read_text() for path in Path().iterdir()} == kept
    assert hasattr(asked, "options") == ("/dev/full" in arguments)  # before any work
