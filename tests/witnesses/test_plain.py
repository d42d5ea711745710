"""The numpy form of networks, against torch.nn.Sequential and autograd."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.autograd.functional import jacobian

from rankcheck.networks import Network

from ._plain import plain


@pytest.mark.parametrize("slope", [0.0, 0.5, -0.75])
def test_values_and_jacobians_are_those_of_torch(slope):
    torch.manual_seed(0)
    activations = [nn.LeakyReLU(slope), nn.LeakyReLU(slope)]
    linear = [nn.Linear(m, n).double() for m, n in ((2, 5), (5, 4), (4, 3))]
    module = nn.Sequential(linear[0], activations[0], linear[1], activations[1], linear[2])
    net = plain(Network.from_module(module))
    x = 3 * torch.randn(20, 2, dtype=torch.float64)
    assert net.widths == (2, 5, 4, 3)
    np.testing.assert_allclose(net(x), module(x).detach().numpy(), atol=1e-13)
    np.testing.assert_allclose(net.layers(x)[2], module[:4](x).detach().numpy(), atol=1e-13)
    for point in x:
        J = jacobian(module, point).numpy()
        np.testing.assert_allclose(net.jacobian(point.numpy()), J, atol=1e-13)
    assert net.cost == pytest.approx(
        sum(float((p.detach() ** 2).sum()) for p in module.parameters())
    )


def test_a_batch_with_an_array_of_slopes():
    g = np.random.default_rng(0)
    weights = [torch.tensor(g.normal(size=(3, *s))) for s in ((4, 2), (1, 4))]
    biases = [torch.tensor(g.normal(size=(3, n))) for n in (4, 1)]
    net = plain(Network(weights, biases, torch.tensor([0.0, 0.5, -0.5]).double()))
    x = g.normal(size=(3, 6, 2))
    for i, slope in enumerate((0.0, 0.5, -0.5)):
        z = x[i] @ weights[0][i].numpy().T + biases[0][i].numpy()
        z = nn.functional.leaky_relu(torch.tensor(z), slope).numpy()
        expected = z @ weights[1][i].numpy().T + biases[1][i].numpy()
        np.testing.assert_allclose(net(x)[i], expected, atol=1e-14)
        np.testing.assert_allclose(net.one(i)(x[i]), expected, atol=1e-14)
