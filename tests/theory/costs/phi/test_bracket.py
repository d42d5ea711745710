"""Φ_L against 40-digit arithmetic, a general minimiser, and its own certificate."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from rankcheck.balls import BallArray, Undecided, pi
from rankcheck.costs import (
    path_norm_of_units,
    phi,
    phi_at,
    phi_lower,
    phi_upper,
)
from tests.draws import normal, random_units

SHAPES = [
    (1, 1, 2),
    (1, 4, 6),
    (3, 2, 3),
    (4, 4, 5),
    (5, 8, 10),
    (12, 2, 20),
    (9, 7, 4),
    (6, 6, 100),
]


def by_lbfgs(W: torch.Tensor, a: torch.Tensor, L: int) -> float:
    """Φ_L by scipy's minimiser, with finite differences for the gradient."""
    B = (a.unsqueeze(-1) * W).numpy()
    q = 2 / (L - 1)

    def F(u: np.ndarray) -> float:
        s = np.linalg.svd(B / np.exp(u)[:, None], compute_uv=False)
        return float(np.log((s**q).sum()) / q + np.log(np.exp(2 * u).sum()) / 2)

    start = np.log(np.linalg.norm(B, axis=1)) / 2
    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 500, "maxfun": 10**5}
    return math.exp(2 / L * minimize(F, start, method="L-BFGS-B", options=options).fun)


def exact_value(B: list[list[float]], L: int, lam: list[float], rank: int) -> mpmath.mpf:
    """The objective at λ to 40 digits, with the singular values of the exact matrix."""
    h = mpmath.mpf(1) / (L - 1)
    rows = zip(B, lam, strict=True)
    M = mpmath.matrix([[mpmath.mpf(x) / mpmath.mpf(t) for x in row] for row, t in rows])
    small = M * M.T if M.rows <= M.cols else M.T * M
    s = sorted(mpmath.eigsy(small, eigvals_only=True))[-rank:]
    T = sum(x**h for x in s)
    return (T ** (1 / (2 * h)) * mpmath.sqrt(sum(mpmath.mpf(t) ** 2 for t in lam))) ** (
        mpmath.mpf(2) / L
    )


def exact_minimum(B: list[list[float]], L: int, rank: int) -> mpmath.mpf:
    """Φ_L to 30 digits by the fixed point λ_k² ∝ λ_k √P_kk on the Gram matrix, no Newton steps."""
    h = mpmath.mpf(1) / (L - 1)
    rows = mpmath.matrix([[mpmath.mpf(x) for x in row] for row in B])
    lam = [mpmath.mpf(1)] * rows.rows
    for _ in range(160):
        M = rows.copy()
        for k in range(M.rows):
            for j in range(M.cols):
                M[k, j] = M[k, j] / lam[k]
        s, V = mpmath.eigsy(M * M.T)
        kept = sorted(range(M.rows), key=lambda i: s[i])[-rank:]
        P = [sum(V[k, i] ** 2 * s[i] ** h for i in kept) for k in range(M.rows)]
        lam = [mpmath.sqrt(t * mpmath.sqrt(x)) for t, x in zip(lam, P, strict=True)]
        size = mpmath.sqrt(sum(t * t for t in lam))
        lam = [t / size for t in lam]
    return exact_value(B, L, lam, rank)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "width", "L"),
    [
        ("plain", 1e-12, 3),
        ("graded", 1e-9, 20),
        ("steeply graded", 1e-4, 3),
        ("nearly parallel", 1e-6, 20),
        ("rank deficient", 1e-12, 8),
        ("tall", 1e-12, 8),
    ],
)
@pytest.mark.oracle("rankcheck.costs.phi", "a fixed point in 60 digits of mpmath")
def test_the_bracket_holds_to_forty_digits(case, width, L):
    W, a = normal(1, 3, 3), torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    rank = 3
    if case == "graded":
        a = torch.tensor([1.0, 1e-3, 1e3], dtype=torch.float64)
    elif case == "steeply graded":
        a = torch.tensor([1.0, 1e-6, 1e5], dtype=torch.float64)
    elif case == "nearly parallel":
        W[1] = W[0] + 1e-7 * W[1]
    elif case == "rank deficient":
        W, rank = torch.tensor([[1.0, 2, 3], [2, -1, 1], [4, 3, 7]], dtype=torch.float64), 2
    elif case == "tall":
        W, a, rank = normal(2, 5, 2), normal(3, 5), 2
    bracket = phi(W, a, L)
    with mpmath.workdps(60):
        units = zip(W.tolist(), a.tolist(), strict=True)
        B = [[mpmath.mpf(t) * mpmath.mpf(x) for x in w] for w, t in units]
        truth = exact_minimum(B, L, rank)
        at = exact_value(B, L, bracket.lam.tolist(), rank)
        assert bracket.lower.item() <= truth <= at <= bracket.upper.item()
        assert (at - truth) / truth < 1e-12 + width**2
    assert bracket.converged or width > 1e-9
    assert bracket.gap < width


@pytest.mark.parametrize(("K", "D", "L"), SHAPES)
@pytest.mark.oracle("rankcheck.costs.phi", "scipy.optimize.minimize")
def test_agrees_with_a_general_minimiser(K, D, L):
    W, a = random_units(7, 3, K, D)
    bracket = phi(W, a, L)
    assert bracket.converged.all()
    for i in range(3):
        oracle = by_lbfgs(W[i], a[i], L)
        assert (
            bracket.lower[i].item() * (1 - 1e-12) <= oracle
        )  # no minimiser gets below the bracket
        assert oracle == pytest.approx(bracket.upper[i].item(), rel=2e-7)


