"""Sums of maxima as networks: depth, widths, and the function to the last bit."""

import numpy as np
import pytest
import torch

from rankcheck.witnesses.piecewise_linear import MaxForm, least_depth, max_network

from ._plain import plain


def form(n, pieces, terms=3, outputs=2, batch=(), seed=0):
    g = torch.Generator().manual_seed(seed)
    integers = torch.randint(-9, 10, (*batch, terms, pieces, n + 1), generator=g).double()
    signs = 2.0 * torch.randint(0, 2, (*batch, outputs, terms), generator=g).double() - 1
    return MaxForm(integers[..., :n], integers[..., n], signs)


def by_hand(form, x):
    """f at one point, with Python numbers."""
    gradients, offsets = form.gradients.tolist(), form.offsets.tolist()
    maxima = [
        max(
            sum(c * y for c, y in zip(row, x, strict=True)) + d
            for row, d in zip(rows, ds, strict=True)
        )
        for rows, ds in zip(gradients, offsets, strict=True)
    ]
    return [sum(s * m for s, m in zip(row, maxima, strict=True)) for row in form.signs.tolist()]


def test_one_depth_less_is_refused():
    with pytest.raises(ValueError, match="received depth 3; maxima of 5 pieces take depth 4"):
        max_network(form(4, 5), 3)


def test_shapes_are_checked():
    f = form(2, 3)
    with pytest.raises(ValueError, match="received gradients, offsets and signs of shapes"):
        MaxForm(f.gradients, f.offsets[:, :2], f.signs)
    with pytest.raises(ValueError, match="J, K >= 1"):
        MaxForm(f.gradients[:, :0], f.offsets[:, :0], f.signs)


@pytest.mark.oracle("rankcheck.witnesses.least_depth", "halvings of the number of pieces, counted")
def test_the_least_depth_by_halving():
    for pieces in (*range(1, 70), *(2**e + shift for e in (20, 48, 60) for shift in (-1, 0, 1))):
        levels, left = 0, pieces
        while left > 1:
            left, levels = left - left // 2, levels + 1
        assert least_depth(pieces) == levels + 1
    with pytest.raises(ValueError, match="received 0 pieces"):
        least_depth(0)


@pytest.mark.oracle("rankcheck.witnesses.max_network", "sums of maxima in Python numbers")
def test_the_network_in_numpy():
    rng = np.random.default_rng(0)
    for pieces in (1, 2, 3, 5, 6):
        f = form(3, pieces)
        x = rng.integers(-20, 21, (30, 3)).astype(float)
        expected = [by_hand(f, row) for row in x.tolist()]
        for depth in (None, least_depth(pieces), least_depth(pieces) + 2):
            net = plain(max_network(f, depth))
            assert not net.slope
            assert np.array_equal(net(x), expected)
            if depth:
                assert len(net.weights) == depth
