"""The objective of Φ_L: log-convexity, scale invariance, balls and gradients."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.costs import (
    phi,
    phi_at,
    scaled_schatten_power,
)

from ..draws import normal, random_units


@pytest.mark.parametrize("q", [Fraction(1, 10), Fraction(1, 2), 1, 2, 3])
def test_the_objective_is_log_convex_in_log_lambda(q):
    W, a = random_units(47, 300, 4, 3)
    u, v = normal(48, 300, 4), normal(49, 300, 4)
    ends = [scaled_schatten_power(W, a, w.exp(), q).log() for w in (u, v, (u + v) / 2)]
    assert (ends[2] <= (ends[0] + ends[1]) / 2 + 1e-12).all()
    assert ((ends[0] + ends[1]) / 2 - ends[2]).median() > 1e-3  # strictly, for most instances


def test_the_objective_on_balls_and_its_gradient():
    W = [[1, 2, 0], [0, 1, -1], [3, 0, 2], [0, 0, 0]]
    a, lam = [1, -2, Fraction(1, 3), 5], [1, Fraction(1, 2), 2, 1]
    ball = phi_at(BallArray.exact(W), BallArray.exact(a), 4, BallArray.exact(lam))
    Wt, at, lt = (torch.tensor(np.array(x, dtype=float)) for x in (W, a, lam))
    lt.requires_grad_()
    value = phi_at(Wt, at, 4, lt)
    assert torch.all((ball - value.item()).abs() <= 1e-14)
    (gradient,) = torch.autograd.grad(value, lt)
    assert gradient @ lt.detach() == pytest.approx(0, abs=1e-14)  # invariant under scaling of λ

    best = phi(Wt, at, 4).lam.requires_grad_()
    (gradient,) = torch.autograd.grad(phi_at(Wt, at, 4, best), best)
    assert gradient.isfinite().all()
    assert gradient.abs().max() < 1e-5


def test_what_is_refused():
    W, a = random_units(53, 2, 3, 2)
    with pytest.raises(ValueError, match="received depth 1"):
        phi(W, a, 1)
    with pytest.raises(ValueError, match=r"shape \(2, 3, 2\) and a of shape \(2, 2\)"):
        phi_at(W, a[:, :2], 3, a)
    with pytest.raises(ValueError, match="K, D >= 1"):
        phi(W[:, :0], a[:, :0], 3)
