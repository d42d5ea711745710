"""A hunt begins with every small instance."""

import json
from pathlib import Path

import pytest

from rankcheck.commands.cli import main
from rankcheck.hunt import HuntError, hunt

from .test_command import selector


def test_the_smallest_counterexample_is_found_first(hunted, tmp_path):
    found = hunt(hunted("easy"), 30, folder=tmp_path, scope=4)
    assert (found.verdict, found.strategy, found.rounds) == ("refuted", "scope", 0)
    assert found.smallest is found.violation
    assert "smallest: the first violation among all " in found.message
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


def test_a_negative_scope_is_refused(hunted):
    with pytest.raises(HuntError, match="the scope is -1"):
        hunt(hunted("true"), 1, scope=-1)


def test_the_option(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["hunt", selector("easy"), "--scope", "4", "--json", "r.json"]) == 1
    [result] = json.loads(Path("r.json").read_text())["hunts"]
    assert (result["strategy"], result["scope"]["entries"]) == ("scope", 4)
    assert main(["hunt", selector("easy"), "--scope", "-2"]) == 2
    assert "--scope is -2" in capsys.readouterr().err
