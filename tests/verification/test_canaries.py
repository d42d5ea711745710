"""The canaries come out as they have to, and notice an engine that is too lenient or too strict."""

import os
import subprocess
import sys
from dataclasses import replace
from importlib import metadata

import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.claims import tolerances
from rankcheck.claims.relations import Relation
from rankcheck.commands import cli
from rankcheck.counterexamples import instance
from rankcheck.counterexamples.judge import Judgement, judge
from rankcheck.errors import InstallationError
from rankcheck.instances.source import Source
from rankcheck.parallel.pool import Pool
from rankcheck.verification import canaries, check, controls, scope, search, stages
from rankcheck.verification.ledger import Mutants

SATISFIED = Judgement("satisfied", 128)


def wrong():
    return [canary.name for canary, problem in canaries.outcomes() if problem is not None]


def test_all_come_out_as_they_have_to():
    assert wrong() == []
    assert len({canary.name for canary in canaries.CANARIES}) == len(canaries.CANARIES) >= 12


def judged_as(change):
    """Replace the judge wherever it was imported."""

    def planted(patch):
        patch.setattr(instance, "judge", lambda *a, **k: change(judge(*a, **k)))

    return planted


def nothing_is_violated(patch):
    patch.setattr(Relation, "violated", lambda self: torch.zeros_like(self.asserted))
    for module in (search, scope):
        patch.setattr(module, "excess", lambda relations, batch, **_: torch.full(batch, -torch.inf))


def tolerance_too_wide(patch):
    patch.setattr(tolerances, "SAFETY", 4e3)


def nothing_is_asserted(patch):
    original = Relation.asserted.fget

    def asserted(self):
        found = original(self)
        return found if self.where is None else torch.zeros_like(found)

    patch.setattr(Relation, "asserted", property(asserted))


def where_is_ignored(patch):
    patch.setattr(Relation, "asserted", property(lambda self: torch.ones_like(self.lhs) > 0))


def nothing_is_drawn(patch):
    patch.setattr(stages, "draw", lambda *a, **k: None)


def batches_are_not_checked(patch):
    patch.setattr(check, "check_batching", lambda *a: None)


def mutants_all_die(patch):
    patch.setattr(check, "check_mutants", lambda *a: (Mutants(1, 1), {}))


def controls_all_break(patch):
    patch.setattr(controls, "check_control", lambda *a: controls.Control(True))


def rejections_are_ignored(patch):
    patch.setattr(Source, "require", lambda self, condition, why: None)


def everything_is_rejected(patch):
    def require(self, condition, why):
        self.valid = torch.zeros_like(self.valid)

    patch.setattr(Source, "require", require)


def certificates_are_not_replayed(patch):
    patch.setattr(check, "replay", lambda *a, **k: type("R", (), {"changed": False}))


def what_is_raised_is_forgotten(patch):
    patch.setattr(stages.Search, "raised", property(lambda self: []))


def every_search_holds(patch):
    patch.setattr(
        check,
        "_searched",
        lambda claim, settings, advance: replace(
            real_searched(claim, settings, advance), verdict="holds"
        ),
    )


real_searched = check._searched


def balls_without_exponential(patch):
    patch.setattr(BallArray, "exp", lambda self: 1 + self)


ENGINES = {
    "a judge that calls everything satisfied": judged_as(lambda found: SATISFIED),
    "a judge that calls the undecided satisfied": judged_as(
        lambda found: SATISFIED if found.finding == "undecided" else found
    ),
    "a judge that believes floats": judged_as(
        lambda found: replace(found, finding="refuted") if found.finding == "satisfied" else found
    ),
    "nothing is violated": nothing_is_violated,
    "a tolerance of 1e-10": tolerance_too_wide,
    "where is never true": nothing_is_asserted,
    "where is ignored": where_is_ignored,
    "nothing is drawn": nothing_is_drawn,
    "batches are not checked": batches_are_not_checked,
    "mutants all die": mutants_all_die,
    "controls all break": controls_all_break,
    "rejections are ignored": rejections_are_ignored,
    "everything is rejected": everything_is_rejected,
    "certificates are not replayed": certificates_are_not_replayed,
    "what is raised is forgotten": what_is_raised_is_forgotten,
    "every search holds": every_search_holds,
    "balls with a wrong exponential": balls_without_exponential,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
def test_a_broken_engine_is_noticed(monkeypatch, name):
    ENGINES[name](monkeypatch)
    assert wrong() != []


def test_the_error_names_the_canary_and_the_versions(monkeypatch):
    judged_as(lambda found: SATISFIED)(monkeypatch)
    canaries.check_canaries.cache_clear()
    try:
        with pytest.raises(InstallationError) as raised:
            canaries.check_canaries()
    finally:
        canaries.check_canaries.cache_clear()
    said = str(raised.value)
    assert "this installation cannot be trusted: of the canary 'false by 2 percent'" in said
    assert f"torch {metadata.version('torch')}" in said


@pytest.mark.slow
def test_doctor(capsys, monkeypatch):
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert f"torch          {metadata.version('torch')}" in out
    assert out.count(" ok\n") == len(canaries.CANARIES)
    controls_all_break(monkeypatch)
    assert cli.main(["doctor"]) == 4
    out, err = capsys.readouterr()
    assert "WRONG: the verdict is holds, and has to be failed" in out
    assert "rankcheck: this installation cannot be trusted: 'a mutant of no effect', 'a c" in err


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


def test_pytest_stops_before_its_first_claim(pytester, monkeypatch):
    judged_as(lambda found: SATISFIED)(monkeypatch)
    canaries.check_canaries.cache_clear()
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
    canaries.check_canaries.cache_clear()
    assert result.ret == 4
    result.stdout.fnmatch_lines(["*this installation cannot be trusted*"])
