"""The canaries come out as they have to, and a run that begins with a wrong one stops.

What they notice is in `tests/breaks`.
"""

import os
import subprocess
import sys
from importlib import metadata

import pytest

from rankcheck.canaries import controls as controls_of_claims
from rankcheck.canaries import run as canaries
from rankcheck.canaries.trust import check_canaries
from rankcheck.commands import cli
from rankcheck.counterexamples import instance
from rankcheck.counterexamples.judge import Judgement, judge
from rankcheck.errors import InstallationError
from rankcheck.parallel.pool import Pool
from rankcheck.verification import controls
from tests.claim_text import claim

SATISFIED = Judgement("satisfied", 128)


def wrong():
    return [canary.name for canary, problem in canaries.outcomes() if problem is not None]


@pytest.mark.slow
def test_all_come_out_as_they_have_to():
    assert wrong() == []


def test_names_differ():
    assert len({canary.name for canary in canaries.CANARIES}) == len(canaries.CANARIES) > 100


def replacing(place, name, value):
    return lambda patch: patch.setattr(place, name, value)


def judged_as(change):
    """Replace the judge where instances take it from."""
    return replacing(instance, "judge", lambda *a, **k: change(judge(*a, **k)))


controls_all_break = replacing(controls, "check_control", lambda *a: controls.Control(True))


def test_the_error_names_the_canary_and_the_versions(monkeypatch):
    judged_as(lambda found: SATISFIED)(monkeypatch)
    check_canaries.cache_clear()
    try:
        with pytest.raises(InstallationError) as raised:
            check_canaries()
    finally:
        check_canaries.cache_clear()
    said = str(raised.value)
    assert "this installation cannot be trusted: of the canary 'false by 2 percent', the" in said
    assert f"torch {metadata.version('torch')}" in said


@pytest.mark.slow
def test_doctor(capsys, monkeypatch):
    monkeypatch.setattr(canaries, "CANARIES", controls_of_claims.CANARIES)
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert f"torch          {metadata.version('torch')}" in out
    assert out.count(" ok\n") == len(canaries.CANARIES)
    assert "\nneeds\n  a hypothesis that can be dropped  " in out
    controls_all_break(monkeypatch)
    assert cli.main(["doctor"]) == 4
    out, err = capsys.readouterr()
    assert "WRONG: the verdict is holds, and has to be failed" in out
    assert "rankcheck: this installation cannot be trusted: 'a mutant of no effect', 'a m" in err


def _untrusted():
    raise InstallationError("a canary")


@pytest.mark.slow
def test_a_worker_that_cannot_be_trusted_stops_the_run():
    with Pool[int](_untrusted, 1) as pool:
        pool.submit(1)
        with pytest.raises(InstallationError, match="a canary"):
            list(pool.events())


BLIND = """
import torch
from rankcheck.claims.relations import Relation
Relation.asserted = property(lambda self: torch.zeros_like(self.lhs) > 1)
"""


@pytest.mark.slow
@pytest.mark.parametrize("more", [["--workers", "1"], ["--workers", "2"]])
def test_verify_stops_before_its_first_claim(tmp_path, more):
    """A broken installation: a module that Python imports at its start makes the engine blind."""
    (tmp_path / "sitecustomize.py").write_text(BLIND)
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "rankcheck",
            "verify",
            "rank.relu-from-leaky",
            "rank.sandwich",
            *more,
        ],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        check=False,
    )
    assert ran.returncode == 4, ran.stderr
    assert "rankcheck: this installation cannot be trusted: of the canary" in ran.stderr
    assert "holds      rank" not in ran.stdout


def test_hunt_stops_before_its_first_claim(mine, command, monkeypatch):
    judged_as(lambda found: SATISFIED)(monkeypatch)
    mine(claim("true"))
    check_canaries.cache_clear()
    code, out, err = command("hunt", "mine.py", "--budget", 1, "--limit", 0)
    check_canaries.cache_clear()
    assert (code, out) == (4, "")
    assert "this installation cannot be trusted: of the canary" in err


def test_pytest_stops_before_its_first_claim(pytester, monkeypatch):
    judged_as(lambda found: SATISFIED)(monkeypatch)
    check_canaries.cache_clear()
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
    check_canaries.cache_clear()
    assert result.ret == 4
    result.stdout.fnmatch_lines(["*this installation cannot be trusted*"])
