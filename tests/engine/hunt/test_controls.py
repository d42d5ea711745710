"""Controls that a search does not catch are hunted: one verdict at every seed."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

import rankcheck
from rankcheck import leq
from rankcheck.claims import registry
from rankcheck.claims.catalogue.loader import import_file
from rankcheck.engine.hunt import controls
from rankcheck.engine.hunt.controls import hunt_variant
from rankcheck.engine.verification.check import verify_claim
from rankcheck.engine.verification.profiles import PROFILES, Settings
from rankcheck.faces.commands.cli import main
from rankcheck.linalg import frobenius_squared, nuclear_norm
from rankcheck.theory.instances.source import instances

HALF, LESS = Fraction(1, 2), Fraction(49, 100)


@instances
def products(source):
    n = source.integer(3, 5)
    return source.tensor(n, n), source.tensor(n, n), source.tensor(n, n)


#: The mutant is true: |tr A| ≤ √2 ‖A‖_F for a 2 × 2 matrix.
FILE = """
from rankcheck import conjecture, leq
from rankcheck.theory.instances.matrices import matrices
from rankcheck.linalg import frobenius_squared

@conjecture(
    "controls.loose", instances=matrices(rows=(2, 2), columns=(2, 2)),
    mutants={"1.9 for 2": {"factor": 1.9}},
)
def test_loose(A, *, factor=2):
    "The trace is at most twice the Frobenius norm."
    trace = A.diagonal(dim1=-2, dim2=-1).sum(-1)
    return leq(trace, factor * frobenius_squared(A).sqrt())
"""


def nuclear(A, B, C, *, exponent=HALF):
    """0.49 is wrong by 1.1 to 1.6 %, where all singular values of a product agree."""
    P = A @ B @ C
    size = P.new_ones(()) * P.shape[-1]
    return leq(nuclear_norm(P), size**exponent * frobenius_squared(P).sqrt())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_mutant_near_the_truth_is_caught_at_every_seed(declare, tmp_path, seed):
    claim = declare(
        nuclear, products(), kind="conjecture", mutants={"exponent 0.49": {"exponent": LESS}}
    )
    settings = Settings(PROFILES["quick"], seed, tmp_path, 0)
    row = rankcheck.verify_claim(claim, settings)
    assert (row.verdict, row.messages) == ("guarded", ())
    assert row.broken_by["exponent 0.49"].startswith("A = [[")
    # Without a hunt it survives: random products are far from orthogonal.
    assert seed or verify_claim(claim, settings).mutants.survivors == ("exponent 0.49",)


@pytest.fixture
def loose(tmp_path, monkeypatch):
    """A file with a claim whose mutant is true; the claim."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.py"
    path.write_text(FILE, encoding="utf-8")
    import_file(path)
    yield registry.declared()["controls.loose"]
    registry.forget("controls.loose")


@pytest.mark.slow
def test_a_mutant_that_is_true_fails_and_can_be_hunted_on(loose, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(controls, "ROUNDS", 1)  # the first meets multiples of the identity
    row = rankcheck.verify_claim(loose, Settings(folder=tmp_path, shrink=0))
    assert row.verdict == "failed"
    assert row.mutants.survivors == ("1.9 for 2",)
    hunting = ["hunt", "mine.py", "--control", "1.9 for 2", "--budget", "0.3"]
    assert main([*hunting, "--json", "-"]) == 0
    out, err = capsys.readouterr()
    [result] = json.loads(out)["hunts"]
    assert (result["verdict"], result["control"]) == ("survived", "1.9 for 2")
    assert "hunting the control '1.9 for 2' of controls.loose for 0.3 s" in err
    assert "the control '1.9 for 2' of controls.loose: no counterexample" in err


def test_a_control_that_is_broken_leaves_no_certificate(declare, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    claim = declare(nuclear, products(), mutants={"m": {"exponent": LESS}})
    found = hunt_variant(claim, "m", budget=20, shrink=0)
    assert found.verdict == "refuted"
    assert found.certificate is None
    assert found.message.startswith("the control 'm' of t.made-up is broken: lhs ")
    assert "\n  A = [[" in found.message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        (["mine.py", "--control", "2 for 1"], "no control '2 for 1'; its mutants and hypotheses"),
        (["mine.py", "--control", "1.9 for 2", "--workers", "2"], "in one process"),
        (["two.py", "--control", "1.9 for 2"], "selects 2 claims"),
    ],
)
def test_what_a_control_cannot_be(loose, capsys, arguments, fact):
    Path("two.py").write_text(FILE.replace(".loose", ".a") + FILE.replace(".loose", ".b"))
    assert main(["hunt", *arguments]) == 2
    assert fact in capsys.readouterr().err
    assert not [*Path(".rankcheck").glob("*")]
