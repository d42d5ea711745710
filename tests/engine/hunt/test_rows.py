"""Hunts under pytest, by `--rankcheck-hunt`. The pytest inside runs in-process."""

from __future__ import annotations

import json

import pytest

import rankcheck.engine.hunt.rows
import rankcheck.engine.verification.check  # noqa: F401 -- an inner run drops the modules it imports first
from rankcheck.claims import registry

pytestmark = pytest.mark.slow  # whole hunts

HEAD = """
import torch
from rankcheck import conjecture, leq
from rankcheck.theory.instances.source import instances

@instances
def points(source):
    return source.tensor(5, low=-4.0, high=4.0)
"""
DEEP = '''
@conjecture("guarded.deep", instances=points())
def test_deep(x):
    """False near a point that random points miss."""
    d = x - (x.new_zeros(5) + torch.sin(1 + torch.arange(5, dtype=torch.float64)))
    return leq(0 * d.sum(-1) + 0.00001, (d * d).sum(-1))
'''


@pytest.fixture
def run(pytester):
    def run(text, *arguments):
        (pytester.path / "test_mine.py").write_text(HEAD + text)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments)

    yield run
    registry.forget("guarded.deep")


def test_pytest_hunts_conjectures_on_request(run, pytester):
    done = run(DEEP, "--rankcheck-hunt", "60", "--rankcheck-ledger", "ledger.json")
    assert done.ret == 1
    assert "guarded.deep is false: lhs" in done.stdout.str()
    assert (pytester.path / ".rankcheck" / "guarded.deep.json").exists()
    [deep] = json.loads((pytester.path / "ledger.json").read_text())["claims"]
    assert deep["verdict"] == "refuted"
    assert deep["drawn"]["evaluated"] > 0  # it was verified, without a violation, and then hunted


def test_a_hunt_of_no_seconds_is_refused(run):
    done = run(DEEP, "--rankcheck-hunt", "0")
    assert done.ret == 4
    assert "--rankcheck-hunt was given 0.0" in done.stderr.str()
