"""Sums of maxima as networks: depth, widths, and the function to the last bit."""

import numpy as np
import pytest
import torch

from rankcheck.theory.witnesses.max_layers import maximum_of
from rankcheck.theory.witnesses.piecewise_linear import (
    MaxForm,
    binary_tree,
    least_depth,
    max_network,
)

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


@pytest.mark.oracle("rankcheck.witnesses.binary_tree", "numpy.max")
def test_the_tree_in_numpy():
    rng = np.random.default_rng(1)
    for pieces in (1, 2, 3, 5, 8, 13):
        tree = binary_tree(pieces)
        x = rng.integers(-20, 21, (30, pieces)).astype(float)
        assert np.array_equal(plain(tree.network())(x)[:, 0], x.max(-1))
        assert (tree.times, tree.hidden_layers) == (1, least_depth(pieces) - 1)


def test_another_maximum_in_place_of_the_tree():
    rng = np.random.default_rng(2)
    for pieces in (5, 9, 10):
        f = form(3, pieces)
        net = max_network(f, maximum=maximum_of(pieces))
        assert net.depth == least_depth(pieces) - 1
        x = rng.integers(-20, 21, (30, 3)).astype(float)
        expected = [by_hand(f, row) for row in x.tolist()]
        assert np.allclose(plain(net)(x), expected, rtol=1e-13, atol=1e-11)
    with pytest.raises(ValueError, match="received a maximum of 5 numbers for terms of 4 pieces"):
        max_network(form(3, 4), maximum=maximum_of(5))
    with pytest.raises(ValueError, match="received depth 2; maxima of 5 pieces take depth 3"):
        max_network(form(3, 5), 2, maximum=maximum_of(5))
