from __future__ import annotations

from fractions import Fraction

import pytest

from rankcheck.engine.parallel import executor_for
from rankcheck.sharpen.doubt import doubt
from rankcheck.sharpen.search import Search, work_of
from rankcheck.sharpen.settings import Settings


@pytest.fixture
def doubted(sharp):
    """`doubted("hill", …)`: a search that has found nothing, after a hunt."""

    def make(name, seconds, dial=None):
        claim = sharp(name)
        search = Search(claim, Settings(), executor_for(None, work_of(claim)), dial=dial)
        doubt(search, seconds)
        return search

    return make


def test_what_a_hunt_proves_false_is_kept(doubted):
    search = doubted("hill", 60.0, ("factor", Fraction(2)))
    assert search.refuted()
    assert search.best["relation 1"].attained.refutes
    assert search.counts.evaluated > 0


def test_what_is_false_without_a_ratio_is_kept_as_well(doubted):
    search = doubted("zero", 60.0)
    assert search.refuted()
    assert search.best == {}


def test_what_survives_leaves_nothing(doubted):
    assert not doubted("hill", 0.2, ("factor", Fraction(1, 2))).refuted()
