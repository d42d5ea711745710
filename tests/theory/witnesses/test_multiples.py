"""Multiples of networks, each layer scaled alike."""

import numpy as np
import pytest
import torch

from rankcheck.theory.witnesses.multiples import multiple
from tests.draws import normal, random_network, uniform

from ._plain import plain


@pytest.mark.parametrize("widths", [(3, 2), (3, 4, 2), (3, 1, 5, 2)])
@pytest.mark.oracle("rankcheck.witnesses.multiple", "both networks evaluated in numpy")
def test_multiples_in_numpy(widths):
    x = np.random.default_rng(0).normal(size=(4, 30, 3)) * 5
    net = random_network(widths, slope=-0.25, batch=(4,))
    root, sign = uniform(1, 4) + 0.5, normal(2, 4).sign()
    scaled = multiple(net, root, sign)
    factor = (sign * root**net.depth).numpy()[:, None, None]
    np.testing.assert_allclose(plain(scaled)(x), factor * plain(net)(x), rtol=1e-12)
    for w, v in zip(scaled.weights, net.weights, strict=True):
        assert torch.allclose(w.abs(), root[:, None, None] * v.abs())


@pytest.mark.parametrize("shapes", [((), (4,)), ((4,), ()), ((4, 1), (4,))])
def test_each_network_takes_one_number(shapes):
    net = random_network((2, 3, 1), batch=(4,))
    with pytest.raises(ValueError, match="takes one number"):
        multiple(net, *(torch.ones(shape, dtype=torch.float64) for shape in shapes))
