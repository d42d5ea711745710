"""The composed tent map, against a loop."""

from fractions import Fraction

import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.witnesses import tent_network


def composed(times, u):
    for _ in range(times):
        u = 2 * u if u <= Fraction(1, 2) else 2 - 2 * u
    return u


@pytest.mark.oracle("rankcheck.witnesses.tent_network", "a loop over rationals")
@pytest.mark.parametrize("times", [1, 2, 3, 6])
def test_the_network_is_the_composed_tent_map(times):
    points = [Fraction(k, 32) for k in range(33)]
    truth = [float(composed(times, u)) for u in points]
    x = torch.tensor([[float(u)] for u in points], dtype=torch.float64)
    net = tent_network(times, x)
    assert net.widths == (1, *[2] * times, 1)
    assert net(x).squeeze(-1).tolist() == truth
    thirds = BallArray.exact([[Fraction(1, 3)], [Fraction(2, 7)]])
    values = tent_network(times, thirds)(thirds).squeeze(-1)
    for k, u in enumerate((Fraction(1, 3), Fraction(2, 7))):
        assert bool(values[k] == composed(times, u))


def test_errors():
    like = torch.zeros(1, dtype=torch.float64)
    with pytest.raises(ValueError, match="composed once or more"):
        tent_network(0, like)
