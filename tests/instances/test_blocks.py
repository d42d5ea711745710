"""Building blocks that claims share: balanced factors, signs, boxes, seams, steep slopes."""

from itertools import pairwise

import pytest
import torch

from rankcheck import linalg
from rankcheck.balls import BallArray
from rankcheck.instances import (
    Record,
    balanced_factors,
    box,
    draw_widths,
    instances,
    negative_seam,
    nonnegative_seam,
    point_in,
    signs,
    slope_in_range,
)
from rankcheck.instances.drivers import BatchSource, ReplaySource


@instances
def factors(source):
    return (balanced_factors(source, low=0.5),)


def test_balanced_factors_are_balanced_and_of_every_rank(swept):
    ranks = set()
    for _, (layers,) in swept(factors(), 150, size=4):
        for W, V in pairwise(layers):
            torch.testing.assert_close(W @ W.mT, V.mT @ V, rtol=0, atol=1e-12)
        ranks |= {(layers[0].shape[-1], int(r)) for r in linalg.rank(layers[0])}
        # W_1 = U_1 T U_0ᵀ and W_L ··· W_1 = U_L T^L U_0ᵀ
        product = layers[0]
        for layer in layers[1:]:
            product = layer @ product
        expected = linalg.singular_values(layers[0]) ** len(layers)
        torch.testing.assert_close(linalg.singular_values(product), expected, rtol=0, atol=1e-9)
    assert ranks == {(n, r) for n in range(1, 5) for r in range(1, n + 1)}


def test_balanced_factors_are_balanced_exactly_on_balls():
    source = BatchSource(4, 3)
    factors()(source)
    (layers,) = factors()(ReplaySource(source.record.instance(1), BallArray.exact))
    for W, V in pairwise(layers):
        assert bool((W @ W.mT == V.mT @ V).all())


def test_signs():
    assert set(signs(BatchSource(0, 50), 3).flatten().tolist()) == {-1.0, 1.0}
    assert slope_in_range(BatchSource(0, 50)).shape == (50,)


@pytest.mark.parametrize("count", [None, 1, 4])
def test_points_lie_in_their_box(count):
    source = BatchSource(0, 64)
    low, high = box(source, 3)
    x = point_in(source, low, high, count)
    assert x.shape == ((64, 3) if count is None else (64, count, 3))
    x = x.reshape(64, -1, 3)
    assert bool((x >= low.unsqueeze(-2) - 1e-15).all())
    assert bool((x <= high.unsqueeze(-2) + 1e-15).all())
    assert bool(((low >= -4) & (low <= high) & (high <= 4)).all())


def test_seams():
    negative = []
    for seed in range(20):
        f, g, x = nonnegative_seam(BatchSource(seed, 8))
        assert bool((g(x) >= -1e-9).all())
        assert f.widths[0] == g.widths[-1]
        f, g, x = negative_seam(BatchSource(seed, 8))
        negative.append(g(x)[..., -1])
    assert bool((torch.cat(negative) < 0).all())


def test_widths():
    assert draw_widths(BatchSource(0, None), (3, 3), (2, 2)) == [2, 2, 2, 2]
    assert draw_widths(BatchSource(0, None), (1, 1), (2, 2), inputs=5, outputs=7) == [5, 7]
    source = BatchSource(0, None)
    draw_widths(source, (2, 2), (1, 4), 1)
    assert isinstance(source.record, Record)
    assert len(source.record.integers) == 4
