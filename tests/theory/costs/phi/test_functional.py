"""The objective of Φ_L against 60-digit arithmetic, on floats and on balls."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.costs import (
    phi,
    phi_at,
    scaled_schatten_power,
)
from tests.draws import random_units


def exact_sum(B, q, lam):
    """Σ s_i^q (Σ λ²)^{q/2} of D_λ^{-1} B by 60 digits of mpmath, without rows that vanish."""
    M = mpmath.matrix([[mpmath.mpf(x) / mpmath.mpf(t) for x in b]
                       for b, t in zip(B, lam, strict=True) if any(b)])  # fmt: skip
    s = mpmath.svd_r(M, compute_uv=False)
    length = mpmath.sqrt(sum(mpmath.mpf(t) ** 2 for t in lam))
    return sum((x * length) ** q for x in s if x > mpmath.mpf(10) ** -40)


@pytest.mark.parametrize("L", [2, 3, 8])
@pytest.mark.oracle("rankcheck.costs.scaled_schatten_power", "mpmath.svd_r")
@pytest.mark.oracle("rankcheck.costs.phi_at", "mpmath.svd_r")
def test_the_objective_against_mpmath(L):
    q = Fraction(2, L - 1)
    W = np.random.default_rng(L).integers(-3, 4, (3, 4, 3)).astype(float)
    W[1, 2] = W[1, 0] + W[1, 1]
    W[1, 3] = 0
    a = np.random.default_rng(L + 1).integers(1, 4, (3, 4)) / 2
    a[2, 1] = 0
    lam = np.random.default_rng(L + 2).integers(1, 9, (3, 4)) / 4
    units = [torch.from_numpy(x) for x in (W, a)]
    scales = torch.from_numpy(lam)
    sums, values = scaled_schatten_power(*units, scales, q), phi_at(*units, L, scales)
    proof = phi_at(*(BallArray.exact(x) for x in units), L, BallArray.exact(scales))
    for i in range(3):
        with mpmath.workdps(60):
            total = exact_sum((a[i][:, None] * W[i]).tolist(), mpmath.mpf(2) / (L - 1), lam[i])
            value = float(total ** (mpmath.mpf(L - 1) / L))
        assert sums[i].item() == pytest.approx(float(total), rel=1e-12)
        assert values[i].item() == pytest.approx(value, rel=1e-12)
        assert proof[i].midpoints().item() == pytest.approx(value, rel=1e-14)


def test_what_is_refused():
    W, a = random_units(53, 2, 3, 2)
    with pytest.raises(ValueError, match="received depth 1"):
        phi(W, a, 1)
    with pytest.raises(ValueError, match=r"shape \(2, 3, 2\) and a of shape \(2, 2\)"):
        phi_at(W, a[:, :2], 3, a)
    with pytest.raises(ValueError, match="K, D >= 1"):
        phi(W[:, :0], a[:, :0], 3)
