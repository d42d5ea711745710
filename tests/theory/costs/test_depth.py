"""Costs behind linear layers: both ends of the sandwich, factorisations, depth thresholds."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.optimize import brentq, minimize, minimize_scalar

from rankcheck.balls import BallArray, NoBallForm, provably_leq
from rankcheck.costs import (
    balanced_factors,
    best_scale,
    least_linear_layers_cost,
    linear_layers_cost,
    phi_lower,
    phi_upper,
    winning_depth,
    winning_threshold,
    winning_threshold_by_gradients,
)
from rankcheck.theory import linalg
from tests.draws import normal

DEPTHS = [2, 3, 5, 17]


def close(x, y, rtol=1e-12):
    torch.testing.assert_close(x, y, rtol=rtol, atol=0)


def schatten_sum(A, q):
    """Σ s_i^q over the singular values of one matrix in numpy, without those that are rounding."""
    s = np.linalg.svd(A, compute_uv=False)
    return float((s[s > 1e-12 * s.max(initial=0)] ** q).sum())


def path_of(W, a):
    return sum(abs(c) * np.linalg.norm(w) for w, c in zip(W, a, strict=True))


@pytest.mark.parametrize("L", DEPTHS)
@pytest.mark.parametrize("r", [0, 1, 2, 3])
@pytest.mark.oracle("rankcheck.costs.phi_lower", "numpy.linalg.svd")
@pytest.mark.oracle("rankcheck.costs.phi_upper", "numpy.linalg.norm and matrix_rank")
def test_the_ends_of_the_sandwich_by_numpy(L, r):
    g = np.random.default_rng(r)
    W, a = g.normal(size=(3, 5, r)) @ g.normal(size=(3, r, 4)), g.normal(size=(3, 5))
    a[0, 0] = W[1, 3, 0] = 0
    units = torch.from_numpy(W), torch.from_numpy(a)
    lower, upper = phi_lower(*units, L), phi_upper(*units, L)
    for i in range(3):
        B = a[i][:, None] * W[i]
        path, rank = path_of(W[i], a[i]), int(np.linalg.matrix_rank(B))
        ends = schatten_sum(B, 2 / L), rank ** (1 - 2 / L) * path ** (2 / L)
        assert (lower[i].item(), upper[i].item()) == pytest.approx(ends, rel=1e-10)


@pytest.mark.parametrize("n", [1, 2, 3, 9])
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (1, 5), (2, 2)])
@pytest.mark.oracle("rankcheck.costs.balanced_factors", "the product, and numpy.linalg.svd")
def test_balanced_factors(shape, n):
    W = normal(11, 6, *shape)
    W[0] = 0
    W[1] = W[1, :1, :1] * normal(12, shape[0], 1) @ normal(13, 1, shape[1])
    factors = balanced_factors(W, n)
    product = factors[0]
    for factor in factors[1:]:
        product = factor @ product
    assert len(factors) == n
    torch.testing.assert_close(product, W, rtol=1e-12, atol=1e-13)
    sizes = torch.stack([linalg.frobenius_squared(factor) for factor in factors], -1)
    torch.testing.assert_close(sizes, sizes[:, :1].expand(6, n), rtol=1e-11, atol=0)
    least = [n * schatten_sum(A, 2 / n) for A in W.numpy()]
    close(sizes.sum(-1), torch.tensor(least, dtype=torch.float64), 1e-11)


@pytest.mark.parametrize("L", [2, 3, 5])
@pytest.mark.oracle("rankcheck.costs.least_linear_layers_cost", "scipy.optimize.minimize")
@pytest.mark.oracle("rankcheck.costs.linear_layers_cost", "numpy.linalg.norm")
def test_the_least_cost_against_a_general_minimiser(L):
    """W_1, ..., W_{L−2} are free 2 × 2 matrices; W_{L−1} is what remains of W."""
    g = np.random.default_rng(L)
    W, a = g.normal(size=(3, 2)), g.normal(size=3)

    def factors(x):
        inner = list(x.reshape(L - 2, 2, 2))
        product = np.eye(2)
        for X in inner:
            product = X @ product
        return [*inner, W @ np.linalg.inv(product)]

    def cost(x):
        return (sum(np.linalg.norm(X) ** 2 for X in (*factors(x), a))) / L

    start = np.tile(np.eye(2).ravel(), L - 2) + 0.3 * g.normal(size=4 * (L - 2))
    x = minimize(cost, start, options={"gtol": 1e-8}).x if L > 2 else start
    units = torch.from_numpy(W), torch.from_numpy(a)
    found = least_linear_layers_cost(*units, L).item()
    assert found * (1 - 1e-12) <= cost(x)
    assert found == pytest.approx(cost(x), rel=1e-8)
    for at in (start, x):
        tensors = [torch.from_numpy(X) for X in factors(at)]
        assert linear_layers_cost(tensors, units[1]).item() == pytest.approx(cost(at), rel=1e-12)


@pytest.mark.parametrize("L", [2, 3, 4, 11])
@pytest.mark.oracle("rankcheck.costs.best_scale", "scipy.optimize.minimize_scalar")
def test_the_best_scale_against_a_general_minimiser(L):
    g = np.random.default_rng(L)
    q = 2 / (L - 1)
    for rank in (1, 3):
        W, a, lam = (
            g.normal(size=(4, rank)) @ g.normal(size=(rank, 3)),
            g.normal(size=4),
            np.exp(g.normal(size=4)),
        )

        def cost(log, W=W, a=a, lam=lam):
            scales = np.exp(log) * lam
            layers = (L - 1) * schatten_sum(scales[:, None] * W, q)
            return (np.linalg.norm(a / scales) ** 2 + layers) / L

        log = minimize_scalar(cost, bracket=(-1, 1), options={"xtol": 1e-10}).x
        t = best_scale(*(torch.from_numpy(x) for x in (W, a)), L, torch.from_numpy(lam))
        assert t.log().item() == pytest.approx(log, abs=1e-6)


@pytest.mark.parametrize(("r", "R"), [(1, 2), (1, 4), (2, 3), (0, 1)])
@pytest.mark.oracle("rankcheck.costs.winning_threshold", "scipy.optimize.brentq")
@pytest.mark.oracle("rankcheck.costs.winning_threshold_by_gradients", "scipy.optimize.brentq")
@pytest.mark.oracle("rankcheck.costs.winning_depth", "a search over depths in numpy")
def test_the_threshold_is_a_crossing_for_equal_singular_values(r, R):
    """Then the upper end for rank r meets the lower end for rank R there, and nowhere else."""
    g = np.random.default_rng(10 * r + R)
    depths = set()
    for size in (1e-3, 0.6, 4.0, 60.0):
        W, a = g.normal(size=(5, r)) @ g.normal(size=(r, 4)) * size, g.normal(size=5)
        left, right = (np.linalg.qr(g.normal(size=(n, R)))[0] for n in (6, 4))
        a_high = np.exp(g.normal(size=6))
        high = 0.3 * left @ right.T
        units = [torch.from_numpy(x) for x in (W, a, high / a_high[:, None], a_high)]
        path = path_of(W, a)

        def ahead(L, path=path, high=high):
            """log of the lower end for the high rank less log of the upper end for the low one."""
            upper = (1 - 2 / L) * math.log(r) + 2 / L * math.log(path)
            return math.log(schatten_sum(high, 2 / L)) - upper

        found, depth = winning_threshold(*units).item(), int(winning_depth(*units))
        by_gradients = winning_threshold_by_gradients(*units[:2], torch.from_numpy(high))
        assert by_gradients.item() == pytest.approx(found, rel=1e-12)
        depths.add(depth)
        if r == 0:
            assert found == 0
            assert depth == 2
            continue
        # L ahead(L) is linear in L.
        crossing = brentq(lambda L, ahead=ahead: L * ahead(L), -1e4, 1e4) if r else 0
        assert found == pytest.approx(crossing, rel=1e-9)
        ends = [L for L in range(2, 400) if ahead(L) <= 0]
        assert depth == max(ends, default=1) + 1
    assert len(depths) > 2 or r == 0


def test_the_winning_depth_is_sharp():
    # Path norm 8 at rank 1 against two singular values 1/2: T = 2 log 16 / log 2 = 8.
    W, a = torch.tensor([[8.0, 0.0]], dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    high = torch.eye(2, dtype=torch.float64) / 2
    ones = torch.ones(2, dtype=torch.float64)
    close(winning_threshold(W, a, high, ones), torch.tensor(8.0, dtype=torch.float64))
    ball = winning_threshold(*(BallArray.exact(x) for x in (W, a, high, ones)))
    assert provably_leq((ball - 8).abs(), Fraction(1, 10**30))
    assert winning_depth(W, a, high, ones) == 9
    close(phi_upper(W, a, 8), phi_lower(high, ones, 8))
    assert phi_upper(W, a, 7) > phi_lower(high, ones, 7) * 1.01
    assert phi_upper(W, a, 9) * 1.01 < phi_lower(high, ones, 9)
    # A singular value 0 takes no part: T = 2 log 15 / log 2 = 7.81, and L_0 is the next integer.
    low = torch.tensor([[7.5, 0.0, 0.0]], dtype=torch.float64)
    deficient = torch.diag(torch.tensor([0.5, 0.5, 0.0], dtype=torch.float64))
    assert winning_depth(low, a, deficient, torch.ones(3, dtype=torch.float64)) == 8


def test_what_is_refused():
    W, a = normal(35, 5, 4), normal(36, 5)
    balls = BallArray.exact(W), BallArray.exact(a)
    with pytest.raises(NoBallForm):
        balanced_factors(balls[0], 3)
    with pytest.raises(NoBallForm, match="winning_threshold"):
        winning_depth(*balls, *balls)
    with pytest.raises(ValueError, match="smaller one"):
        winning_depth(W, a, W[:1], a[:1])
    with pytest.raises(ValueError, match="received n = 0"):
        balanced_factors(W, 0)
    with pytest.raises(ValueError, match="received no factors"):
        linear_layers_cost((), a)
