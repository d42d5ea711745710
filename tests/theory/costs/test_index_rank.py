"""C_f on boxes and from points, against quadrature; index ranks; bounds of the spectrum."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import brentq

from rankcheck.balls import BallArray, NoBallForm, Undecided
from rankcheck.costs import (
    effective_index_rank,
    effective_rank_bound,
    effective_rank_threshold,
    effective_rank_threshold_as_printed,
    egop,
    egop_gaussian,
    egop_root,
    gradient_volume_bound,
    index_rank,
    principal_directions,
)
from tests.draws import normal


def gradients(W, b, a, x):
    """∇h at N points x (N, D), by the definition: (N, D)."""
    return ((x @ W.mT + b > 0).to(W.dtype) * a) @ W


@pytest.mark.parametrize("rank_", [0, 1, 3, 4])
@pytest.mark.oracle("rankcheck.costs.egop", "sums of outer products in numpy")
@pytest.mark.oracle("rankcheck.costs.egop_root", "sums of outer products in numpy")
@pytest.mark.oracle("rankcheck.costs.index_rank", "numpy.linalg.matrix_rank")
@pytest.mark.oracle("rankcheck.costs.effective_index_rank", "numpy.linalg.svd")
@pytest.mark.oracle("rankcheck.costs.principal_directions", "numpy.linalg.svd")
def test_gradients_at_points_against_numpy(rank_):
    g = np.random.default_rng(rank_)
    G = g.integers(-3, 4, (2, 6, rank_)) @ g.integers(-3, 4, (2, rank_, 4)) / 2
    p = g.dirichlet(np.ones(6), 2)
    G_, p_ = torch.from_numpy(G), torch.from_numpy(p)
    for weights, shares in ((None, np.full((2, 6), 1 / 6)), (p_, p)):
        C, A = egop(G_, weights), egop_root(G_, weights)
        for i in range(2):
            pairs = list(zip(G[i], shares[i], strict=True))
            expected = sum(share * np.outer(row, row) for row, share in pairs)
            np.testing.assert_allclose(C[i].numpy(), expected, rtol=1e-12, atol=1e-14)
            root = A[i].numpy()
            rows = [np.sqrt(share) * row for row, share in pairs]
            np.testing.assert_allclose(root, rows, rtol=1e-12, atol=1e-14)
            true_rank = np.linalg.matrix_rank(G[i])
            assert int(index_rank(C)[i]) == true_rank
            assert int(index_rank(egop(BallArray.exact(G_)))[i]) == true_rank

            _, s, Vh = np.linalg.svd(np.array(rows), full_matrices=False)
            sigma, directions = (x[i].numpy() for x in principal_directions(C))
            np.testing.assert_allclose(sigma, s, rtol=0, atol=1e-6)
            np.testing.assert_allclose(sigma[:true_rank], s[:true_rank], rtol=1e-8)
            for k in range(true_rank):
                assert abs(directions[:, k] @ Vh[k]) == pytest.approx(1, abs=1e-9)
            np.testing.assert_allclose(directions.T @ directions, np.eye(4), atol=1e-12)
            assert int(effective_index_rank(C, 0)[i]) == true_rank
            levels = [1e-9, 0.1, 0.3, 1.0, 2.0]
            counts = [int(effective_index_rank(C, level)[i]) for level in levels]
            assert counts == [(s[:true_rank] > level).sum() for level in levels]


def test_effective_rank_counts_strictly():
    G = torch.diag(torch.tensor([3.0, 1.0, 0.5, 0.0], dtype=torch.float64))
    C = 4 * egop(G, torch.full((4,), 0.25, dtype=torch.float64))  # = G²
    for epsilon, count in [(0, 3), (0.4, 3), (0.5, 2), (0.9, 2), (1, 1), (3, 0)]:
        assert effective_index_rank(C, epsilon) == count
        assert effective_index_rank(BallArray.exact(C), epsilon) == count
    levels = torch.tensor([0.9, 2.0], dtype=torch.float64)
    assert effective_index_rank(C.expand(2, 4, 4), levels).tolist() == [2, 1]
    with pytest.raises(Undecided):
        effective_index_rank(BallArray.exact([[2, 0], [0, 1]]) * 0.1, 0.1**0.5)


def test_what_has_no_form_on_balls():
    exact = BallArray.exact([[1, 2], [2, 4]])
    with pytest.raises(NoBallForm, match="range_projection"):
        principal_directions(exact)
    with pytest.raises(NoBallForm, match="egop_gaussian"):
        egop_gaussian(exact, exact[0], exact[0])


def spectrum(seed: int, r: int) -> torch.Tensor:
    return (2 * normal(seed, 200, r)).exp().sort(-1, descending=True)[0]


@pytest.mark.parametrize(("L", "sharp"), [(2, False), (3, False), (9, False), (2, True), (9, True)])
@pytest.mark.parametrize("r", [1, 3, 8])
@pytest.mark.oracle("rankcheck.costs.effective_rank_bound", "scipy.optimize.brentq")
@pytest.mark.oracle("rankcheck.costs.effective_rank_threshold", "scipy.optimize.brentq")
@pytest.mark.oracle("rankcheck.costs.effective_rank_threshold_as_printed", "scipy.optimize.brentq")
def test_bounds_of_ranks_are_where_equal_singular_values_use_up_the_budget(r, L, sharp):
    """n values ε obey MV(f; p)^{2/L} ≤ r^{(L−2)/L} J^{2/L} up to a real n, and from a J on."""
    p, epsilon = (2 / L if sharp else 2 / (L - 1)), 0.3
    level = torch.tensor(epsilon, dtype=torch.float64)

    def left(n, J):
        """log of r^{(L−2)/L} J^{2/L} less log of (‖(ε, ..., ε)‖_{S^p})^{2/L}."""
        budget = (L - 2) / L * math.log(r) + 2 / L * math.log(J)
        return budget - 2 / L * (math.log(n) / p + math.log(epsilon))

    for J in (0.05, 0.9, 4.0):
        n = brentq(lambda n, J=J: left(n, J), 1e-12, 1e12, xtol=1e-13, rtol=1e-13)
        size = torch.tensor(J, dtype=torch.float64)
        bound = effective_rank_bound(r, size, level, L, sharp=sharp)
        assert bound.item() == pytest.approx(n, rel=1e-10)
    thresholds = [(r + 1, effective_rank_threshold(r, level, L, sharp=sharp))]
    if not sharp:
        printed = effective_rank_threshold_as_printed(r, level, L)
        thresholds.append((r + math.sqrt(r), printed))
    for n, found in thresholds:
        J = brentq(lambda J, n=n: left(n, J), 1e-6, 1e12, xtol=1e-13, rtol=1e-13)
        assert found.item() == pytest.approx(J, rel=1e-10)


@pytest.mark.parametrize("L", [2, 5, 14])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
@pytest.mark.oracle("rankcheck.costs.gradient_volume_bound", "a maximum over a grid")
def test_the_volume_bound_is_the_least_schatten_power_that_the_eigenvalues_allow(n, L):
    """By its proof: n equal s_i with Π s_i = Π σ_i/√β_i, for the largest Π β_i on a grid of y."""
    sigma = torch.linspace(0.5, 3.0, n, dtype=torch.float64)
    y = torch.linspace(0.0, 1.0, 200_001, dtype=torch.float64)
    others = y * (1 - y) / max(1, n - 1)
    largest = (y**2 * others ** (n - 1)).max()
    s = (sigma.prod() / largest.sqrt()) ** (1 / n)
    power = (n * s ** (2 / (L - 1))) ** ((L - 1) / L)
    torch.testing.assert_close(gradient_volume_bound(sigma, L), power, rtol=1e-9, atol=0)
