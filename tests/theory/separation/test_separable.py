"""The main theorem in coefficients, against sums over pairs of points; the norms of neurons."""

import itertools
import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from rankcheck.separation import (
    best_fit,
    correlations,
    diagonal_norms,
    distance_squared,
    main_lower_bound,
    neuron_coefficients,
    neuron_norm_bound,
    neuron_second_moment,
    neuron_supremum,
    norm_lower_bound,
    separable_gram,
    separable_norms,
    tail_norm,
)

from .independent import number, polynomial, sphere_points, zonal

LIKE = torch.zeros((), dtype=torch.float64)


def random_instance(
    seed: int, d: int, r: int, degrees: int, batch: tuple[int, ...] = ()
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    alpha = torch.randn(*batch, degrees, generator=generator, dtype=torch.float64)
    beta = torch.randn(*batch, r, degrees, degrees, generator=generator, dtype=torch.float64)
    v, w = torch.randn(2, *batch, r, d, generator=generator, dtype=torch.float64)
    return (
        alpha,
        beta / 4,
        torch.nn.functional.normalize(v, dim=-1),
        torch.nn.functional.normalize(w, dim=-1),
    )


class Grid:
    """F and the g_j at pairs of points of rules on the spheres, by numpy and scipy alone.

    The rules are exact for products of two functions of degree ``degrees - 1``.
    """

    def __init__(self, d: int, r: int, degrees: int) -> None:
        self.d = d
        self.degrees = degrees
        self.instance = random_instance(d, d, r, degrees)
        alpha, beta, v, w = (array.numpy() for array in self.instance)
        self.x, self.weights = sphere_points(d, 2 * degrees - 2)
        self.root = np.sqrt(np.outer(self.weights, self.weights))
        self.F = sum(a * zonal(d, i, self.x @ self.x.T) for i, a in enumerate(alpha))
        left = np.stack([zonal(d, i, self.x @ v.T) for i in range(degrees)], -1)
        right = np.stack([zonal(d, i, self.x @ w.T) for i in range(degrees)], -1)
        self.g = np.einsum("xjk,jkl,yjl->jxy", left, beta, right)

    def flat(self, function: np.ndarray) -> np.ndarray:
        """Its values times the roots of the weights, so that @ is the inner product."""
        return (self.root * function).reshape(-1)

    def norm(self, function: np.ndarray) -> float:
        return float(np.linalg.norm(self.flat(function)))

    def part(self, function: np.ndarray, n: int) -> np.ndarray:
        """Its projection onto the sum of (harmonics of degree i) ⊗ (the same), i >= n."""
        total = np.zeros_like(function)
        for i in range(n, self.degrees):
            # The kernel N_i P_i(⟨x, y⟩) projects onto the harmonics of degree i.
            onto = number(self.d, i) * polynomial(self.d, i, self.x @ self.x.T) * self.weights
            total += onto @ function @ onto.T
        return total


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.oracle("rankcheck.separation.separable_norms", "sums over pairs of points by numpy")
@pytest.mark.oracle("rankcheck.separation.separable_gram", "sums over pairs of points by numpy")
@pytest.mark.oracle("rankcheck.separation.correlations", "sums over pairs of points by numpy")
@pytest.mark.oracle("rankcheck.separation.distance_squared", "sums over pairs of points by numpy")
@pytest.mark.oracle("rankcheck.separation.tail_norm", "projections with zonal kernels by numpy")
@pytest.mark.oracle(
    "rankcheck.separation.diagonal_norms", "projections with zonal kernels by numpy"
)
@pytest.mark.oracle("rankcheck.separation.main_lower_bound", "norms of projections by numpy")
@pytest.mark.oracle("rankcheck.separation.norm_lower_bound", "norms of projections by numpy")
def test_everything_against_sums_over_pairs_of_points(d):
    grid = Grid(d, 3, 3)
    alpha, beta, v, w = grid.instance
    flat = np.stack([grid.flat(g) for g in grid.g])
    np.testing.assert_allclose(separable_gram(d, beta, v, w), flat @ flat.T, atol=1e-12)
    norms = np.linalg.norm(flat, axis=-1)
    np.testing.assert_allclose(separable_norms(beta), norms, atol=1e-12)
    cross = flat @ grid.flat(grid.F)
    np.testing.assert_allclose(correlations(d, alpha, beta, v, w), cross, atol=1e-12)
    apart = grid.norm(grid.F - grid.g.sum(0))
    assert distance_squared(d, alpha, beta, v, w).item() == pytest.approx(apart**2, abs=1e-12)
    for n in range(3):
        tail = grid.norm(grid.part(grid.F, n))
        assert tail_norm(alpha, n).item() == pytest.approx(tail, abs=1e-12)
        parts = np.array([grid.norm(grid.part(g, n)) for g in grid.g])
        np.testing.assert_allclose(diagonal_norms(beta, n), parts, atol=1e-12)
        root = math.sqrt(number(d, n))
        least = main_lower_bound(d, n, alpha, separable_norms(beta)).item()
        assert least == pytest.approx(tail * (tail - 2 * norms.sum() / root), abs=1e-12)
        assert least <= apart**2
        least = norm_lower_bound(d, n, alpha, diagonal_norms(beta, n)).item()
        assert least == pytest.approx(tail - parts.sum() / root, abs=1e-12)
        assert least <= apart


@pytest.mark.oracle("rankcheck.separation.best_fit", "numpy.linalg.lstsq at pairs of points")
def test_best_fit_against_least_squares():
    grid = Grid(3, 3, 3)
    alpha, beta, v, w = grid.instance
    # Of very different size; and twice the same one, which asks for the minimiser of least norm.
    for chosen, size in (([0, 1, 2], 1e-3), ([0, 1, 1, 2], 1.0)):
        sizes = torch.tensor([size] + [1.0] * (len(chosen) - 1), dtype=torch.float64)
        columns = np.stack([grid.flat(grid.g[j]) for j in chosen], -1) * sizes.numpy()
        expected = np.linalg.lstsq(columns, grid.flat(grid.F), rcond=1e-10)[0]
        some = (beta[chosen] * sizes[:, None, None], v[chosen], w[chosen])
        fit = best_fit(separable_gram(3, *some), correlations(3, alpha, *some))
        np.testing.assert_allclose(fit, expected, rtol=1e-8)


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.oracle("rankcheck.separation.neuron_second_moment", "sums over the sphere by scipy")
@pytest.mark.oracle("rankcheck.separation.neuron_supremum", "scipy.optimize.minimize")
def test_neurons_against_sums_and_a_search(d):
    rng = np.random.default_rng(d)
    x, weights = sphere_points(d, 2)
    w, u = rng.standard_normal((2, d))

    def below(p: np.ndarray) -> float:
        first, second = p[:d], p[d:]
        return -(w @ first) / np.linalg.norm(first) - (u @ second) / np.linalg.norm(second)

    starts = rng.standard_normal((5, 2 * d))
    highest = -min(minimize(below, start, tol=1e-12).fun for start in starts)
    for b in (-10.0, -0.5, 0.0, 0.7):
        z = (x @ w)[:, None] + x @ u + b
        arguments = (torch.from_numpy(w), torch.from_numpy(u), torch.tensor(b, dtype=torch.float64))
        moment = neuron_second_moment(*arguments).item()
        assert moment == pytest.approx(weights @ z**2 @ weights, rel=1e-12)
        supremum = neuron_supremum(*arguments).item()
        assert supremum == pytest.approx(max(0.0, highest + b), abs=1e-8)


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.oracle("rankcheck.separation.neuron_norm_bound", "all corners of the cube of weights")
def test_the_bound_of_neurons_is_their_maximum(d):
    """The neuron is convex in its weights, so a corner of the cube attains the maximum."""
    corners = np.array(list(itertools.product((-2.5, 2.5), repeat=d)))
    # Points of the sphere in the directions of the corners, and around them.
    x = np.concatenate((corners, corners + np.random.default_rng(0).standard_normal(corners.shape)))
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    highest = 2 * (corners @ x.T).max() + 2.5
    assert neuron_norm_bound(d, 2.5, LIKE).item() == pytest.approx(highest, rel=1e-14)


@pytest.mark.parametrize("d", [2, 3, 4, 7])
@pytest.mark.oracle("rankcheck.separation.neuron_coefficients", "Riemann sums by numpy and scipy")
def test_neuron_coefficients_against_riemann_sums(d):
    """Over θ and θ', with the weight sin^{d-2}; where the neuron is linear, exactly."""
    rng = np.random.default_rng(d)
    theta = (np.arange(1500) + 0.5) * np.pi / 1500
    weights = np.sin(theta) ** (d - 2)
    weights /= weights.sum()
    t = np.cos(theta)
    basis = np.stack([zonal(d, n, t) for n in range(4)])
    for b in (-0.3, 0.8):
        w, u = rng.standard_normal((2, d))
        values = np.linalg.norm(w) * t[:, None] + np.linalg.norm(u) * t + b
        values = np.maximum(values, 0)
        arguments = (torch.from_numpy(w), torch.from_numpy(u), torch.tensor(b, dtype=torch.float64))
        beta, norm = neuron_coefficients(d, *arguments, 3, 300)
        expected = (basis * weights) @ values @ (basis * weights).T
        np.testing.assert_allclose(beta, expected, atol=2e-5)
        assert norm.item() == pytest.approx(math.sqrt(weights @ values**2 @ weights), abs=2e-5)
    # ⟨w, x⟩ = ‖w‖/√d · L_1 and nothing is cut off.
    above = torch.tensor(20.0, dtype=torch.float64)
    beta, norm = neuron_coefficients(d, *arguments[:2], above, 3, 8)
    linear = np.zeros((4, 4))
    linear[0, 0], linear[1, 0], linear[0, 1] = 20, *(np.linalg.norm((w, u), axis=1) / math.sqrt(d))
    np.testing.assert_allclose(beta, linear, atol=1e-12)
    assert norm.item() == pytest.approx(np.linalg.norm(linear), rel=1e-13)


def test_errors_state_the_rule():
    alpha, beta, v, w = random_instance(0, 3, 2, 4)
    with pytest.raises(ValueError, match=r"\(2,\) and \(2, 4, 4\); .* pad it with zeros"):
        correlations(3, alpha[:2], beta, v, w)
    with pytest.raises(ValueError, match="received m = 4 nodes"):
        neuron_coefficients(3, v, w, alpha[:2], 5, 4)
