"""The cost of the identity against a least-squares solver."""

import numpy as np
import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.costs import cost_of_identity
from tests.draws import integers, normal


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (5, 3), (2, 4)])
@pytest.mark.oracle("rankcheck.costs.cost_of_identity", "numpy.linalg.lstsq")
def test_it_is_the_least_square_of_a_matrix_that_keeps_the_columns(shape):
    A = normal(3, 20, *shape)
    for one, cost in zip(A.numpy(), cost_of_identity(A).tolist(), strict=True):
        M = np.linalg.lstsq(np.maximum(one, 0).T, one.T, rcond=None)[0]
        assert cost == pytest.approx((M**2).sum(), rel=1e-9)


def test_on_rational_matrices_it_is_exact():
    A = integers(1, 30, 3, 2)
    exact = cost_of_identity(BallArray.exact(A))
    assert exact.lower().tolist() == exact.upper().tolist()
    torch.testing.assert_close(exact.midpoints(), cost_of_identity(A))


def test_it_is_zero_where_no_unit_is_active():
    assert cost_of_identity(-torch.ones(2, 3, dtype=torch.float64)) == 0
