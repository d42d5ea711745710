"""Interpolated kernels: the hidden representations and the cost."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch

from rankcheck.theory.witnesses.cone import cone_network, interpolated_shares, stack_kernels

from ._plain import plain


def tensor(rows):
    return torch.tensor(rows, dtype=torch.float64)


A = tensor([[2.0, 1.0, 0.0], [0.0, 0.5, 0.0]])
BASIS = tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
INTO = BASIS.mT
OUT = tensor([[0.6, 0.0], [0.8, 0.0], [0.0, 1.0]])


def test_errors_state_the_rule():
    with pytest.raises(ValueError, match=r"\(2, 3\) and \(3, 2\); .* equal batch axes and columns"):
        stack_kernels(A, A.mT, tensor(0.5))
    with pytest.raises(ValueError, match=r"received shares \[Fraction\(3, 2\)\]"):
        cone_network(A, BASIS, INTO, OUT, (Fraction(3, 2),))


@pytest.mark.parametrize("slope", [0.0, -0.7])
@pytest.mark.oracle(
    "rankcheck.witnesses.cone_network", "A x, the kernels and Σ tr K_ℓ K_{ℓ−1}⁺, in numpy"
)
def test_the_function_the_kernels_and_the_cost_in_numpy(slope):
    a, P = A.numpy(), BASIS.numpy() @ BASIS.numpy().T
    x = np.random.default_rng(0).uniform(0, 3, (20, 2)) @ BASIS.numpy().T
    for shares in ((), (0.5,), (0.125, 0.5, 0.75), (0, 1)):
        net = plain(cone_network(A, BASIS, INTO, OUT, tuple(map(Fraction, shares)), slope))
        values = net.layers(x + np.array([0, 0, 5.0]))
        np.testing.assert_allclose(values[-1], x @ a.T, atol=1e-12)
        kernels = [P, *((1 - p) * P + p * a.T @ a for p in shares), a.T @ a]
        for alpha, K in zip(values[1:], kernels[1:], strict=True):
            np.testing.assert_allclose(alpha @ alpha.T, x @ K @ x.T, atol=1e-11)
        cost = sum(np.trace(K @ np.linalg.pinv(before)) for before, K in pairwise(kernels))
        assert net.cost == pytest.approx(cost, rel=1e-12)


@pytest.mark.oracle("rankcheck.witnesses.interpolated_shares", "numpy.linspace")
def test_shares_are_equally_spaced():
    for depth in (1, 2, 3, 10):
        expected = np.linspace(0, 1, depth + 1)[1:-1]
        assert [float(p) for p in interpolated_shares(depth)] == pytest.approx(expected.tolist())


@pytest.mark.oracle(
    "rankcheck.witnesses.stack_kernels", "t BᵀB + (1 − t) CᵀC in numpy, for a batch of t"
)
def test_kernels_of_stacked_matrices_in_numpy():
    g = np.random.default_rng(1)
    B, C, t = g.uniform(0, 1, (5, 2, 3)), g.uniform(0, 1, (5, 4, 3)), np.linspace(0, 1, 5)
    M = stack_kernels(*map(torch.tensor, (B, C, t))).numpy()
    s = t[:, None, None]
    expected = s * B.swapaxes(1, 2) @ B + (1 - s) * C.swapaxes(1, 2) @ C
    np.testing.assert_allclose(M.swapaxes(1, 2) @ M, expected, atol=1e-14)
    assert M.shape == (5, 6, 3)
    assert (M >= 0).all()
