"""Principal angles against an explicit pair of lines and scipy; the best layer against a grid."""

import math

import numpy as np
import pytest
import scipy.linalg
import torch
from scipy.optimize import minimize

from rankcheck.theory.costs.planes import angle_cost, best_last_layer, pull_back


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
@pytest.mark.oracle("rankcheck.costs.best_last_layer", "a grid of layers")
def test_two_lines_against_a_grid_of_layers(half):
    u = torch.tensor([math.cos(half), math.sin(half)], dtype=torch.float64)
    v = torch.tensor([math.cos(half), -math.sin(half)], dtype=torch.float64)
    least = math.log(1 + math.sin(2 * half))
    assert angle_cost(torch.outer(u, u), torch.outer(v, v)).item() == pytest.approx(least)
    axes = torch.eye(2, dtype=torch.float64)
    W = best_last_layer(axes[:, :1], axes[:, 1:], u[:1], u[1:])
    assert price(W @ W.mT, u, v) == pytest.approx(least)
    grid = []
    for c in np.linspace(0.02, 1.4, 24):
        for d in np.linspace(0.02, 1.4, 24):
            for e in (-0.3, 0.0, 0.3):
                off = e * math.sqrt(c * d)
                grid.append(price(torch.tensor([[c, off], [off, d]], dtype=torch.float64), u, v))
    assert least <= min(grid) <= least + 0.02


@pytest.mark.parametrize("angles", [(0.0, 0.4), (0.7, 1.2), (1.0, math.pi / 2)])
@pytest.mark.oracle("rankcheck.costs.best_last_layer", "scipy.optimize.minimize")
@pytest.mark.oracle("rankcheck.costs.angle_cost", "scipy.optimize.minimize over last layers")
def test_two_planes_against_a_general_minimiser(angles):
    """Planes of dimension 2 in R⁴ with known angles, turned; and every invertible W."""
    A = np.random.default_rng(0).normal(size=(4, 4))
    Q = scipy.linalg.expm(A - A.T)
    near, far = Q[:, :2], Q[:, 2:]
    c, s = np.cos(np.array(angles) / 2), np.sin(np.array(angles) / 2)
    planes = near * c + far * s, near * c - far * s

    def bound(W):
        V = [np.linalg.solve(W, U) for U in planes]
        return (W * W).sum() - 2 + sum(np.linalg.slogdet(v.T @ v)[1] for v in V) / 2

    best = best_last_layer(*(torch.from_numpy(x) for x in (near, far, c, s)))
    least = sum(math.log1p(math.sin(t)) for t in angles)
    first, second = (torch.from_numpy(U @ U.T) for U in planes)
    assert angle_cost(first, second).item() == pytest.approx(least, abs=1e-12)
    inverse = [np.linalg.pinv(best.numpy(), rcond=1e-12) @ U for U in planes]
    for V, U in zip(inverse, planes, strict=True):
        np.testing.assert_allclose(best.numpy() @ V, U, rtol=0, atol=1e-12)
    volumes = [np.prod(np.linalg.svd(V, compute_uv=False)) for V in inverse]
    attained = (best.numpy() ** 2).sum() - 2 + np.log(volumes).sum()
    assert attained == pytest.approx(least, abs=1e-12)
    found = [
        minimize(lambda w: bound(w.reshape(4, 4)), np.random.default_rng(i).normal(size=16)).fun
        for i in range(2)
    ]
    assert least - 1e-9 <= min(found) <= least + (1e-6 if angles[0] else 1e-2)


@pytest.mark.parametrize(("n", "w", "r"), [(2, 2, 2), (4, 2, 2), (2, 4, 2), (4, 3, 1)])
@pytest.mark.oracle("rankcheck.costs.pull_back", "numpy.linalg.lstsq")
def test_pull_back_against_least_squares(n, w, r):
    """W⁺U is the least solution of least squares, for every U and every rank of W."""
    g = np.random.default_rng(n + w)
    W, U = g.normal(size=(3, n, r)) @ g.normal(size=(3, r, w)), g.normal(size=(3, n, 2))
    found = pull_back(torch.from_numpy(W), torch.from_numpy(U)).numpy()
    for i in range(3):
        expected = np.linalg.lstsq(W[i], U[i], rcond=1e-10)[0]
        np.testing.assert_allclose(found[i], expected, rtol=1e-10, atol=1e-12)
