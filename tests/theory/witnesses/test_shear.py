"""The shear network: its function and its cost."""

import numpy as np
import pytest
import torch

from rankcheck.theory.witnesses.shear import shear, shear_network

from ._plain import plain


@pytest.mark.parametrize("depth", [0, 5])
def test_the_depth_is_even_and_positive(depth):
    with pytest.raises(ValueError, match=f"received depth {depth}"):
        shear_network(depth, *torch.ones(2, dtype=torch.float64))


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
