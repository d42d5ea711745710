"""The scaled seam: the function where g is negative, the cost term by term, the limit."""

import math

import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.costs.corrections import excess
from rankcheck.networks import Network
from rankcheck.witnesses.scaled_seam import scaled_seam, seam_cost_bound, seam_cost_estimate


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def pair(depth: int = 1) -> tuple[Network, Network]:
    """f(y) = |y| after depth − 1 identities, and g(x) = x − 1 after as many, on x >= 0."""
    f = Network.of([[[1.0], [-1.0]], *[torch.eye(2)] * (depth - 1), [[1.0, 1.0]]])
    biases = [[0.0]] * (depth - 1) + [[-1.0]]
    return f, Network.of([[[1.0]]] * depth, biases)


@pytest.mark.parametrize("scale", [1.0, 0.5, 1 / 64])
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_the_function_where_g_is_signed(depth, scale):
    f, g = pair(depth)
    net = scaled_seam(f, g, tensor([1.0]), tensor(scale))
    x = tensor([[0.0], [0.5], [3.0]])
    assert net.depth == f.depth + g.depth
    torch.testing.assert_close(net(x), (x - 1).abs())
    assert (f.after(g)(x) - (x - 1).abs()).abs().max() > 0.5


def test_the_cost_term_by_term():
    f, g = pair(2)
    s, t = 0.25, 1.0
    net = scaled_seam(f, g, tensor([t]), tensor(s))
    weights = 2 * s ** (2 / 2) + 6 * s ** (-2 / 3)
    seam = (s * (t - 1)) ** 2 + 2 * (s ** (1 - 1 / 3) * t) ** 2
    assert net.cost().item() == pytest.approx(weights + seam)
    bound = s ** (2 / 2) * 2 + (s * (t - 1)) ** 2 + s ** (-2 / 3) * (6 + 2 * (s * t) ** 2)
    assert seam_cost_bound(f, g, tensor([t]), tensor(s)).item() == pytest.approx(bound)
    assert net.cost().item() == pytest.approx(bound)
    estimate = s ** (2 / 2) * 3 + s ** (-2 / 3) * (1 + 2 * s * s) * 6 + 2 * s * s
    assert seam_cost_estimate(f, g, tensor([t]), tensor(s)).item() == pytest.approx(estimate)
    assert bound <= estimate


def test_the_excess_tends_to_the_sum():
    """For identities of one unit, E_f = E_g = 0, shifted by one: zero in the limit."""
    gaps = []
    for depth in (16, 256, 4096):
        layers = Network.of([[[1.0]]] * depth)
        net = scaled_seam(layers, layers, tensor([1.0]), tensor(1 / depth))
        gaps.append(excess(net, 1).item())
        assert gaps[-1] <= 10 * math.log(depth) ** 2 / depth
    assert gaps[0] > gaps[1] > gaps[2] > 0


def test_batches_and_balls():
    f, g = pair(2)
    batch = [net.map_arrays(lambda a: a.expand(3, *a.shape)) for net in (f, g)]
    scale, shift = tensor([0.5, 0.25, 1.0]), tensor([[1.0], [2.0], [1.0]])
    net = scaled_seam(*batch, shift, scale)
    assert net.cost()[1].item() == pytest.approx(
        scaled_seam(f, g, shift[1], scale[1]).cost().item()
    )
    exact = [net.map_arrays(BallArray.exact) for net in pair()]
    ball = scaled_seam(*exact, BallArray.exact([1]), BallArray.exact(0.25))
    assert bool(abs(ball(BallArray.exact([0.5])) - 0.5).sum() < 1e-30)


def test_errors_state_the_rule():
    f, g = pair()
    with pytest.raises(ValueError, match=r"received a shift of shape \(2,\); the shape is \(1,\)"):
        scaled_seam(f, g, tensor([1.0, 1.0]), tensor(0.5))
    with pytest.raises(ValueError, match="n_0 of f is n_L of g"):
        scaled_seam(g, f.merged_after(g).parallel(f), tensor([1.0, 1.0]), tensor(0.5))
