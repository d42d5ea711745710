"""The costs of hidden units, against torch's vector norms."""

import pytest
import torch

from rankcheck.costs import path_norm_of_units, two_layer_network
from rankcheck.networks import Network, balance_neurons, unit_costs
from rankcheck.theory.instances.drivers import BatchSource
from rankcheck.theory.instances.networks import network
from tests.draws import batch_of


@pytest.mark.oracle("rankcheck.networks.unit_costs", "torch.linalg.vector_norm")
@pytest.mark.parametrize("seed", range(6))
def test_costs_of_units(seed):
    net, _ = batch_of(lambda source: network(source, depth=(2, 2)), BatchSource(seed, 5))
    W, V = net.weights
    norm = torch.linalg.vector_norm
    torch.testing.assert_close(unit_costs(net), norm(V, dim=-2) * norm(W, dim=-1))


def test_their_sum_is_half_of_the_least_cost_without_biases():
    W, V = torch.randn(4, 3, dtype=torch.float64), torch.randn(2, 4, dtype=torch.float64)
    net = Network.linear((W, V))
    torch.testing.assert_close(2 * unit_costs(net).sum(-1), balance_neurons(net).cost())


def test_one_output():
    W, a = torch.randn(5, 3, 2, dtype=torch.float64), torch.randn(5, 3, dtype=torch.float64)
    costs = unit_costs(two_layer_network(W, 0 * a, a))
    torch.testing.assert_close(costs.sum(-1), path_norm_of_units(W, a))


def test_another_depth():
    with pytest.raises(ValueError, match="network of depth 2"):
        unit_costs(Network.of([[[1.0]], [[1.0]], [[1.0]]]))
