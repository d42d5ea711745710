"""Identities on planes and on planes with an offset: function and cost."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from rankcheck.theory.witnesses.planar_identity import (
    cheapest_heights,
    offset_identity,
    planar_identity,
    plane_beside_constant,
)

from ._plain import plain

# A plane of R³, an isometry that maps its cone into R_+^3, and the direction orthogonal to it.
PLANE = torch.tensor([[0.6, 0.0], [0.8, 0.0], [0.0, 1.0]], dtype=torch.float64)
SPREAD = torch.tensor([[0.8, 0.0], [0.6, 0.0], [0.0, 1.0]], dtype=torch.float64)
O = SPREAD @ PLANE.mT  # noqa: E741
BESIDE = torch.tensor([-0.8, 0.6, 0.0], dtype=torch.float64)


def test_errors_state_the_rule():
    with pytest.raises(ValueError, match="received depth 0"):
        planar_identity(O, 0)
    with pytest.raises(ValueError, match="received depth 1"):
        cheapest_heights(torch.ones((), dtype=torch.float64), 1)
    with pytest.raises(ValueError, match="received depth 0"):
        offset_identity(O, BESIDE, torch.ones(1, dtype=torch.float64))
    with pytest.raises(ValueError, match="received depth 1"):
        plane_beside_constant(2, torch.ones((), dtype=torch.float64), 1)


@pytest.mark.parametrize("slope", [0.0, -0.8])
@pytest.mark.oracle("rankcheck.witnesses.planar_identity", "values, ranks and cost in numpy")
def test_the_identity_of_the_plane_in_numpy(slope):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 5, (30, 2)) @ PLANE.numpy().T
    beside = x + rng.normal(size=(30, 1)) * BESIDE.numpy()
    for depth in (1, 2, 5):
        net = plain(planar_identity(O, depth, slope))
        assert net.widths == (3,) * (depth + 1)
        np.testing.assert_allclose(net(x), x, atol=1e-13)
        np.testing.assert_allclose(net(beside), x, atol=1e-13)
        assert net.cost == pytest.approx(2 * depth)
        for w in net.weights:
            np.testing.assert_allclose(np.linalg.svd(w, compute_uv=False), [1, 1, 0], atol=1e-14)


@pytest.mark.parametrize("slope", [0.0, -0.5])
@pytest.mark.oracle(
    "rankcheck.witnesses.offset_identity",
    "values in numpy, and the cheapest maps of heights by numpy.linalg.lstsq",
)
def test_offsets_in_numpy(slope):
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 5, (30, 2)) @ PLANE.numpy().T
    e = BESIDE.numpy()
    for depth in (1, 2, 3, 6):
        heights = rng.uniform(0, 2, (4, depth + 1))
        heights[0, 1:-1] = 0
        frames = (O.expand(4, 3, 3), BESIDE.expand(4, 3))
        net = plain(offset_identity(*frames, torch.tensor(heights), slope))
        found = net(x + heights[:, :1, None] * e)
        np.testing.assert_allclose(found, x + heights[:, -1:, None] * e, atol=1e-12)
        assert net.widths == (3, *[4] * (depth - 1), 3)
        for chain, cost in zip(heights, net.cost, strict=True):
            steps = [
                np.linalg.lstsq([[before, 1.0]], [after])[0] for before, after in pairwise(chain)
            ]
            assert cost == pytest.approx(2 * depth + np.square(steps).sum())


@pytest.mark.oracle(
    "rankcheck.witnesses.cheapest_heights", "dynamic programming over a grid of heights, in numpy"
)
def test_no_heights_on_a_grid_are_cheaper():
    """Σ c_ℓ²/(1 + c_{ℓ−1}²) from c to c, for c ≤ 2 and L ≥ 4."""
    for c in (0.0, 0.4, 1.0, 1.3, 2.0):
        grid = np.union1d(np.linspace(0, 3, 301), [c, max(c - 1, 0) ** 0.5])
        step = grid**2 / (1 + grid[:, None] ** 2)  # from the row to the column
        least = grid**2 / (1 + c**2)
        for depth in (4, 5, 6, 7):
            best = least.copy()
            for _ in range(depth - 2):
                best = (best[:, None] + step).min(0)
            best = (best + c**2 / (1 + grid**2)).min()
            chain = cheapest_heights(torch.tensor(c, dtype=torch.float64), depth).numpy()
            assert len(chain) == depth + 1
            assert chain[0] == chain[-1] == c
            found = (chain[1:] ** 2 / (1 + chain[:-1] ** 2)).sum()
            assert found == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("slope", [0.0, -0.5])
@pytest.mark.oracle(
    "rankcheck.witnesses.plane_beside_constant", "(y, c) and the cost, c² or 2c − 1, in numpy"
)
def test_a_constant_beside_the_orthant_in_numpy(slope):
    c = np.array([0.0, 0.5, 1.0, 1.75, 3.0])
    y = np.random.default_rng(2).uniform(0, 4, (20, 3))
    for depth in (2, 3, 6):
        net = plain(plane_beside_constant(3, torch.tensor(c), depth, slope))
        assert net.widths == (3, *[4] * depth)
        values = net(y)
        np.testing.assert_allclose(values[..., :3], np.broadcast_to(y, (5, 20, 3)))
        np.testing.assert_allclose(values[..., 3], np.repeat(c[:, None], 20, 1), atol=1e-14)
        constants = [t * t if t <= 1 else 2 * t - 1 for t in c]
        np.testing.assert_allclose(net.cost, 3 * depth + np.array(constants), atol=1e-13)
