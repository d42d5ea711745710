"""Principal angles against an explicit pair of lines and scipy; the best layer against a grid."""

import math

import numpy as np
import pytest
import scipy.linalg
import torch

from rankcheck.balls import BallArray
from rankcheck.costs.planes import angle_cost, best_last_layer, pull_back


def bases(n: int, k: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    drawn = (torch.randn(n, k, generator=generator, dtype=torch.float64) for _ in range(2))
    first, second = (torch.linalg.qr(A).Q for A in drawn)
    return first, second


@pytest.mark.parametrize(("n", "k"), [(2, 1), (4, 2), (3, 2), (5, 3)])
@pytest.mark.oracle("rankcheck.costs.angle_cost", "scipy.linalg.subspace_angles")
def test_angles_against_scipy(n, k):
    S, T = bases(n, k, n + k)
    expected = np.log1p(np.sin(scipy.linalg.subspace_angles(S.numpy(), T.numpy()))).sum()
    assert angle_cost(S @ S.mT, T @ T.mT).item() == pytest.approx(expected)


def price(M: torch.Tensor, u: torch.Tensor, v: torch.Tensor) -> float:
    inverse = torch.linalg.inv(M)
    return (
        torch.trace(M) - 1 + torch.stack((u @ inverse @ u, v @ inverse @ v)).amax().log()
    ).item()


@pytest.mark.parametrize("half", [0.05, 0.3, math.pi / 4])
def test_two_lines_against_a_grid_of_layers(half):
    u = torch.tensor([math.cos(half), math.sin(half)], dtype=torch.float64)
    v = torch.tensor([math.cos(half), -math.sin(half)], dtype=torch.float64)
    least = math.log(1 + math.sin(2 * half))
    assert angle_cost(torch.outer(u, u), torch.outer(v, v)).item() == pytest.approx(least)
    axes = torch.eye(2, dtype=torch.float64)
    W = best_last_layer(axes[:, :1], axes[:, 1:], u[:1], u[1:])
    assert price(W @ W.mT, u, v) == pytest.approx(least)
    grid = []
    for c in np.linspace(0.02, 1.4, 40):
        for d in np.linspace(0.02, 1.4, 40):
            for e in (-0.3, 0.0, 0.3):
                off = e * math.sqrt(c * d)
                grid.append(price(torch.tensor([[c, off], [off, d]], dtype=torch.float64), u, v))
    assert least <= min(grid) <= least + 0.02


def test_pull_back_solves_and_is_exact_on_balls():
    W, U = bases(4, 2, 0)
    U = W @ torch.tensor([[1.0], [2.0]], dtype=torch.float64)
    torch.testing.assert_close(W @ pull_back(W, U), U)
    exact = pull_back(BallArray.exact([[1, 0], [0, 2], [0, 0]]), BallArray.exact([[1], [1], [0]]))
    assert bool((exact == BallArray.exact([[1], [0.5]])).all())
