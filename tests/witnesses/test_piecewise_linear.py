"""Sums of maxima as networks: depth, widths, and the function to the last bit."""

import numpy as np
import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.networks import Network
from rankcheck.regions import regions
from rankcheck.witnesses.leaky_representation import leaky_representation
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


def test_batches():
    x = torch.randint(-20, 21, (4, 30, 3), generator=torch.Generator().manual_seed(1)).double()
    for pieces in (1, 4, 7):
        f = form(3, pieces, batch=(4,))
        assert torch.equal(max_network(f)(x), f(x))
        assert torch.equal(max_network(f)(x[:, 0]), f(x[:, 0]))


def test_one_depth_less_is_refused():
    with pytest.raises(ValueError, match="received depth 3; maxima of 5 pieces take depth 4"):
        max_network(form(4, 5), 3)


def test_rationals():
    f = form(2, 3, terms=2)
    exact = MaxForm(*map(BallArray.exact, (f.gradients, f.offsets, f.signs)))
    x = BallArray.exact(torch.randn(5, 2, generator=torch.Generator().manual_seed(3)).double())
    net = max_network(exact, 4)
    assert bool((net(x) == exact(x)).all())
    assert bool((leaky_representation(net, -0.5)(x) == exact(x)).all())


def test_gradients_pass_through():
    f = form(2, 3)
    gradients = f.gradients.clone().requires_grad_()
    net = max_network(MaxForm(gradients, f.offsets, f.signs))
    net(torch.ones(2, dtype=torch.float64)).sum().backward()
    assert gradients.grad is not None
    assert gradients.grad.abs().sum() > 0


def test_the_network_has_the_pieces_of_the_function_and_no_other():
    """max(x, y, 0): the three gradients, over all linear regions of the network."""
    f = MaxForm(
        torch.tensor([[[1.0, 0], [0, 1], [0, 0]]]).double(),
        torch.zeros(1, 3).double(),
        torch.ones(1, 1).double(),
    )
    cells = regions(max_network(f), -1, 1)
    pieces = {tuple(J[0]) for J in cells.jacobians.tolist()}
    assert pieces == {(1.0, 0.0), (0.0, 1.0), (0.0, 0.0)}
    assert not cells.offsets.any()


def test_a_wrong_combination_is_caught():
    """Negative control: max(a, b) = relu(a - b) + b needs relu(b) - relu(-b), not relu(b)."""
    f = form(1, 2, terms=1, outputs=1)
    net = max_network(f)
    broken = Network((net.weights[0], net.weights[1] * torch.tensor([1, 1, 0])), net.biases)
    x = torch.arange(-20.0, 21).double().unsqueeze(-1)
    assert not torch.equal(broken(x), f(x))


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
