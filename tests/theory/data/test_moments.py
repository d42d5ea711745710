"""Covariances against numpy, and the variance of equal points."""

import numpy as np
import pytest
import torch

from rankcheck.theory.data.moments import covariance, total_variance


@pytest.mark.oracle("rankcheck.data.covariance", "numpy.cov")
@pytest.mark.oracle("rankcheck.data.total_variance", "numpy.cov")
def test_against_numpy():
    Z = torch.randn(3, 7, 4, generator=torch.Generator().manual_seed(0)).double()
    for one, cov, total in zip(Z, covariance(Z), total_variance(Z), strict=True):
        expected = np.cov(one.numpy(), rowvar=False, bias=True)
        np.testing.assert_allclose(cov.numpy(), expected, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(float(total), expected.trace(), rtol=1e-12)


def test_equal_points_have_variance_zero():
    Z = torch.full((3, 2), 0.1, dtype=torch.float64)
    assert float(total_variance(Z)) == 0
    assert float(total_variance(Z[:1])) == 0
