"""`show`, `replay` and `export` take ids of claims and files that are kept for them, alike."""

import json
from pathlib import Path

import pytest

from rankcheck.claims import registry
from rankcheck.claims.catalogue.certificates import FORM
from rankcheck.claims.catalogue.collect import project

REFUTED = "rank.sum-cost-as-printed"
ENTRIES = {entry.id: entry for entry in project()}
STORED = FORM.path(ENTRIES[REFUTED])
FALSE = """
from rankcheck import conjecture, leq
from rankcheck.theory.instances.matrices import matrices

@conjecture("mine.trace", instances=matrices())
def test_trace(A):
    r'''Sums are small: $\\sum_{ij} A_{ij} \\le 1$.'''
    return leq(A.sum((-2, -1)), 1)
"""


@pytest.fixture(autouse=True)
def here(mine):
    """An empty working directory."""


@pytest.fixture
def left(command, monkeypatch):
    """A certificate that a run has left."""
    monkeypatch.setattr(registry, "_claims", {})  # each test declares the claim
    Path("mine.py").write_text(FALSE, encoding="utf-8")
    code, out, err = command("certify", "mine.py::mine.trace", "--limit", "0")
    assert code == 0, out + err
    return Path(".rankcheck/mine.trace.json")


def test_a_refuted_claim_is_shown_with_its_counterexample(command):
    code, out, err = command("show", REFUTED)
    assert (code, err) == (0, "")
    end = out[out.index("counterexample: ") :].splitlines()
    assert end[0].startswith("counterexample: lhs 3 > rhs 2 by 1 (")
    assert end[3] == "  depth = 64, v = 1, w = 1"
    assert end[-2].endswith(f"rankcheck replay {REFUTED}")
    assert "counterexample: " not in command("show", "rank.sandwich")[1]


def test_a_certificate_is_shown(command):
    code, out, err = command("show", str(STORED), REFUTED)
    assert (code, err) == (0, "")
    assert out.count("counterexample: lhs 3 > rhs 2 by 1") == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.json"], "no certificate can be read at none.json"),
        (["list.json"], "list.json is not a certificate"),
        (["changed.json"], "has been changed since it was written"),
        (["rank.sum-cost-as-prnted"], f"similar: {REFUTED}"),
        (["changed.json", "--ledger", "l.json"], "--ledger takes claims"),
    ],
)
def test_what_cannot_be_shown_is_named(command, arguments, said):
    Path("list.json").write_text("[1]")
    data = json.loads(STORED.read_text(encoding="utf-8"))
    Path("changed.json").write_text(json.dumps(data | {"claim": "rank.another"}))
    code, out, err = command("show", *arguments)
    assert (code, out) == (2, "")
    assert said in err


def test_a_certificate_of_another_text_is_shown_as_such(command, left):
    assert "it was found for another text" not in command("show", "mine.py")[1]
    Path("mine.py").write_text(FALSE.replace("are small", "are tiny"), encoding="utf-8")
    code, out, err = command("show", "mine.py", str(left))
    assert (code, err) == (0, "")
    assert out.count("  it was found for another text of the claim\n") == 2


def test_what_a_run_has_left_is_found_by_its_id(command, left):
    for argument in ("mine.trace", "mine.py", "mine.py::test_trace", str(left)):
        code, out, err = command("replay", argument, "--limit", "0")
        assert (code, err) == (0, ""), argument
        assert "mine.trace is false: lhs " in out
        assert r"A.sum((-2, -1))" in command("export", argument)[1]
    code, out, err = command("replay", "mine.trce")
    assert (code, out) == (2, "")
    assert "; .rankcheck has certificates of mine.trace" in err
    left.rename("elsewhere.json")
    Path("mine.py").unlink()
    code, out, _ = command("show", "elsewhere.json")
    assert code == 0
    assert "counterexample: lhs " in out
    assert "rankcheck replay elsewhere.json" in out


def test_all_that_is_kept_of_a_claim_is_replayed(command):
    code, out, err = command("replay", REFUTED, str(STORED), "--limit", "0")
    assert (code, err) == (0, "")
    assert out.count(f"{REFUTED} is false: lhs 3 > rhs 2 by 1 (proved again") == 1
    code, out, err = command("replay", "linear.nuclear-norm", "--limit", "0")
    assert (code, err) == (0, "")
    assert "(proved again" in out or "(checked again)" in out
