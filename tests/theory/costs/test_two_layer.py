"""Two-layer functions: path norm, rank, total variation of the derivative."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rankcheck.balls import BallArray
from rankcheck.costs import (
    path_norm_lambda,
    path_norm_of_units,
    phi,
    phi_at,
    phi_upper,
    total_variation_of_derivative,
    two_layer_network,
    unit_rank,
)
from rankcheck.theory import linalg
from tests.draws import normal


def close(x, y, rtol=1e-12):
    torch.testing.assert_close(x, y, rtol=rtol, atol=0)


@pytest.mark.oracle("rankcheck.costs.unit_rank", "numpy's rank of the rows with a_k ≠ 0")
def test_the_rank_is_that_of_the_rows_that_count():
    """Whatever the sizes of the a_k and of the rows are, and where they vanish."""
    g = np.random.default_rng(0)
    W = np.round(g.normal(size=(40, 5, 2)) @ g.normal(size=(40, 2, 4)) * 2) + (
        g.random((40, 5, 1)) < 0.2
    ) * g.integers(-2, 3, (40, 5, 4))
    W[g.random((40, 5)) < 0.3] = 0
    a = g.choice([0.0, 1.0, -3.0], (40, 5))
    truth = [np.linalg.matrix_rank(w[c != 0]) if c.any() else 0 for w, c in zip(W, a, strict=True)]
    assert set(truth) >= {1, 2, 3}
    scales = 10.0 ** g.integers(-40, 40, (40, 5))
    for units in (
        (W, a),
        (W * scales[..., None], a),
        (W, a * scales),
    ):
        assert unit_rank(*(torch.from_numpy(x) for x in units)).tolist() == truth


@pytest.mark.oracle("rankcheck.costs.unit_rank", "written out")
def test_the_rank_does_not_overlook_a_short_row():
    W = torch.eye(3, dtype=torch.float64)
    a = torch.tensor([1.0, 1e-20, 0.0], dtype=torch.float64)
    assert linalg.rank(a.unsqueeze(-1) * W) == 1
    assert unit_rank(W, a) == 2
    truth, bracket = 1 + 1e-20 ** (1 / 20), phi(W, a, 40)
    assert bracket.lower <= truth <= bracket.upper
    assert truth < phi_upper(W, a, 40)  # with the rank of D_a W in floats it would be 1
    assert unit_rank(W * 0, a) == 0
    assert unit_rank(BallArray.exact(W), BallArray.exact(a)) == 2


@pytest.mark.oracle("rankcheck.costs.path_norm_of_units", "a loop over the units")
@pytest.mark.oracle("rankcheck.costs.path_norm_lambda", "a loop over the units")
def test_path_norm_and_its_lambda():
    W, a = normal(8, 30, 5, 3), normal(9, 30, 5)
    slow = sum(a[:, k].abs() * (W[:, k] ** 2).sum(-1).sqrt() for k in range(5))
    close(path_norm_of_units(W, a), slow)
    for k in range(5):
        share = a[:, k].abs() * torch.linalg.vector_norm(W[:, k], dim=-1) / slow
        close(path_norm_lambda(W, a)[:, k], share.sqrt())
    close(phi_at(W, a, 2, path_norm_lambda(W, a)), slow)
    for seed in range(3):
        assert (phi_at(W, a, 2, normal(seed, 30, 5).exp()) > slow).all()
    close(path_norm_lambda(W, a).square().sum(-1), torch.ones(W.shape[:-2], dtype=torch.float64))
    assert (path_norm_lambda(0 * W, a) == 0).all()


def slope_changes(W, b, a):
    """The total variation of f' by second differences of f around each breakpoint, in rationals."""
    units = [
        [Fraction(float(x)) for x in row]
        for row in zip(W.flatten(), b.flatten(), a.flatten(), strict=True)
    ]

    def f(x):
        return sum((c * max(w * x + d, Fraction(0)) for w, d, c in units), Fraction(0))

    bends = sorted({-d / w for w, d, _ in units if w != 0})
    near = min((y - x for x, y in pairwise(bends)), default=Fraction(1)) / 2
    return sum((abs(f(t + near) - 2 * f(t) + f(t - near)) / near for t in bends), Fraction(0))


dyadics = st.integers(-24, 24).map(lambda n: n / 8)


@given(st.lists(st.tuples(dyadics, dyadics, dyadics), min_size=1, max_size=6))
@pytest.mark.oracle("rankcheck.costs.total_variation_of_derivative", "second differences")
def test_total_variation_against_second_differences(units):
    W, b, a = (torch.tensor(x, dtype=torch.float64) for x in zip(*units, strict=True))
    W = W.unsqueeze(-1)
    truth = slope_changes(W, b, a)
    value = total_variation_of_derivative(W, b, a)
    assert value.item() == pytest.approx(float(truth), rel=1e-13, abs=1e-13)
    ball = total_variation_of_derivative(*(BallArray.exact(x) for x in (W, b, a)))
    assert bool(ball == truth)
    assert truth <= path_norm_of_units(W, a).item() + 1e-12


def test_functions_of_the_plane_have_no_total_variation_here():
    a = normal(28, 50, 7)
    with pytest.raises(ValueError, match=r"received W of shape \(50, 7, 2\)"):
        total_variation_of_derivative(normal(29, 50, 7, 2), a, a)


@pytest.mark.oracle("rankcheck.costs.two_layer_network", "a loop over the units")
def test_two_layer_network():
    W, b, a, c = normal(60, 4, 3, 2), normal(61, 4, 3), normal(62, 4, 3), normal(63, 4)
    net, x = two_layer_network(W, b, a, c), normal(64, 4, 2)
    slow = (torch.relu((W @ x.unsqueeze(-1)).squeeze(-1) + b) * a).sum(-1) + c
    torch.testing.assert_close(net(x).squeeze(-1), slow)
    torch.testing.assert_close(two_layer_network(W, b, a)(x).squeeze(-1), slow - c)
    assert path_norm_of_units(W, a).shape == net.batch
