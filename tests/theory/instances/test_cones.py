"""Cones: isometries into orthants, maps that keep the cones, and which cases occur."""

import torch

from rankcheck.theory.instances.cones import (
    isometry_at,
    linear_maps_on_cones,
    nonnegative_isometry,
)
from rankcheck.theory.instances.drivers import BatchSource
from tests.draws import batch_of

TOLERANCE = {"atol": 1e-12, "rtol": 0}


def gram_is_identity(A: torch.Tensor) -> None:
    identity = torch.eye(A.shape[-1], dtype=torch.float64).expand(*A.shape[:-2], -1, -1)
    torch.testing.assert_close(A.mT @ A, identity, **TOLERANCE)


def heights_of_three(source):
    return nonnegative_isometry(source, 3, torch.zeros(1, dtype=torch.float64))


def at_a_point(source):
    y = source.tensor(2)
    return y, isometry_at(source, y)


def test_isometries_are_nonnegative_and_of_both_heights():
    heights = set()
    for seed in range(12):
        O, _ = batch_of(heights_of_three, BatchSource(seed, 64))  # noqa: E741
        heights.add(O.shape[-2])
        assert (O >= 0).all()
        gram_is_identity(O)
    assert heights == {3, 6}


def test_isometries_at_a_point_are_taller_than_wide_and_turned_towards_it():
    heights = set()
    for seed in range(24):
        (y, O), _ = batch_of(at_a_point, BatchSource(seed, 64))  # noqa: E741
        heights.add(O.shape[-2])
        assert (O @ y.unsqueeze(-1) >= 0).all()
        assert (O < 0).any()
        gram_is_identity(O)
    assert heights == {2, 3, 4}


def test_maps_are_tall_and_wide_and_of_every_rank():
    shapes = set()
    for seed in range(30):
        (A, V, *_), _ = batch_of(linear_maps_on_cones(), BatchSource(seed, 32))
        shapes.add((V.shape[-1], A.shape[-2] > V.shape[-1], A.shape[-1] > V.shape[-1]))
        assert (torch.linalg.matrix_rank(A) == V.shape[-1]).all()
    assert {k for k, _, _ in shapes} == {1, 2, 3}
    assert {(tall, wide) for _, tall, wide in shapes} >= {(False, False), (True, True)}
