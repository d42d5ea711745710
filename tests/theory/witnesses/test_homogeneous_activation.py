"""Rescaled activations, against the two half-lines of a homogeneous activation in numpy."""

import numpy as np
import pytest
import torch

from rankcheck.theory.witnesses.homogeneous_activation import homogeneous_form


@pytest.mark.oracle("rankcheck.witnesses.homogeneous_form", "numpy.where on both half-lines")
def test_the_rescaled_activation_is_the_given_one():
    values = np.array([-3.0, -2.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0])
    alpha, beta = (a.ravel() for a in np.meshgrid(values, values))
    different = np.abs(alpha) != np.abs(beta)
    alpha, beta = alpha[different], beta[different]
    a, c, b = (part.numpy() for part in homogeneous_form(*map(torch.tensor, (alpha, beta))))
    x = np.linspace(-4, 4, 17)[:, None]
    z = b * x
    np.testing.assert_allclose(c * np.where(z >= 0, z, a * z), np.where(x >= 0, alpha, beta) * x)
    assert (np.abs(a) < 1).all()
    assert (np.abs(c) == 1).all()


@pytest.mark.parametrize(
    ("alpha", "beta", "slope"), [(2.0, 2.0, 1), (-2.0, 2.0, -1), (0.0, 0.0, 1)]
)
def test_equal_sizes_have_no_form(alpha, beta, slope):
    assert homogeneous_form(torch.tensor(alpha), torch.tensor(beta)).slope == slope
