"""Identities on planes and on planes with an offset: function, cost, errors."""

import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.witnesses.constants import least_constant_cost
from rankcheck.witnesses.planar_identity import (
    cheapest_heights,
    offset_identity,
    planar_identity,
    plane_beside_constant,
)

# A plane of R³, an isometry that maps its cone into R_+^3, and the direction orthogonal to it.
PLANE = torch.tensor([[0.6, 0.0], [0.8, 0.0], [0.0, 1.0]], dtype=torch.float64)
SPREAD = torch.tensor([[0.8, 0.0], [0.6, 0.0], [0.0, 1.0]], dtype=torch.float64)
O = SPREAD @ PLANE.mT  # noqa: E741
BESIDE = torch.tensor([-0.8, 0.6, 0.0], dtype=torch.float64)
POINTS = torch.tensor([[1.0, 2.0], [0.0, 3.0], [5.0, 0.0]], dtype=torch.float64) @ PLANE.mT


@pytest.mark.parametrize("slope", [0.0, 0.4, -0.8])
@pytest.mark.parametrize("depth", [1, 2, 3, 9])
def test_a_plane_costs_its_dimension(depth, slope):
    net = planar_identity(O, depth, slope)
    assert net.depth == depth
    torch.testing.assert_close(net(POINTS), POINTS)
    assert net.cost().item() == pytest.approx(2 * depth)


def test_a_signed_point_is_lost():
    x = PLANE @ torch.tensor([-1.0, 2.0], dtype=torch.float64)
    assert (planar_identity(O, 3)(x) - x).abs().max() > 0.1
    assert (planar_identity(O, 3)(BESIDE)).abs().max() < 1e-14


@pytest.mark.parametrize("slope", [0.0, -0.5])
@pytest.mark.parametrize("size", [0.25, 1.0, 1.75])
@pytest.mark.parametrize("depth", [2, 3, 6])
def test_an_offset_costs_a_constant(size, depth, slope):
    c = torch.tensor(size, dtype=torch.float64)
    net = offset_identity(O, BESIDE, cheapest_heights(c, depth), slope)
    x = POINTS + c * BESIDE
    torch.testing.assert_close(net(x), x)
    excess = net.cost() - 2 * depth
    if depth > 2:
        assert excess.item() == pytest.approx(least_constant_cost(c).item())
    else:
        assert excess <= least_constant_cost(c) + 1e-12


def test_depth_one_beside_an_offset():
    """The cheapest W, b with W(e + y) + b = e + y: each gives half of the offset."""
    c = torch.ones((), dtype=torch.float64)
    net = offset_identity(O, BESIDE, torch.stack((c, c)))
    torch.testing.assert_close(net(POINTS + BESIDE), POINTS + BESIDE)
    assert net.cost().item() == pytest.approx(2.5)


def test_batches_and_balls():
    heights = torch.tensor([[1.0, 0.5, 1.0], [2.0, 1.0, 2.0]], dtype=torch.float64)
    spread = O.expand(2, 3, 3)
    net = offset_identity(spread, BESIDE.expand(2, 3), heights)
    x = POINTS[0] + heights[:, :1] * BESIDE
    torch.testing.assert_close(net(x), x)
    exact = planar_identity(BallArray.exact([[1, 0], [0, 1]]), 4)
    assert bool(exact.cost() == 8)


def test_errors_state_the_rule():
    with pytest.raises(ValueError, match="received depth 0"):
        planar_identity(O, 0)
    with pytest.raises(ValueError, match="received depth 1"):
        cheapest_heights(torch.ones((), dtype=torch.float64), 1)
    with pytest.raises(ValueError, match="received depth 0"):
        offset_identity(O, BESIDE, torch.ones(1, dtype=torch.float64))


@pytest.mark.parametrize("slope", [0.0, -0.5])
@pytest.mark.parametrize("depth", [2, 3, 7])
def test_a_plane_beside_a_constant(depth, slope):
    c = torch.tensor([0.0, 0.5, 1.75], dtype=torch.float64)
    net = plane_beside_constant(2, c, depth, slope)
    x = torch.tensor([[1.0, 2.0], [0.0, 3.0], [5.0, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(net(x), torch.cat((x, c.unsqueeze(-1)), -1))
    torch.testing.assert_close(net.cost() - 2 * depth, least_constant_cost(c))
    assert net.widths == (2, *[3] * depth)
    with pytest.raises(ValueError, match="received depth 1"):
        plane_beside_constant(2, c, 1)
