from __future__ import annotations

import pytest
import torch

from rankcheck.engine.hunt.points import MagnitudeSource, ShapedSource, StructuredSource
from rankcheck.theory.instances.source import SMALLEST


def batch(source, *shape, low=-8.0, high=8.0):
    """What a source draws for all of its instances."""
    assert source.tensor(*shape, low=low, high=high).shape == shape
    return source.record.tensors[-1]


def structured(*shape, seed=0, size=512, **interval):
    return batch(StructuredSource((), seed, size), *shape, **interval)


@pytest.mark.parametrize(
    ("low", "high"), [(-8, 8), (0, 1), (-3, 0), (0.5, 0.75), (-2, -1), (-1, 3), (-3, 1)]
)
@pytest.mark.parametrize("shape", [(), (1,), (4,), (3, 2), (2, 2, 3), (0, 3)])
@pytest.mark.parametrize("make", [MagnitudeSource, StructuredSource])
def test_entries_lie_in_their_range_and_have_their_shape(make, shape, low, high):
    values = batch(make((), 0, 512), *shape, low=float(low), high=float(high))
    assert values.shape == (512, *shape)
    assert values.dtype == torch.float64
    assert bool(((values >= low) & (values <= high)).all())


def is_orthogonal(A):
    square = (A.mT @ A - torch.eye(A.shape[-1], dtype=A.dtype)).abs().amax((-2, -1)) < 1e-12
    return square & ((A != 0).sum((-2, -1)) == A.shape[-1] ** 2)


@pytest.mark.parametrize(
    ("what", "holds"),
    [
        ("zero", lambda A: (A == 0).all(-1).all(-1)),
        ("identity", lambda A: (torch.eye(3, dtype=A.dtype) == A).all(-1).all(-1)),
        ("ones", lambda A: (A == 1).all(-1).all(-1)),
        (
            "multiple of the identity, not by a power of two",
            lambda A: (
                ((A[:, :1, :1] * torch.eye(3, dtype=A.dtype) == A).all(-1).all(-1))
                & (torch.frexp(A[:, 0, 0])[0].abs() != 0.5)
                & (A[:, 0, 0] != 0)
            ),
        ),
        (
            "diagonal of rank two",
            lambda A: (
                (A.count_nonzero((1, 2)) == 2)
                & (torch.diagonal(A, dim1=1, dim2=2).count_nonzero(1) == 2)
            ),
        ),
        (
            "rank one, dense",
            lambda A: (torch.linalg.matrix_rank(A) == 1) & (A.count_nonzero((1, 2)) == 9),
        ),
        ("orthogonal, dense", is_orthogonal),
        ("one entry", lambda A: A.count_nonzero((1, 2)) == 1),
        ("signs", lambda A: (A.abs() == 1).all(-1).all(-1) & (torch.linalg.matrix_rank(A) == 3)),
        ("opposite rows", lambda A: (A[:, 0] == -A[:, 2]).all(-1) & (A[:, 0] != 0).any(-1)),
        (
            "permutation with signs",
            lambda A: (
                (A.count_nonzero(1) == 1).all(-1)
                & (A.count_nonzero(2) == 1).all(-1)
                & (torch.diagonal(A, dim1=1, dim2=2).count_nonzero(1) < 3)
                & (A.amax((1, 2)) == 1)
                & (A.amin((1, 2)) == -1)
            ),
        ),
        ("ends of the range", lambda A: (A.abs() == 8).all(-1).all(-1)),
    ],
)
def test_matrices_reach_every_structure(what, holds):
    assert bool(holds(structured(3, 3)).any()), what


def test_tensors_repeat_each_other_and_share_their_scale():
    source = StructuredSource((), 0, 512)
    first, second = batch(source, 2, 2), batch(source, 2, 2)
    dense = (64 * first != torch.round(64 * first)).all(-1).all(-1)
    assert bool((dense & (first == second).all(-1).all(-1)).any())
    assert bool((dense & (first == -second).all(-1).all(-1)).any())
    scale = first[:, 0, 0]
    eye = scale[:, None, None] * torch.eye(2, dtype=torch.float64)
    both = (first == eye).all(-1).all(-1) & (second == eye).all(-1).all(-1)
    assert bool((both & (64 * scale != torch.round(64 * scale))).any())


@pytest.mark.parametrize("make", [MagnitudeSource, StructuredSource])
@pytest.mark.parametrize(
    ("low", "high"), [(-0.01, 0.0), (0.0, 0.01), (-0.01, 0.01), (-(2.0**-25), 0.0)]
)
def test_what_is_nearly_zero_is_zero_also_at_the_end_of_a_range(make, low, high):
    size = batch(make((), 0, 512), 3, low=low, high=high).abs()
    assert bool((size == 0).any())
    assert bool(((size == 0) | (size >= SMALLEST)).all())


def test_the_smallest_number_is_not_zero():
    size = structured(3, low=-SMALLEST, high=SMALLEST).abs()
    assert set(size.unique().tolist()) == {0.0, SMALLEST}


@pytest.mark.parametrize(("low", "high"), [(-8.0, 8.0), (0.5, 4.0), (-4.0, -0.5)])
def test_magnitudes_belong_to_entries_rows_columns_or_both(low, high):
    size = batch(MagnitudeSource((), 0, 512), 3, 2, low=low, high=high).abs()
    assert bool((size <= max(-low, high)).all())
    by_rows = (size[..., :1] == size).flatten(1).all(1)
    by_columns = (size[:, :1] == size).flatten(1).all(1)
    minors = size[:, :1, :1] * size[:, 1:, 1:] - size[:, 1:, :1] * size[:, :1, 1:]
    products = (minors.abs() <= 1e-9 * size[:, :1, :1] * size[:, 1:, 1:]).flatten(1).all(1)
    for some in (by_rows, by_columns, products & ~by_rows & ~by_columns, ~products):
        assert bool(some.any())
    if low > 0 or high < 0:
        ends = size.amin(), size.amax()
        assert float(ends[0]) < 1.1 * min(abs(low), abs(high)) < 0.9 * float(ends[1])
        assert 0.45 < float((size < (low * high) ** 0.5).double().mean()) < 0.55


def test_scalars_reach_the_ends_of_their_range():
    values = structured(low=-0.25, high=3.0)
    for wanted in (0.0, 1.0, -0.25, 3.0, 0.5):
        assert bool((values == wanted).any())


@pytest.mark.parametrize("make", [ShapedSource, StructuredSource])
def test_the_same_seed_gives_the_same_points(make):
    def drawn(seed):
        source = make((3,), seed, 16)
        number = source.integer(0, 9)
        return number, batch(source, source.integer(1, 4), 2), batch(source)

    assert str(drawn(1)) == str(drawn(1))
    assert str(drawn(1)) != str(drawn(2))


def test_a_shape_is_followed_clamped_and_completed():
    source = ShapedSource((7, -3), 0)
    assert [source.integer(0, 9), source.integer(0, 9)] == [7, 0]
    drawn = {ShapedSource((), seed).integer(0, 9) for seed in range(60)}
    assert drawn == set(range(10))
