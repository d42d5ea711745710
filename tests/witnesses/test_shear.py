"""The shear network: its function, its Jacobians, its vanishing excess, its errors."""

import math

import numpy as np
import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.witnesses.shear import shear, shear_network

from ._plain import plain


def number(value: float) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64)


POINTS = torch.rand(200, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_two_jacobians_of_determinant_one():
    net = shear_network(8, number(1.5), number(1.0))
    J = net.jacobian(torch.tensor([[0.2, 0.6, 0.1], [0.6, 0.2, 0.1]], dtype=torch.float64))
    sheared = torch.tensor([[1.0, 0, 0], [0, 1, 0], [1, -1, 1]], dtype=torch.float64)
    torch.testing.assert_close(J, torch.stack((torch.eye(3, dtype=torch.float64), sheared)))


def test_the_function_is_lost_below_the_orthant():
    x = torch.tensor([0.9, 0.1, -2.0], dtype=torch.float64)
    assert (shear_network(4, number(1.5), number(1.0))(x) - shear(x, number(1.0))).abs().max() > 1


def test_the_excess_vanishes_and_the_hidden_maps_diverge():
    """At ε = L^(−3/4) the excess is about 12/√L: 0.188 at L = 4096."""
    excess, norms = [], []
    for depth in (64, 512, 4096):
        net = shear_network(depth, number(math.exp(depth**-0.75)), number(1.0))
        excess.append((net.cost() - 3 * depth).item())
        norms.append(math.exp((depth - 2) / 2 * depth**-0.75))
    assert excess[0] > excess[1] > excess[2]
    assert excess[2] == pytest.approx(0.188, abs=5e-4)
    assert norms[2] / norms[0] > 13


def test_the_first_of_the_two_jacobians_bounds_needs_its_constant():
    """R^(1) = 0 is below ‖I − Jf‖_* = √2, the bound from two Jacobians at C = 1."""
    difference = torch.tensor([[0.0, 0, 0], [0, 0, 0], [1, -1, 0]], dtype=torch.float64)
    assert torch.linalg.svdvals(difference).sum().item() == pytest.approx(math.sqrt(2))


def test_batches_balls_and_errors():
    stretch = torch.tensor([1.0, 1.5], dtype=torch.float64)
    net = shear_network(6, stretch, stretch)
    torch.testing.assert_close(net(POINTS[:2]), shear(POINTS[:2], stretch))
    exact = shear_network(6, BallArray.exact(2), BallArray.exact(1))
    assert bool(exact.cost() == BallArray.exact(14145) / 256)
    for depth in (0, 5):
        with pytest.raises(ValueError, match=f"received depth {depth}"):
            shear_network(depth, number(1.0), number(1.0))


@pytest.mark.oracle("rankcheck.witnesses.shear", "numpy.maximum")
@pytest.mark.oracle(
    "rankcheck.witnesses.shear_network", "numpy.maximum, and the cost by its layers"
)
def test_the_shear_and_its_network_in_numpy():
    x = np.random.default_rng(0).uniform(0, 3, (50, 3))
    r, c = np.array([1.0, 1.25, 1.5]), np.array([0.0, 2.0, 0.5])
    expected = np.repeat(x[None], 3, 0)
    expected[..., 2] += c[:, None] * np.maximum(x[:, 0] - x[:, 1], 0)
    found = shear(torch.tensor(x).expand(3, 50, 3), torch.tensor(c)[:, None])
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-15)
    for depth in (2, 4, 8):
        net = plain(shear_network(depth, torch.tensor(r), torch.tensor(c)))
        assert not net.slope
        assert net.widths == (*[3] * (depth // 2), 4, *[3] * (depth // 2))
        np.testing.assert_allclose(net(x), expected, rtol=1e-11)
        half, q = depth // 2 - 1, r ** -(depth / 2 - 1)
        stretches = half * (2 * r**2 + r**-4 + 2 * r**-2 + r**4)
        np.testing.assert_allclose(net.cost, stretches + 6 + 2 * q**2 + c**2 * q**4, rtol=1e-13)
