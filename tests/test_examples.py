"""The examples run, with a few steps."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from rankcheck import files

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """`run(name, *arguments)`: run an example in an empty working directory."""
    monkeypatch.chdir(tmp_path)

    def call(name, *arguments):
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        module.main()
        return module

    return call


@pytest.mark.slow
def test_train_and_audit(run, capsys):
    module = run("train_and_audit", "--steps", "3", "--folder", "left")
    assert {path.name for path in Path("left").iterdir()} == {
        "trained.pt",
        "data.npy",
        "audit.html",
        "audit.json",
    }
    assert files.GENERATOR in Path("left/audit.html").read_text(encoding="utf-8")
    found = json.loads(Path("left/audit.json").read_text(encoding="utf-8"))
    assert found["model"]["depth"] == module.DEPTH
    assert np.load("left/data.npy").shape == (module.POINTS, module.IN)
    assert len(torch.load("left/trained.pt", weights_only=True)) == 2 * module.DEPTH
    out = capsys.readouterr().out
    assert out.count("step") == 2
    assert "rankcheck audit left/trained.pt --slope 0 --data left/data.npy" in out.replace(
        "\\", "/"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kinds", "claimed"),
    [
        ("audit_residual", ["residual"] * 4, [True] * 4),
        ("audit_convolution", ["chain"], [True]),
        (
            "audit_transformer",
            ["chain", "residual", "residual", "chain"],
            [True, False, False, True],
        ),
    ],
)
def test_audits_of_networks_that_are_no_chains(run, capsys, name, kinds, claimed):
    run(name, "--steps", "3", "--folder", "left")
    assert {path.name for path in Path("left").iterdir()} == {"audit.html", "audit.json"}
    assert files.GENERATOR in Path("left/audit.html").read_text(encoding="utf-8")
    found = json.loads(Path("left/audit.json").read_text(encoding="utf-8"))
    assert [block["kind"] for block in found["blocks"]] == kinds
    assert [not block["unclaimed"] for block in found["blocks"]] == claimed
    out = capsys.readouterr().out
    assert out.count("step") == 2
    assert f"open {Path('left') / 'audit.html'}" in out
