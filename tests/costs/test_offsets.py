"""Distances from the image of the Jacobian against least squares; the cost of a chain."""

from itertools import pairwise

import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.costs.offsets import offset_cost, offset_squares
from rankcheck.networks import Network


def random_network(seed: int, widths: list[int], slope: float) -> Network:
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    pairs = list(pairwise(widths))
    return Network([draw(n, m) for m, n in pairs], [draw(n) for _, n in pairs], slope)


@pytest.mark.parametrize("slope", [0.0, 0.5, -0.5])
def test_squares_against_least_squares(slope):
    net = random_network(1, [2, 4, 3, 4], slope)
    x = torch.tensor([0.5, -1.0], dtype=torch.float64)
    tangent = torch.tensor([[0.6], [0.8]], dtype=torch.float64)
    squares = offset_squares(net, x, tangent)
    layers = [lambda z: z]
    for depth in range(1, 4):
        part = Network(net.weights[:depth], net.biases[:depth], slope)
        active = (lambda z: torch.where(z >= 0, z, slope * z)) if depth < 3 else (lambda z: z)
        layers.append(lambda z, part=part, active=active: active(part(z)))
    assert len(squares) == 4
    for square, layer in zip(squares, layers, strict=True):
        J = torch.autograd.functional.jacobian(layer, x) @ tangent
        value = layer(x).unsqueeze(-1)
        coefficients = (J.mT @ value) / (J.mT @ J).clamp(min=1e-30)
        rest = value - J @ coefficients
        assert square.item() == pytest.approx((rest * rest).sum().item(), abs=1e-12)


def test_all_directions_leave_nothing_at_the_input():
    net = random_network(2, [2, 3, 1], 0.0)
    x = BallArray.exact([1, -2])
    exact = net.map_arrays(BallArray.exact)
    squares = offset_squares(exact, x, BallArray.exact([[1, 0], [0, 1]]))
    assert bool(squares[0] == 0)


def test_the_cost_of_a_chain():
    squares = [torch.tensor(u, dtype=torch.float64) for u in (1.0, 0.0, 3.0, 8.0)]
    assert offset_cost(squares).item() == 0 / 2 + 3 / 1 + 8 / 4
    with pytest.raises(ValueError, match="received 1 numbers"):
        offset_cost(squares[:1])
