"""`claim.verify()`, `.hunt()`, `.sharpen()`, `.prove()`: what the commands do, at a prompt."""

import argparse
import inspect
import sys

import pytest

from rankcheck import leq
from rankcheck.claims.claim import Claim
from rankcheck.errors import InputError
from rankcheck.faces.commands import hunt, prove, sharpen, verify

COMMANDS = {"verify": verify, "hunt": hunt, "sharpen": sharpen, "prove": prove}
#: What a command does with processes, files and standard output has no place in a method.
OTHERS = {"selectors", "selector", "help", "limit", "json", "html", "coq"}


@pytest.fixture
def claim(declare, scalars, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return declare(lambda x: leq(x, 7), scalars(), kind="conjecture")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_options_are_those_of_the_command(name):
    command = argparse.ArgumentParser()
    COMMANDS[name].add_arguments(command)
    options = {one.dest: one.default for one in command._actions if one.dest not in OTHERS}
    parameters = inspect.signature(getattr(Claim, name)).parameters
    if name == "verify":
        del options["workers"]  # one claim has one process
    for option, default in options.items():
        assert option in parameters
        assert parameters[option].default in (default, None), option


def test_verify(claim):
    row = claim.verify(shrink=0)
    assert row.verdict == "refuted"
    assert row.counterexample.x > 7
    assert row.certificate == ".rankcheck/t.made-up.json"
    assert row.counterexample.certificate == row.certificate


def test_hunt(claim):
    found = claim.hunt(None, rounds=1)
    assert found.verdict == "refuted"
    assert claim(found.counterexample.x).violated()
    assert found.certificate == ".rankcheck/t.made-up.json"


def test_the_hunt_of_a_control(declare, scalars, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def body(x, *, most=9):
        return leq(x, most)

    claim = declare(body, scalars(), mutants={"six": {"most": 6}})
    found = claim.hunt(None, rounds=1, control="six")
    assert found.verdict == "refuted"
    assert found.counterexample.x > 6
    assert found.certificate is None


def test_sharpen(claim):
    found = claim.sharpen(budget=None, tasks=2, shrink=0.1)
    assert found.verdict == "refuted"
    assert found.counterexample.x > 7


def test_prove(declare, scalars, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    claim = declare(lambda x: leq(0, x * x), scalars())
    found = claim.prove(seconds=5, keep=True)
    assert (found.verdict, found.counterexample) == ("proved", None)
    assert capsys.readouterr().out.startswith("kept in ")


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("verify", {"profile": "slow"}, "there is no profile 'slow'"),
        ("verify", {"seed": "one"}, "seed is 'one'; it is a whole number"),
        ("hunt", {"budget": 0}, "the budget is 0"),
        ("hunt", {"control": "no"}, "has no control 'no'"),
        (
            "hunt",
            {"budget": 1, "workers": 2},
            "which is not a file; workers import that",
        ),
        ("sharpen", {"dial": "p=1..2"}, "has no dial 'p'"),
        ("prove", {"shape": "depth=1"}, "shape is 'depth=1'; it has whole numbers"),
        ("prove", {"seconds": 0}, "a proof has a positive, finite number of seconds"),
    ],
)
def test_wrong_input(claim, name, options, said):
    with pytest.raises(InputError, match=said.replace(".", r"\.")):
        getattr(claim, name)(**options)


def test_an_option_that_does_not_exist(claim):
    with pytest.raises(TypeError, match="budgt"):
        claim.hunt(budgt=3)


def test_on_a_terminal_the_live_part_is_drawn_and_removed(claim, terminal, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal)
    claim.hunt(None, rounds=1)
    assert "\x1b[" in terminal.getvalue()


def test_elsewhere_nothing_is_shown(claim, capsys):
    claim.verify(shrink=0)
    assert capsys.readouterr() == ("", "")
