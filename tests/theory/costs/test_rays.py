"""The room of rays, against angles and lengths computed by numpy."""

from itertools import permutations

import numpy as np
import pytest
import torch

from rankcheck.costs import room_of_three_rays, room_of_two_rays


def distance(q, p):
    """From q to the ray of p."""
    along = max(q @ p / (p @ p), 0.0)
    return float(np.linalg.norm(q - along * p))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.oracle("rankcheck.costs.room_of_two_rays", "numpy.linalg.norm")
@pytest.mark.oracle("rankcheck.costs.room_of_three_rays", "numpy.linalg.norm")
def test_rooms_by_distances(seed):
    A = np.random.default_rng(seed).normal(size=(2 + seed % 3, 3))
    p, q = A.T[:2]
    two = room_of_two_rays(torch.from_numpy(A[:, :2])).item()
    assert two == pytest.approx((np.linalg.norm(p) * distance(q, p)) ** 2)
    three = [np.linalg.norm(a) * distance(b, a) * distance(c, a) for a, b, c in permutations(A.T)]
    assert room_of_three_rays(torch.from_numpy(A)).item() == pytest.approx(min(three) ** 2)


def test_rays_of_one_direction_have_no_room():
    A = torch.tensor([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]], dtype=torch.float64)
    assert room_of_two_rays(A[:, :2]).item() == room_of_three_rays(A).item() == 0
