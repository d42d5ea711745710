"""Zonal inner products: three ways to them, against sums over the sphere."""

import itertools

import numpy as np
import pytest
import torch

from rankcheck.balls import BallArray, NoBallForm
from rankcheck.theory.separation.zonal import (
    cross_by_moments,
    cross_by_quadrature,
    cross_inner_product,
    zonal_by_moments,
    zonal_by_quadrature,
    zonal_inner_product,
)

from .independent import sphere_points, zonal

C = torch.tensor([-1.0, -0.75, -0.2, 0.0, 0.3, 0.9, 1.0], dtype=torch.float64)


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.oracle("rankcheck.separation.zonal_inner_product", "sums over the sphere by scipy")
@pytest.mark.oracle("rankcheck.separation.zonal_by_moments", "sums over the sphere by scipy")
@pytest.mark.oracle("rankcheck.separation.zonal_by_quadrature", "sums over the sphere by scipy")
@pytest.mark.oracle("rankcheck.separation.cross_inner_product", "sums over the sphere by scipy")
@pytest.mark.oracle("rankcheck.separation.cross_by_moments", "sums over the sphere by scipy")
@pytest.mark.oracle("rankcheck.separation.cross_by_quadrature", "sums over the sphere by scipy")
def test_sums_over_the_sphere(d):
    """A rule that is exact for the degree of the products, at points x and pairs (x, x')."""
    x, weights = sphere_points(d, 8)
    frame, _ = np.linalg.qr(np.random.default_rng(d).standard_normal((d, 2)))
    v = frame[:, 0]
    across = frame[:, 1]
    left = [weights * zonal(d, i, x @ v) for i in range(5)]
    kernels = [zonal(d, i, x @ x.T) for i in range(5)]
    c = C.numpy()
    others = x @ (c * v[:, None] + np.sqrt(1 - c * c) * across[:, None])
    right = [zonal(d, i, others) for i in range(5)]
    for i, j in itertools.product(range(5), repeat=2):
        for route in (zonal_inner_product, zonal_by_moments, zonal_by_quadrature):
            np.testing.assert_allclose(route(d, i, j, C), left[i] @ right[j], atol=1e-12)
    for i, j, k in itertools.product((0, 1, 2, 4), repeat=3):
        expected = left[j] @ kernels[i] @ (weights[:, None] * right[k])
        for cross in (cross_inner_product, cross_by_moments, cross_by_quadrature):
            np.testing.assert_allclose(cross(d, i, j, k, C), expected, atol=1e-12)


def test_quadrature_has_no_form_on_balls():
    c = BallArray.exact([0.5])
    with pytest.raises(NoBallForm, match="use the moments"):
        zonal_by_quadrature(4, 1, 1, c)
