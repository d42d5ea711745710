"""A hunt survives failing gradients, strategies and instances, and says so."""

from __future__ import annotations

import pytest

from rankcheck.engine.hunt import hunt
from rankcheck.engine.hunt.arena import Arena, Shape
from rankcheck.engine.hunt.strategies import Descend, Screen
from rankcheck.engine.hunt.strategies.descend import NO_GRADIENT, descend
from rankcheck.engine.hunt.strategies.starts import starts

pytestmark = pytest.mark.slow  # whole hunts

HERE = Shape("instances", ())


def test_a_gradient_that_raises_everywhere_ends_descents_and_is_told(hunted):
    arena = Arena(hunted("no-backward"), HERE)
    assert descend(arena, starts(arena, 0, 64), 0) is None
    ((why, number),) = arena.troubles.items()
    assert why == "descend: a gradient raised NotImplementedError: no backward for N entries"
    assert number == 1
    assert arena.counts.evaluated < 10_000


def test_the_troubles_of_a_hunt_are_counted_and_told(hunted, tmp_path):
    found = hunt(hunted("no-backward-true"), None, rounds=2, folder=tmp_path)
    assert found.verdict == "survived"
    ((why, number),) = found.troubles.items()
    assert f"{why} ({number} times)" in found.message
    assert found.to_json()["troubles"] == {why: number}


def test_a_margin_without_gradient_is_told(hunted, tmp_path):
    found = hunt(hunted("whole"), None, rounds=1, folder=tmp_path)
    assert found.troubles == {}
    found = hunt(
        hunted("discrete"), None, rounds=2, strategies=[Screen(), Descend()], folder=tmp_path
    )
    assert found.troubles[NO_GRADIENT] > 0
    assert found.message.count(NO_GRADIENT) == 1


def test_points_of_equality_do_not_fill_the_starts(hunted):
    arena = Arena(hunted("equality-set"), HERE)
    begin = starts(arena, 0, 96)
    equal = begin.margins.distance[0] == 0
    assert 0 < int(equal.sum()) < len(begin) / 2


def test_a_descent_leaves_points_of_equality(hunted):
    arena = Arena(hunted("equality-set"), HERE)
    sample = arena.sample(0, 200, structured=True)
    equal = sample.select((sample.margins.distance[0] == 0).nonzero().reshape(-1)).first(32)
    assert len(equal) > 4
    found = descend(arena, equal, 0)
    assert arena.offer(found) > len(equal) / 2
