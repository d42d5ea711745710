"""A small experiment that every test of this room may run, under its name."""

import pytest

from rankcheck.experiments import known

from . import toy as toy_


@pytest.fixture
def toy(monkeypatch):
    """`toy(fault=...)` makes the experiment of the tests go wrong."""
    monkeypatch.setitem(known._MODULES, toy_.NAME, toy_.__name__)

    def make(**options):
        monkeypatch.setattr(toy_, "EXPERIMENT", toy_.Toy(**options))

    make()
    return make
