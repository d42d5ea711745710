"""The statements of benchmarks/statements/false_kinds.py are false, for the reasons they give."""

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.counterexamples.judge import judge
from rankcheck.engine.verification.check import verify_claim
from rankcheck.engine.verification.profiles import PROFILES, Settings
from rankcheck.theory.instances.choices import read_choices

FILE = Path(__file__).parents[2] / "benchmarks" / "statements" / "false_kinds.py"
CLAIMS = load(select([str(FILE)]))
GIVEN = sys.modules[CLAIMS[0].body.__module__].COUNTEREXAMPLES


def true_variant(claim):
    return replace(claim, body=partial(claim.body, **GIVEN[claim.id].true))


def test_each_statement_has_its_counterexample():
    assert {claim.id for claim in CLAIMS} == GIVEN.keys()
    assert len(GIVEN) == 12


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_counterexample_refutes_its_statement_alone(claim):
    record = read_choices(claim.instances, json.loads(GIVEN[claim.id].choices))

    assert judge(claim, record).finding == "refuted"
    assert judge(true_variant(claim), record).finding == "satisfied"


@pytest.mark.nightly
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_the_true_variant_stands(claim, tmp_path):
    settings = Settings(PROFILES["quick"], folder=tmp_path, shrink=0.01)

    assert verify_claim(true_variant(claim), settings).verdict != "refuted"
