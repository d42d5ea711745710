"""A small experiment that every test of this room may run, under its name."""

from functools import cache, partial

import pytest

from rankcheck.audit.theorems import run as theorems
from rankcheck.audit.theorems.certify import Certifier
from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.experiments import known
from rankcheck.experiments.claims import Runs
from rankcheck.experiments.run import run_experiment

from . import toy as toy_


@pytest.fixture(autouse=True, scope="module")
def _in_floats():
    """The audits of trained networks take no time for ball arithmetic."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(theorems, "Certifier", partial(Certifier, seconds=0.0))
        yield


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """`tiny(name)`: the result of an experiment at its tiny scale, and its folder."""

    @cache
    def run(name):
        folder = tmp_path_factory.mktemp("tiny") / name
        return run_experiment(name, "tiny", folder=folder), folder

    return run


@pytest.fixture
def toy(monkeypatch):
    """`toy(fault=...)` makes the experiment of the tests go wrong."""
    monkeypatch.setitem(known._MODULES, toy_.NAME, toy_.__name__)

    def make(**options):
        monkeypatch.setattr(toy_, "EXPERIMENT", toy_.Toy(**options))

    make()
    return make


@pytest.fixture
def failing(request):
    """`failing(runs)`: the labels of the relations of the claim `NAME` that do not hold."""
    [claim] = load(select([request.module.NAME]))

    def of(runs):
        found = claim.relations((Runs(runs),))
        return [one.label for one in found if bool(one.violated().any())]

    return of
