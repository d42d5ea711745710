"""Unit vectors and pairs of them: on the sphere, and in the requested positions."""

import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.theory.instances.drivers import BatchSource, ReplaySource
from rankcheck.theory.instances.spheres import pair_on_grid, unit_pair, unit_vectors
from tests.draws import batch_of


def test_unit_vectors_have_length_one_exactly_on_balls():
    source = BatchSource(0, 64)
    x, _ = batch_of(lambda source: unit_vectors(source, 3, 5), source)
    assert x.shape == (64, 3, 5)
    torch.testing.assert_close((x * x).sum(-1), torch.ones(64, 3, dtype=torch.float64))
    exact = unit_vectors(ReplaySource(source.record.instance(7), BallArray.exact), 3, 5)
    assert bool(((exact * exact).sum(-1) == 1).all())
    with pytest.raises(ValueError, match="last axis of at least 1"):
        unit_vectors(source, 4, 0)


def test_on_the_sphere_of_dimension_zero_there_are_two_points():
    source = BatchSource(0, 64)
    x, _ = batch_of(lambda source: unit_vectors(source, 3, 1), source)
    assert x.shape == (64, 3, 1)
    assert sorted(set(x.flatten().tolist())) == [-1, 1]
    exact = unit_vectors(ReplaySource(source.record.instance(7), BallArray.exact), 3, 1)
    assert (exact.midpoints() == x[7]).all()
    sums = set()
    for seed in range(20):
        pair, _ = batch_of(lambda source: unit_pair(source, 1, 5), BatchSource(seed, 8))
        assert all((a.abs() == 1).all() for a in pair)
        sums |= set((pair[0] + pair[1]).flatten().tolist())
    assert sums == {-2, 0, 2}
    with pytest.raises(ValueError, match="the sum of two points is -2, 0 or 2"):
        pair_on_grid(source, 1, 5, middles=True)


@pytest.mark.parametrize("middles", [False, True])
@pytest.mark.parametrize(("d", "cells"), [(2, 2), (2, 40), (3, 7), (6, 6), (6, 300)])
def test_pairs_on_the_grid(d, cells, middles):
    source = BatchSource(1, 500)
    (x, y), valid = batch_of(lambda s: pair_on_grid(s, d, cells, middles=middles), source)
    assert valid.all()
    for a in (x, y):
        length = (a * a).sum(-1)
        torch.testing.assert_close(length, torch.ones_like(length), atol=1e-11, rtol=0)
    steps = (x + y) * cells / 2 - (0.5 if middles else 0.0)
    torch.testing.assert_close(steps, torch.round(steps), atol=1e-9, rtol=0)
    assert len(torch.unique(torch.round(steps))) >= (2 if cells <= d else 3)
    exact = ReplaySource(source.record.instance(3), BallArray.exact)
    for a in pair_on_grid(exact, d, cells, middles=middles):
        assert bool(((a * a).sum(-1) - 1).abs() < 1e-30)


def test_every_position_is_drawn():
    seen = set()
    for seed in range(40):
        (x, y), _ = batch_of(lambda source: unit_pair(source, 3, 5), BatchSource(seed, 8))
        inner = (x * y).sum(-1)
        seen.add((bool((inner > 1 - 1e-12).all()), bool((inner < -1 + 1e-12).all())))
    assert seen == {(False, False), (True, False), (False, True)}
