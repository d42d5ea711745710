"""Points, tangents and antipodes on the circle."""

import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.networks import Network
from rankcheck.witnesses.circle import antipodal_bracket, antipodal_difference, point, tangent

HEIGHT = Network.of([[[0.0, 1.0]]])


def test_points_and_tangents():
    m = torch.linspace(-1, 1, 9, dtype=torch.float64)
    x, t = point(m), tangent(m)
    torch.testing.assert_close((x * x).sum(-1), torch.ones(9, dtype=torch.float64))
    assert (x * t).sum(-1).abs().max() < 1e-15
    exact = point(BallArray.exact(0.5))
    assert bool((exact * exact).sum() == 1)


def test_the_height_has_its_antipodes_on_the_axis():
    low, high = antipodal_bracket(HEIGHT, 20)
    assert low <= 0 <= high
    assert (high - low).item() == 2.0**-19


def test_brackets_change_sign_for_random_networks():
    generator = torch.Generator().manual_seed(0)
    shapes = [(5, 2), (4, 5), (1, 4)]
    weights = [torch.randn(50, *s, generator=generator, dtype=torch.float64) for s in shapes]
    biases = [torch.randn(50, s[0], generator=generator, dtype=torch.float64) for s in shapes]
    g = Network(weights, biases, -0.3)
    low, high = antipodal_bracket(g, 40)
    ends = antipodal_difference(g, low) * antipodal_difference(g, high)
    assert (ends <= 0).all()
    x = point((low + high) / 2)
    torch.testing.assert_close(g(x), g(-x), atol=1e-9, rtol=0)


def test_errors_state_the_rule():
    with pytest.raises(ValueError, match=r"received a network of widths \(2, 2\)"):
        antipodal_difference(Network.of([torch.eye(2)]), torch.tensor(0.0, dtype=torch.float64))
