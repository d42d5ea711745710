"""Networks of the tests of audits."""

from itertools import pairwise
from typing import Any

import torch
from torch import nn

from rankcheck.audit.model import Model
from rankcheck.networks import Network


def model_of(net):
    names = tuple(f"layers.{index}" for index in range(net.depth))
    return Model(net, "made up", names, (True,) * net.depth, float(net.cost()))


def normal(*shape, seed=0):
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=draw)


def random_model(widths, slope=0.0, seed=0):
    weights = [normal(n, m, seed=seed + i) for i, (m, n) in enumerate(pairwise(widths))]
    biases = [normal(n, seed=seed + 50 + i) for i, n in enumerate(widths[1:])]
    return model_of(Network.unchecked_slope(weights, biases, slope))


def diagonal(values, shape):
    """An m × n matrix with these singular values."""
    matrix = torch.zeros(shape, dtype=torch.float64)
    matrix[range(len(values)), range(len(values))] = torch.tensor(values, dtype=torch.float64)
    left = torch.linalg.qr(normal(shape[0], shape[0], seed=7))[0]
    right = torch.linalg.qr(normal(shape[1], shape[1], seed=8))[0]
    return left @ matrix @ right


def sequential(seed=0, widths=(3, 5, 4, 2)):
    """A Sequential of Linear with ReLU between, as torch makes it."""
    torch.manual_seed(seed)
    layers = [nn.Linear(n, m) for n, m in pairwise(widths)]
    return nn.Sequential(*[part for one in layers for part in (one, nn.ReLU())][:-1])


class Two(nn.Module):
    """Two linear layers, for subclasses that say what is between them."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.act = nn.Linear(4, 6), nn.Linear(6, 4), nn.ReLU()


def forward(function, base: Any = Two, **buffers):
    """A module with this forward."""

    class Own(base):
        def forward(self, x):
            return function(self, x)

    module = Own()
    for name, value in buffers.items():
        module.register_buffer(name, value)
    return module.double().eval()
