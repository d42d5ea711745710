"""rankcheck audit, on good and bad input."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

import rankcheck.audit
from rankcheck import files
from rankcheck.faces.commands.cli import main
from tests.faces.report.audits import made_up, without_data


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
            options["progress"]("points", 3, 7)
            if isinstance(self.found, BaseException):
                raise self.found
            return self.found

    one = Asked()
    monkeypatch.setattr(rankcheck.audit, "audit", one, raising=False)
    return one


def test_the_arguments_arrive(asked):
    assert main(["audit", "m.pt", "--data", "x.npy", "--slope", "0.1", "--part", "net"]) == 0
    assert (asked.model, asked.data) == (Path("m.pt"), Path("x.npy"))
    del asked.options["progress"]
    assert asked.options == {"slope": 0.1, "part": "net", "device": "cpu", "outputs": None}
    assert main(["audit", "m.pt", "--data", "x.npy", "--outputs", "y.npy"]) == 0
    assert asked.options["outputs"] == Path("y.npy")


def test_json_and_page(asked, capsys):
    assert main(["audit", "m.pt", "--json", "a.json", "--html", "a.html"]) == 0
    assert json.loads(Path("a.json").read_text(encoding="utf-8")) == asked.found.to_json()
    page = Path("a.html").read_text(encoding="utf-8")
    assert files.GENERATOR in page
    asked.found = without_data()
    assert main(["audit", "m.pt", "--json", "a.json", "--html", "a.html"]) == 0  # replaced
    assert json.loads(Path("a.json").read_text(encoding="utf-8"))["data"] is None
    capsys.readouterr()
    assert main(["audit", "m.pt", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == asked.found.to_json()


@pytest.mark.parametrize("guess", ["", "ReLU was assumed."])
def test_a_theorem_that_fails_and_activations_that_were_assumed_are_exit_codes(asked, guess):
    codes = {}
    for one in made_up().theorems:
        audit = made_up(theorems=(one,))
        asked.found = replace(audit, model=replace(audit.model, guess=guess))
        codes[one.finding] = main(["audit", "m.pt"])
    assert codes.pop("fails") == 1
    assert set(codes.values()) == {3 if guess else 0}


def test_an_interruption_says_what_was_done(asked, capsys):
    asked.found = KeyboardInterrupt()
    assert main(["audit", "m.pt", "--json", "a.json"]) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert "in points 3 of 7" in err
    assert err.endswith("rankcheck: interrupted\n")
    assert not Path("a.json").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--json", "mine.html"], "mine.html: it exists and is not an audit"),
        (["--json", "ledger.json"], "ledger.json: it exists and is not an audit"),
        (["--html", "mine.html"], "it exists and is not a page of rankcheck"),
        (["--json", "a.html", "--html", "a.html"], "a.html is named twice"),
        (["--data", "m.pt"], "m.pt is named twice"),
        (["--data", "x.npy", "--outputs", "m.pt"], "m.pt is named twice"),
        (["--outputs", "y.npy"], "--outputs needs --data"),
        (["--json", "/dev/full"], "No space left on device"),
    ],
)
def test_bad_arguments_are_one_line_and_lose_nothing(asked, capsys, arguments, said):
    kept = {
        "mine.html": "<p>mine</p>",
        "ledger.json": '{"schema": 3, "claims": []}',
        "m.pt": "weights",
    }
    for name, text in kept.items():
        Path(name).write_text(text)
    assert main(["audit", "m.pt", *arguments]) in (2, 4)
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert {name: Path(name).read_text() for name in kept} == kept
    assert hasattr(asked, "options") == ("/dev/full" in arguments)  # before any work


ASSUMED = "ReLU was assumed; --slope 0 says that it is right"


def module():
    layers = nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)
    return nn.Sequential(*layers)


@pytest.fixture
def trained():
    """A network of three layers in trained.pt, and ten points in x.npy."""
    torch.manual_seed(0)
    torch.save(module().state_dict(), "trained.pt")
    np.save("x.npy", np.random.default_rng(0).normal(size=(10, 3)))
    return Path("trained.pt")


def test_a_network_from_its_file_to_its_page(trained):
    line = ["audit", "trained.pt", "--slope", "0", "--data", "x.npy"]
    assert main([*line, "--html", "a.html", "--json", "a.json"]) == 0
    found = json.loads(Path("a.json").read_text(encoding="utf-8"))
    weights = [one for name, one in torch.load(trained).items() if name.endswith("weight")]
    for layer, W in zip(found["layers"], weights, strict=True):
        assert layer["singular_values"] == pytest.approx(np.linalg.svd(W.numpy())[1], rel=1e-5)
    assert found["model"]["cost"] == pytest.approx(
        sum(float((one.double() ** 2).sum()) for one in torch.load(trained).values())
    )
    assert {one["finding"] for one in found["theorems"]} <= {"holds", "not applicable"}
    assert found["headline"] is None
    assert ASSUMED not in Path("a.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["trained.pt", "trained.safetensors"])
def test_activations_that_were_assumed_are_said_first_and_by_the_exit_code(trained, capsys, name):
    save_file(torch.load(trained), "trained.safetensors")
    line = ["audit", name]
    assert main([*line, "--html", "a.html", "--json", "a.json"]) == 3
    out = capsys.readouterr().out
    assert " ".join(out.split()).startswith(ASSUMED)
    found = json.loads(Path("a.json").read_text(encoding="utf-8"))
    assert found["schema"] == 3
    assert found["headline"].startswith(ASSUMED)
    assert ASSUMED in Path("a.html").read_text(encoding="utf-8")
    for slope in ("0", "0.1"):
        assert main([*line, "--slope", slope]) == 0
        assert capsys.readouterr().out.startswith(f"{name}: ")


def test_names_that_speak_of_branches_are_said_first_and_by_the_exit_code(trained, capsys):
    names = ("stem", "block.0", "block.2")
    state = {
        f"{name}.{part}": torch.load(trained)[f"{i}.{part}"]
        for i, name in zip((0, 2, 4), names, strict=True)
        for part in ("weight", "bias")
    }
    state["block.2.weight"], state["block.2.bias"] = torch.eye(4), torch.zeros(4)
    torch.save(state, "trained.pt")
    assert main(["audit", "trained.pt", "--slope", "0", "--json", "a.json"]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("A chain was assumed, and the names speak of layers beside othe")
    assert "'block.0', 'block.2'" in json.loads(Path("a.json").read_text())["headline"]


def test_outputs_say_that_the_network_is_the_one(trained, capsys):
    net = module()
    net.load_state_dict(torch.load(trained))
    x = np.load("x.npy")
    y = net(torch.from_numpy(x).float()).detach().numpy()
    np.savez("xy.npz", X=x, outputs=y)
    line = ["audit", "trained.pt", "--data", "xy.npz"]
    assert main([*line, "--outputs", "xy.npz", "--json", "a.json", "--html", "a.html"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("trained.pt: ")
    assert "\noutputs: they agree at all 10 points, to " in out
    found = json.loads(Path("a.json").read_text(encoding="utf-8"))
    assert found["headline"] is None
    assert found["model"]["outputs"]["points"] == 10
    assert found["model"]["outputs"]["difference"] < 1e-6
    assert "they agree at all 10 points" in Path("a.html").read_text(encoding="utf-8")
    np.save("y.npy", y + 1)
    assert main([*line, "--outputs", "y.npy", "--json", "b.json"]) == 2
    out, error = capsys.readouterr()
    assert "y.npy is not what the network as read puts out: at point 0 output" in error
    assert "they differ at 10 of 10 points" in error
    assert (out, error.count("\n")) == ("", 1)
    assert set(json.loads(Path("b.json").read_text())) == {"schema", "error"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["wrong.pt"], "2.weight"),
        (["none.pt"], "cannot read none.pt: "),
        (["trained.pt", "--data", "none.npy"], "none.npy: No such file"),
        (["trained.pt", "--data", "wide.npy"], "have 4 numbers a point; the network takes 3"),
        (["trained.pt", "--device", "cuda:99"], "torch cannot use the device 'cuda:99' here"),
    ],
)
def test_what_cannot_be_audited_is_one_line(trained, capsys, arguments, message):
    torch.save(torch.load(trained) | {"2.weight": torch.ones(4, 4, 3, 3)}, "wrong.pt")
    np.save("wide.npy", np.eye(4))
    before = {path.name for path in Path().iterdir()}
    assert main(["audit", *arguments, "--json", "a.json", "--html", "a.html"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert {path.name for path in Path().iterdir()} == before | {"a.json"}
    assert message in json.loads(Path("a.json").read_text())["error"]
