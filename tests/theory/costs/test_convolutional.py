"""The least cost of linear convolutional networks, against scipy's minimisation."""

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import torch

from rankcheck.balls import BallArray
from rankcheck.costs import convolutional_cost


def transform(x):
    return np.fft.fft(x, norm="ortho")


def least_cost_by_descent(beta, depth):
    """The least Σ ‖w_ℓ‖² that SLSQP finds from five starts, for kernels that compose β."""
    n = len(beta)

    def gap(w):
        products = n ** ((depth - 1) / 2) * transform(w.reshape(depth, n)).prod(0)
        return np.fft.ifft(products, norm="ortho").real - beta

    starts = np.random.default_rng(0).standard_normal((5, depth * n))
    found = [
        scipy.optimize.minimize(
            lambda w: w @ w,
            start,
            jac=lambda w: 2 * w,
            constraints={"type": "eq", "fun": gap},
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-12},
        )
        for start in starts
    ]
    return min(f.fun for f in found if f.success and np.abs(gap(f.x)).max() < 1e-8)


@pytest.mark.oracle("rankcheck.costs.convolutional_cost", "scipy.optimize.minimize")
@pytest.mark.parametrize(("depth", "n"), [(1, 3), (2, 2), (2, 3), (3, 3)])
def test_the_least_cost_of_kernels(depth, n):
    beta = np.random.default_rng(depth).standard_normal(n)
    cost = float(convolutional_cost(torch.from_numpy(beta), depth))
    assert cost == pytest.approx(least_cost_by_descent(beta, depth), rel=1e-5)
    sizes = np.abs(transform(beta)) / n ** ((depth - 1) / 2)
    assert cost == pytest.approx(depth * (sizes ** (2 / depth)).sum())


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_linear_layers_cost_n_times_as_much(depth):
    beta = np.random.default_rng(1).standard_normal((6, 5))
    s = np.linalg.svd([scipy.linalg.circulant(b) for b in beta], compute_uv=False)
    layers = depth * (s ** (2 / depth)).sum(-1)
    np.testing.assert_allclose(5 * convolutional_cost(torch.from_numpy(beta), depth), layers)


def test_exact_on_rationals():
    beta = BallArray.exact([4, 0])
    assert bool(convolutional_cost(beta, 2) == 8)
    assert bool(convolutional_cost(beta, 2, exponent=4) == 32)


def test_without_layers():
    with pytest.raises(ValueError, match="at least one layer"):
        convolutional_cost(torch.ones(3, dtype=torch.float64), 0)
