"""Claims about recorded experiments: on the record, and on the experiment made again."""

from dataclasses import replace

import pytest
import torch

from rankcheck.claims.claim import Need
from rankcheck.experiments.claims import Runs, mostly, recorded_runs
from rankcheck.verification.check import verify_claim
from rankcheck.verification.profiles import PROFILES, Settings

from .conftest import NAME

FAIR, BENT = ((("fair", True),),), ((("fair", False),),)


def heads(runs, *, heads=1):
    return mostly([run.measured["heads"] == heads for run in runs], "heads")


@pytest.fixture
def claim(declare, coins):
    """A claim about the fair coins, with the bent ones as the control."""

    def make(body=heads, where=FAIR, **options):
        options = {
            "kind": "statistical",
            "needs": {"fair": Need(recorded_runs(experiment=NAME, where=BENT))},
            "mutants": {"tails": {"heads": 0}},
            "no_ball": "a test says so",
            "no_batch": "a test says so",
        } | options
        return declare(body, recorded_runs(experiment=NAME, where=where), **options)

    return make


@pytest.fixture
def verify(tmp_path):
    def run(claim, profile="quick", seed=0, **options):
        settings = Settings(PROFILES[profile], seed, folder=tmp_path / "left")
        return verify_claim(claim, settings, **options)

    return run


def test_trial(claim, verify, coins):
    row = verify(claim())
    print(row)
    row = verify(claim(), "deep")
    print(row)
    row = verify(claim(), "deep", seed=1)
    print(row)
    coins.heads = {2: 3}
    row = verify(claim(), "deep", seed=2)
    print("\n".join(row.messages))
    assert 0