@pytest.mark.parametrize(("K", "D", "L"), SHAPES)
def test_the_bracket_is_narrow_and_consistent(K, D, L):
    W, a = random_units(11, 200, K, D)
    bracket = phi(W, a, L)
    assert bracket.converged.all()
    assert (bracket.lower <= bracket.upper).all()
    assert bracket.gap.median() < 1e-12
    assert bracket.gap.max() < 1e-7
    value = phi_at(W, a, L, bracket.lam)
    assert (value <= bracket.upper).all()
    assert (value >= bracket.lower).all()
    torch.testing.assert_close((bracket.lam**2).sum(-1), torch.ones(200, dtype=torch.float64))
    for below in (phi_lower(W, a, L), path_norm_of_units(W, a) ** (2 / L)):
        assert (below <= bracket.upper).all()
    assert (phi_upper(W, a, L) >= bracket.lower).all()
    assert bracket.iterations.max() <= 30


def test_an_unfinished_run_says_so_and_still_brackets():
    W, a = random_units(17, 100, 6, 3)
    full, short = phi(W, a, 7), phi(W, a, 7, max_iterations=1)
    assert not short.converged.any()
    assert (short.iterations <= 2).all()
    assert (short.lower <= full.upper).all()
    assert (short.upper >= full.lower).all()
    assert short.gap.max() < 0.5


def test_silent_rows_and_zero_matrices():
    W, a = random_units(29, 6, 5, 3)
    a[:, 1] = 0
    W[:, 3] = 0
    W[4:] = 0
    bracket = phi(W, a, 6)
    alone = phi(W[:4, [0, 2, 4]], a[:4, [0, 2, 4]], 6)
    torch.testing.assert_close(bracket.upper[:4], alone.upper, rtol=1e-12, atol=0)
    assert (bracket.lam[:4, [1, 3]] == 0).all()
    assert (bracket.lam[:4, [0, 2, 4]] > 0).all()
    value = phi_at(W, a, 6, bracket.lam)
    torch.testing.assert_close(value, bracket.upper, rtol=1e-11, atol=0)
    assert (bracket.upper[4:] == 0).all()
    assert (bracket.lower[4:] == 0).all()
    assert (bracket.gap[4:] == 0).all()
    assert bracket.converged.all()
    nothing = phi(torch.zeros(2, 3, dtype=torch.float64), torch.ones(2, dtype=torch.float64), 4)
    assert nothing.upper == 0
    assert nothing.converged


def test_the_scale_and_the_order_of_units_do_not_matter():
    W, a = random_units(37, 20, 5, 4)
    value = phi(W, a, 8).upper
    for factor in (1e-170, 1e-5, 1e140):
        scaled = phi(W, a * factor, 8)
        torch.testing.assert_close(scaled.upper, value * factor**0.25, rtol=1e-10, atol=0)
        assert scaled.gap.max() < 1e-8
    torch.testing.assert_close(phi(W.flip(1), -a.flip(1), 8).upper, value, rtol=1e-10, atol=0)


def test_where_rounding_hides_the_gradient_the_plain_bounds_remain():
    W = normal(41, 20, 4, 3) * torch.tensor([1.0, 1e-8, 1e-13], dtype=torch.float64)
    a = torch.ones(20, 4, dtype=torch.float64)
    bracket = phi(W, a, 5)
    assert (bracket.lower >= phi_lower(W, a, 5) * 0.8).all()
    assert (bracket.lower <= bracket.upper).all()
    assert not bracket.converged.all()


@pytest.mark.parametrize(("K", "D", "L"), [(1, 1, 2), (3, 2, 2), (3, 2, 3), (2, 4, 5), (5, 3, 20)])
def test_the_bracket_on_balls_is_narrow_and_agrees_with_that_of_floats(K, D, L):
    W, a = random_units(61, 4, K, D)
    W[1] = W[1, :1]  # rank one
    W[2, -1] = 0
    W[3] = 0
    proof, floats = phi(BallArray.exact(W), BallArray.exact(a), L), phi(W, a, L)
    assert (proof.upper - proof.lower <= 1e-20 * (1 + proof.upper)).all()
    assert (proof.lower <= BallArray.exact(floats.upper)).all()
    assert (BallArray.exact(floats.lower) <= proof.upper).all()
    assert proof.converged.all()
    assert (proof.gap.midpoints() <= 1e-20).all()


def test_balls_that_reach_below_zero():
    """Rank one with irrational entries: the zeros of the spectrum are not exact."""
    flat, b = BallArray.exact([[1, 2], [2, 4], [3, 6]]), BallArray.exact([1, -1, 2])
    bracket = phi(flat * pi(), b, 3)
    value = (BallArray.exact(5).sqrt() * 9 * pi()) ** Fraction(2, 3)  # Σ |a_k| t_k ‖(1, 2)‖
    assert (bracket.lower - value <= Fraction(1, 10**25)).all()
    assert (value - bracket.upper <= Fraction(1, 10**25)).all()
    assert (bracket.upper - bracket.lower <= Fraction(1, 10**25)).all()
    root = BallArray.exact([[Fraction(1, 3)]]).sqrt()
    with pytest.raises(Undecided):
        phi(root - root, BallArray.exact([1]), 2)
