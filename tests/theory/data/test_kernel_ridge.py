"""Kernel ridge regression against autograd and an independent predictor in numpy."""

import numpy as np
import pytest
import torch
from torch.autograd.functional import jacobian as autograd_jacobian

from rankcheck.theory.data.kernel_ridge import (
    GAUSSIAN,
    INVERSE_MULTIQUADRIC,
    RATIONAL,
    KernelRidge,
)

KERNELS = [GAUSSIAN, RATIONAL, INVERSE_MULTIQUADRIC]
BY_RADIUS = {
    GAUSSIAN.name: lambda r: np.exp(-(r**2) / 2),
    RATIONAL.name: lambda r: 1 / (1 + r**2),
    INVERSE_MULTIQUADRIC.name: lambda r: 1 / np.sqrt(1 + r**2),
}


def data(N=6, d=3, m=2, batch=(), seed=0):
    g = torch.Generator().manual_seed(seed)
    X = torch.randn(*batch, N, d, generator=g, dtype=torch.float64)
    return X, torch.randn(*batch, N, m, generator=g, dtype=torch.float64)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_values_written_out(kernel):
    X, Y = data()
    f = KernelRidge(X, Y, 0.25, kernel)
    k = BY_RADIUS[kernel.name]
    K = [[k(np.linalg.norm(p - q)) for q in X.numpy()] for p in X.numpy()]
    alpha = np.linalg.inv(np.array(K) + 0.25 * np.eye(6)) @ Y.numpy()
    x = np.array([0.3, -0.2, 1.1])
    expected = np.array([k(np.linalg.norm(x - q)) for q in X.numpy()]) @ alpha
    np.testing.assert_allclose(f(torch.from_numpy(x)).numpy(), expected, rtol=1e-11)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_jacobian_against_autograd(kernel):
    X, Y = data()
    f = KernelRidge(X, Y, 0.1, kernel)
    points = data(N=5, seed=7)[0]
    J = f.jacobian(points)
    for x, Jx in zip(points, J, strict=True):
        torch.testing.assert_close(Jx, autograd_jacobian(f, x), rtol=1e-10, atol=1e-10)
        torch.testing.assert_close(f.jacobian(x), Jx)
    # With X − x, as printed, the sign is wrong.
    assert (autograd_jacobian(f, points[0]) + J[0]).abs().max() > 0.1


def test_errors_say_the_rule():
    X, Y = data()
    with pytest.raises(ValueError, match="received inputs and outputs of shapes"):
        KernelRidge(X, Y[:3], 0.1)
    with pytest.raises(ValueError, match="received ridge -1"):
        KernelRidge(X, Y, -1)
    with pytest.raises(ValueError, match="received points of shape"):
        KernelRidge(X, Y, 1)(torch.zeros(2).double())
