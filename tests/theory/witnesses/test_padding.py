"""Padded networks, against weights that are written out entry by entry."""

import pytest
import torch

from rankcheck.networks import Network
from rankcheck.theory.instances.drivers import BatchSource
from rankcheck.theory.instances.networks import networks_at_points
from rankcheck.theory.witnesses.padding import pad
from tests.draws import batch_of


def slow_pad(net, hidden):
    wider = (net.widths[0], *hidden, net.widths[-1])
    weights, biases = [], []
    for layer, (w, b) in enumerate(zip(net.weights, net.biases, strict=True)):
        W = torch.zeros(wider[layer + 1], wider[layer], dtype=torch.float64)
        W[: w.shape[0], : w.shape[1]] = w
        c = torch.zeros(wider[layer + 1], dtype=torch.float64)
        c[: len(b)] = b
        weights.append(W)
        biases.append(c)
    return Network(weights, biases, net.slope)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.oracle("rankcheck.witnesses.pad", "written out")
def test_padding_adds_zero_units(seed):
    (net, x), _ = batch_of(networks_at_points(depth=(1, 4)), BatchSource(seed, 5))
    hidden = tuple(n + (seed + i) % 3 for i, n in enumerate(net.widths[1:-1]))
    padded = pad(net, hidden)
    assert padded.widths == (net.widths[0], *hidden, net.widths[-1])
    for index in range(5):
        slow = slow_pad(net[index], hidden)
        for w, v in zip(padded[index].weights, slow.weights, strict=True):
            assert torch.equal(w, v)
        for b, c in zip(padded[index].biases, slow.biases, strict=True):
            assert torch.equal(b, c)
    torch.testing.assert_close(padded(x), net(x))
    torch.testing.assert_close(padded.cost(), net.cost())


@pytest.mark.parametrize("hidden", [(1, 2), (3,), (3, 3, 3), ()])
def test_widths_that_do_not_fit(hidden):
    net = Network.of([[[1.0], [1.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, 1.0]]])
    with pytest.raises(ValueError, match="one for each hidden layer, none smaller"):
        pad(net, hidden)
