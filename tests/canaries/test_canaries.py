"""The canaries come out as they have to, and a run that begins with a wrong one stops.

What they notice is in `tests/breaks`.
"""

import os
import subprocess
import sys
from importlib import metadata

import pytest

from rankcheck.canaries import run as canaries
from rankcheck.canaries.trust import check_canaries
from rankcheck.commands import cli
from rankcheck.counterexamples import instance
from rankcheck.counterexamples.judge import Judgement
from rankcheck.errors import InstallationError
from rankcheck.verification import controls
from tests.claim_text import claim

SATISFIED = Judgement("satisfied", 128)


@pytest.mark.slow
def test_all_come_out_as_they_have_to():
    assert len({canary.name for canary in canaries.CANARIES}) == len(canaries.CANARIES)
    assert [canary.name for canary, wrong in canaries.outcomes() if wrong is not None] == []


@pytest.fixture
def blind(monkeypatch):
    """The judge calls everything satisfied, and no process has asked the canaries yet."""
    monkeypatch.setattr(instance, "judge", lambda *arguments, **options: SATISFIED)
    check_canaries.cache_clear()
    yield
    check_canaries.cache_clear()


def test_the_error_names_the_canary_and_the_versions(blind):
    with pytest.raises(InstallationError) as raised:
        check_canaries()
    said = str(raised.value)
    assert "this installation cannot be trusted: of the canary 'false by 2 percent', the" in said
    assert f"torch {metadata.version('torch')}" in said


def test_doctor(capsys, monkeypatch):
    some = [canary for canary in canaries.CANARIES if canary.stage == "needs"]
    monkeypatch.setattr(canaries, "CANARIES", some)
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert f"torch          {metadata.version('torch')}" in out
    assert out.count(" ok\n") == len(some)
    assert "\nneeds\n  a hypothesis that can be dropped  " in out
    monkeypatch.setattr(controls, "check_control", lambda *_: controls.Control(True))
    assert cli.main(["doctor"]) == 4
    out, err = capsys.readouterr()
    assert "WRONG: the verdict is holds, and has to be failed" in out
    assert "this installation cannot be trusted: 'a hypothesis that can be dropped'" in err


BLIND = """
import torch
from rankcheck.claims.relations import Relation
Relation.asserted = property(lambda self: torch.zeros_like(self.lhs) > 1)
"""


@pytest.mark.slow
def test_verify_stops_before_its_first_claim(tmp_path):
    """A broken installation: a module that Python imports at its start makes the engine blind."""
    (tmp_path / "sitecustomize.py").write_text(BLIND)
    verify = ["verify", "rank.relu-from-leaky", "rank.sandwich", "--workers", "2"]
    ran = subprocess.run(
        [sys.executable, "-m", "rankcheck", *verify],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        check=False,
    )
    assert ran.returncode == 4, ran.stderr
    assert "rankcheck: this installation cannot be trusted: of the canary" in ran.stderr
    assert "holds      rank" not in ran.stdout


def test_hunt_stops_before_its_first_claim(mine, command, blind):
    mine(claim("true"))
    code, out, err = command("hunt", "mine.py", "--budget", 1, "--limit", 0)
    assert (code, out) == (4, "")
    assert "this installation cannot be trusted: of the canary" in err


def test_pytest_stops_before_its_first_claim(pytester, blind):
    pytester.makepyfile(
        test_mine="""
        from rankcheck import eq, identity, paper
        from rankcheck.instances.source import instances
        @instances
        def numbers(source):
            return source.tensor()
        @identity("t.canary-pytest", paper("rank", "p. 1"), instances=numbers())
        def test_it(x):
            '''$x = x$'''
            return eq(x, x)
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret == 4
    result.stdout.fnmatch_lines(["*this installation cannot be trusted*"])
