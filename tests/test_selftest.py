"""`rankcheck doctor`: each of its tasks notices an engine that is broken."""

from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest
import torch

from rankcheck import selftest
from rankcheck.claims.catalogue.certificates import CertificateError
from rankcheck.claims.relations import Relation
from rankcheck.networks import Network

# The package has a function of that name.
replay = import_module("rankcheck.engine.counterexamples.replay")
REFUTED, HOLDS, REFUSED = TASKS = (
    "a false statement is refuted",
    "a true statement holds",
    "a forged certificate is refused",
)

pytestmark = pytest.mark.slow


def test_versions_and_a_line_for_each_task(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = command("doctor")
    assert (code, err) == (0, "")
    assert f"torch          {version('torch')}\n" in out
    refuted, holds, refused = out.splitlines()[-3:]
    assert refuted.startswith(f"ok     {REFUTED}: depth 1")
    assert refuted.endswith("lhs 1 > rhs 1/2, in 128 bits")  # |1|² against 1² / 2
    assert holds.startswith(f"ok     {HOLDS}: on ")
    # For its numbers, and not for a field that is read before them.
    assert refused == f"ok     {REFUSED}: doctor.true.json does not refute doctor.true: satisfied"
    assert list(Path().iterdir()) == []


def blind(patch):
    patch.setattr(Relation, "violated", lambda self: torch.zeros_like(self.asserted))


def too_small_costs(patch):
    """In floats and in balls: what is true is refuted."""
    cost = Network.cost
    patch.setattr(Network, "cost", lambda self: 0.9 * cost(self))


def controls_of_no_effect(patch):
    patch.setattr(Relation, "strengthened", lambda self, by=0.0: self)


def believed(patch):
    def prove(path, claim, stated, _):
        return replay._instance(path, claim, stated), stated["description"]

    patch.setattr(replay, "_prove", prove)


def nothing_replays(patch):
    def prove(*_):
        raise CertificateError("it proves nothing")

    patch.setattr(replay, "_prove", prove)


@pytest.mark.parametrize(
    ("break_", "wrong"),
    [
        (blind, {REFUTED, REFUSED}),  # without a certificate there is nothing to forge
        (nothing_replays, {REFUTED}),
        (too_small_costs, {HOLDS}),
        (controls_of_no_effect, {HOLDS}),
        (believed, {REFUSED}),
    ],
)
def test_a_broken_engine_ends_with_4(command, monkeypatch, break_, wrong):
    break_(monkeypatch)
    code, out, err = command("doctor")
    assert code == 4
    assert {task for task in TASKS if f"WRONG  {task}: " in out} == wrong
    assert {task for task in TASKS if task in err} == wrong
    assert "this installation cannot be trusted" in err


def test_what_raises_is_wrong_and_the_others_are_tried(tmp_path, monkeypatch):
    def raising(*_):
        raise OSError("two\nlines")

    monkeypatch.setattr(selftest, "verify_claim", raising)
    said = [(one.right, one.said) for one in selftest.outcomes(tmp_path)]
    assert said[:2] == [(False, "it raised OSError: two lines")] * 2
    assert said[2][1].startswith("it raised FileNotFoundError: ")
