"""rankcheck audit over time: two checkpoints, a folder, and a training that runs."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from rankcheck import files
from rankcheck.audit.result import GUESSED
from rankcheck.commands import audit_over_time
from rankcheck.commands.cli import main


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save(path, seed, widths=(3, 4, 2), at=1000):
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(widths[0], widths[1]), nn.ReLU(), nn.Linear(*widths[1:]))
    torch.save(net.state_dict(), path)
    os.utime(path, (at, at))


@pytest.fixture
def run():
    """Three checkpoints in the folder run, one that is none, and points in x.npy."""
    Path("run").mkdir()
    for step in (10, 9, 100):
        save(f"run/step_{step}.pt", step)
    Path("run/train.log").write_text("loss 1")
    np.save("x.npy", np.random.default_rng(0).normal(size=(10, 3)))
    return Path("run")


def rows(out):
    """The names in the first column of the table."""
    return [line.split()[0] for line in out.splitlines() if line.startswith("step_")]


def test_a_folder_from_its_files_to_its_page(run, capsys):
    line = ["audit", "run", "--slope", "0", "--data", "x.npy"]
    assert main([*line, "--html", "a.html", "--json", "a.json"]) == 0
    out = capsys.readouterr().out
    assert rows(out) == ["step_9.pt", "step_10.pt", "step_100.pt"]
    assert "skipped train.log: its name ends as that of no model" in out
    assert out.endswith("history: a.json\npage: a.html\n")
    found = json.loads(Path("a.json").read_text(encoding="utf-8"))
    for one in found["checkpoints"]:
        state = torch.load(run / one["name"])
        cost = sum(float((p.double() ** 2).sum()) for p in state.values())
        assert one["figures"]["cost"] == pytest.approx(cost)
        assert f"{cost:.4g}" in out
    assert found["headline"] is None
    page = Path("a.html").read_text(encoding="utf-8")
    assert files.GENERATOR in page
    assert page.count("<svg") == 5
    assert main([*line, "--html", "a.html", "--json", "a.json", "--order", "time"]) == 0  # again
    assert "by time of writing" in capsys.readouterr().out
    assert main([*line, "--json", "-"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["checkpoints"][0]["name"] == "step_9.pt"
    assert rows(err) == ["step_9.pt", "step_10.pt", "step_100.pt"]


def test_activations_that_were_assumed_are_said_first_and_by_the_exit_code(run, capsys):
    for line in (["run"], ["run/step_10.pt", "--against", "run/step_9.pt"]):
        assert main(["audit", *line, "--json", "a.json", "--html", "a.html"]) == 3
        out = capsys.readouterr().out
        assert " ".join(out.split()).startswith(GUESSED)
        assert json.loads(Path("a.json").read_text(encoding="utf-8"))["headline"] == GUESSED
        page = Path("a.html").read_text(encoding="utf-8")
        assert page.index("<h1>") < page.index(GUESSED) < page.index("<main>")
        Path("a.json").unlink()


def test_two_checkpoints_from_their_files_to_their_page(run, capsys):
    line = ["audit", "run/step_10.pt", "--against", "run/step_9.pt", "--slope", "0"]
    assert main([*line, "--data", "x.npy", "--html", "a.html", "--json", "a.json"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("old: step_9.pt, state dict")
    assert "on 10 points the functions differ by at most " in out
    assert out.endswith("comparison: a.json\npage: a.html\n")
    found = json.loads(Path("a.json").read_text(encoding="utf-8"))
    values, x = [], torch.from_numpy(np.load("x.npy"))
    for name in ("step_9.pt", "step_10.pt"):
        state = torch.load(run / name)
        net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        net.load_state_dict(state)
        values.append(net.double()(x).detach())
    largest = float((values[0] - values[1]).abs().max())
    assert found["difference"]["largest"] == pytest.approx(largest)
    assert "From step_9.pt to step_10.pt" in Path("a.html").read_text(encoding="utf-8")


class Stopped:
    """What happens between two looks, in place of a clock; then Ctrl-C."""

    def __init__(self, *steps):
        self.steps = list(steps)
        self.seen = []

    def __call__(self):
        known = Path("a.json").exists() and json.loads(Path("a.json").read_text(encoding="utf-8"))
        self.seen.append([one["name"] for one in known["checkpoints"]] if known else None)
        if not self.steps:
            raise KeyboardInterrupt
        self.steps.pop(0)()


def test_a_training_is_followed_until_it_is_interrupted(monkeypatch, capsys):
    Path("run").mkdir()
    between = Stopped(
        lambda: save("run/step_1.pt", 1),
        lambda: None,
        lambda: save("run/step_2.pt", 2, at=2000),
        lambda: Path("run/train.log").write_text("loss 1"),
        lambda: save("run/step_3.pt", 3),
    )
    monkeypatch.setattr(audit_over_time, "pause", between)
    line = ["audit", "run", "--watch", "--slope", "0", "--json", "a.json", "--html", "a.html"]
    assert main(line) == 130
    out, err = capsys.readouterr()
    assert rows(out) == ["step_1.pt", "step_2.pt"]
    assert out.count("cost") >= 2  # the head of the table, and what is to be seen
    assert "skipped train.log" in out
    assert "not read: step_3.pt" in out
    assert out.endswith("history: a.json\npage: a.html\n")
    assert err.startswith("watching run until Ctrl-C\n")
    assert err.endswith("rankcheck: interrupted\n")
    # before each look: the JSON is whole, and has what was read by then
    one, both = ["step_1.pt"], ["step_1.pt", "step_2.pt"]
    assert between.seen == [None, None, one, one, both, both]
    assert json.loads(Path("a.json").read_text(encoding="utf-8"))["left"] == ["step_3.pt"]
    assert "step_2.pt" in Path("a.html").read_text(encoding="utf-8")


def test_an_interruption_before_the_first_checkpoint_writes_nothing(monkeypatch, capsys):
    Path("run").mkdir()
    Path("run/train.log").write_text("loss 1")
    monkeypatch.setattr(audit_over_time, "pause", Stopped(lambda: None))
    assert main(["audit", "run", "--watch", "--json", "a.json"]) == 130
    out = capsys.readouterr().out
    assert "skipped train.log" in out
    assert out.endswith("no checkpoint was audited\n")
    assert not Path("a.json").exists()


def test_an_interruption_of_a_folder_keeps_what_is_done(run, monkeypatch, capsys):
    from rankcheck.audit.history.measure import Measuring

    usual, left = Measuring.measure, [1, 1]

    def measure(self, *arguments, **named):
        if not left:
            raise KeyboardInterrupt
        left.pop()
        return usual(self, *arguments, **named)

    monkeypatch.setattr(Measuring, "measure", measure)
    assert main(["audit", "run", "--slope", "0", "--json", "a.json"]) == 130
    assert rows(capsys.readouterr().out) == ["step_9.pt", "step_10.pt"]
    found = json.loads(Path("a.json").read_text(encoding="utf-8"))
    assert (len(found["checkpoints"]), found["left"]) == (2, ["step_100.pt"])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["run/step_9.pt", "--watch"], "--watch is of a folder of checkpoints; run/step_9.pt is"),
        (["none", "--watch"], "--watch is of a folder of checkpoints; none is none"),
        (["run/step_9.pt", "--order", "time"], "--order is of a folder of checkpoints"),
        (["run", "--watch", "--json", "-"], "--json - with --watch has no end; name a file"),
        (["run", "--against", "run/step_9.pt"], "--against compares two files"),
        (["run/step_9.pt", "--against", "run"], "--against compares two files"),
        (["run", "--balanced", "b.safetensors"], "--balanced is of the audit of one network"),
        (["run", "--max-rank", "3"], "--max-rank is of the audit of one network"),
        (["run", "--outputs", "y.npy"], "--outputs is of the audit of one network"),
        (["run", "--prune", "p.safetensors"], "--prune is of the audit of one network"),
        (["run/step_9.pt", "--against", "run/step_9.pt"], "is named twice"),
        (["run/step_9.pt", "--against", "none.pt"], "cannot read none.pt: "),
        (
            ["run/step_9.pt", "--against", "wide.pt"],
            "has 4 inputs and 2 outputs, and step_9.pt has",
        ),
        (["run", "--html", "mine.html"], "it exists and is not a page of rankcheck"),
        (["run", "--json", "ledger.json"], "it exists and is not a history of audits"),
        (["run", "--data", "wide.npy"], "step_9.pt: the data have 4 numbers a point"),
        (["empty"], "no checkpoint of empty can be audited"),
    ],
)
def test_bad_arguments_are_one_line_and_write_nothing(run, capsys, line, said):
    Path("mine.html").write_text("<p>mine</p>")
    Path("ledger.json").write_text('{"schema": 3, "claims": []}')
    Path("empty").mkdir()
    save("wide.pt", 0, (4, 4, 2))
    np.save("wide.npy", np.eye(4))
    before = {path: path.stat().st_mtime_ns for path in Path().iterdir()}
    assert main(["audit", *line]) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert err.count("\n") == 1
    assert rows(out) == []
    assert {path: path.stat().st_mtime_ns for path in Path().iterdir()} == before
