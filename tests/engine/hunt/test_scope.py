"""A hunt begins with every small instance."""

import json
from pathlib import Path

import torch

from rankcheck import leq
from rankcheck.engine.hunt import hunt
from rankcheck.engine.hunt.strategies.base import Stage
from rankcheck.faces.commands.cli import main
from rankcheck.theory.instances.source import instances

from .test_command import selector


def test_the_smallest_counterexample_is_found_first(hunted, tmp_path):
    found = hunt(hunted("easy"), 30, folder=tmp_path, scope=4)
    assert (found.verdict, found.strategy, found.rounds) == ("refuted", "scope", 0)
    assert found.smallest is found.violation
    assert found.margin == -float(found.smallest.judgement.relative_excess) < 0
    assert "smallest: the first violation that is proved among all " in found.message
    assert Path(found.certificate).exists()
    assert found.scope.counts.evaluated <= found.scope.instances


def test_what_survives_the_scope_is_hunted(hunted, tmp_path):
    found = hunt(hunted("true"), 30, folder=tmp_path, rounds=1, scope=9)
    assert (found.verdict, found.rounds) == ("survived", 1)
    assert found.scope.complete
    assert f"none among {found.scope.text} either" in found.message
    assert found.to_json()["scope"]["instances"] == found.scope.instances


def test_a_violation_that_cannot_be_proved_is_left_to_the_strategies(hunted, tmp_path):
    found = hunt(hunted("no-ball"), 30, folder=tmp_path, rounds=1, scope=4)
    assert found.verdict == "undecided"
    assert found.strategy != "scope"


def test_the_budget_ends_the_enumeration(hunted, tmp_path):
    found = hunt(hunted("true"), 0.001, folder=tmp_path, scope=12)
    assert not found.scope.complete
    assert "the budget ended within" in found.scope.text


def test_the_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["hunt", selector("easy"), "--scope", "4", "--json", "r.json"]) == 1
    [result] = json.loads(Path("r.json").read_text())["hunts"]
    assert (result["strategy"], result["scope"]["entries"]) == ("scope", 4)


class Few:
    """Looks at eight random instances of each shape."""

    name = "few"
    stage: Stage = "scout"
    visits = 1

    def search(self, arena, seed):
        arena.offer(arena.sample(seed, 8))


@instances
def five(source):
    return source.tensor(5)


#: One point in 3⁵, which the strategies do not come upon.
WANTED = torch.tensor([1.0, -1.0, 0.0, 1.0, 1.0], dtype=torch.float64)


def test_a_suspicion_that_only_the_scope_sees_is_no_pass(declare, tmp_path):
    def body(x):
        return leq(1, ((x - WANTED) ** 2).sum(-1), where=(x == x.round()).all(-1))

    claim = declare(body, five(), kind="conjecture", no_ball="for the test")
    without = hunt(claim, 30, folder=tmp_path, rounds=1, strategies=[Few()], scope=0)
    assert without.verdict == "survived"
    found = hunt(claim, 30, folder=tmp_path, rounds=1, strategies=[Few()], scope=5)
    assert (found.verdict, found.strategy) == ("undecided", "scope")
    assert "[1, -1, 0, 1, 1]" in found.message


def test_an_instance_that_raises_in_the_scope_is_no_pass(declare, tmp_path):
    def body(x):
        if isinstance(x, torch.Tensor):
            torch.linalg.cholesky((x - WANTED).square().sum(-1)[..., None, None])
        return leq(0, (x * x).sum(-1))

    claim = declare(body, five(), kind="conjecture")
    found = hunt(claim, 30, folder=tmp_path, rounds=1, strategies=[Few()], scope=5)
    assert found.verdict == "undecided"
    assert "raised _LinAlgError" in found.message
    assert not found.scope.complete
    assert found.scope.text.startswith("242 of all 243 instances")
