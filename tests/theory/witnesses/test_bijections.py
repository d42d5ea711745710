"""Piecewise-linear bijections, their inverses, and linear maps between them."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from rankcheck.networks import Network
from rankcheck.theory.witnesses.bijections import conjugate, inverse

from ._plain import plain


def bijection(d, depth, slope, batch=(), seed=0):
    """Unit triangular matrices with small integers: invertible, with integer inverses."""
    g = torch.Generator().manual_seed(seed)

    def matrix():
        entries = torch.randint(-1, 2, (2, *batch, d, d), generator=g).double()
        one = torch.eye(d, dtype=torch.float64)
        return (entries[0].tril(-1) + one) @ (entries[1].triu(1) + one)

    return Network(
        tuple(matrix() for _ in range(depth)),
        tuple(torch.randint(-2, 3, (*batch, d), generator=g).double() for _ in range(depth)),
        slope,
    )


def test_what_is_no_bijection():
    with pytest.raises(ValueError, match="received slope 0"):
        inverse(bijection(2, 2, 0))
    with pytest.raises(ValueError, match="have one width"):
        inverse(Network.of([[[1.0, 2.0]]]))
    with pytest.raises(torch.linalg.LinAlgError):
        inverse(Network.of([[[1.0, 2.0], [2.0, 4.0]]]))


def test_an_affine_map_needs_no_slope():
    A = bijection(3, 1, 0)
    x = torch.ones(3, dtype=torch.float64)
    torch.testing.assert_close(inverse(A)(A(x)), x)


@pytest.mark.parametrize("slope", [Fraction(1, 2), 0.9])
@pytest.mark.oracle("rankcheck.witnesses.inverse", "both compositions in numpy are the identity")
def test_inverses_in_numpy(slope):
    x = np.random.default_rng(1).normal(size=(3, 40, 3))
    for depth in (1, 2, 4):
        psi = bijection(3, depth, slope, batch=(3,))
        there, back = plain(psi), plain(inverse(psi))
        assert back.widths == there.widths
        np.testing.assert_allclose(back(there(x)), x, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(there(back(x)), x, rtol=1e-9, atol=1e-9)


@pytest.mark.oracle(
    "rankcheck.witnesses.conjugate", "ψ(Aφ(x) + b) in numpy, and numpy.linalg.matrix_rank"
)
def test_conjugated_maps_in_numpy():
    g = np.random.default_rng(2)
    phi, psi = bijection(2, 2, 0.5, (4,), 2), bijection(3, 3, 0.5, (4,), 3)
    x = g.normal(size=(4, 30, 2))
    for rank in (0, 1, 2):
        A = g.normal(size=(4, 3, rank)) @ g.normal(size=(4, rank, 2))
        for b in (g.normal(size=(4, 3)), None):
            offset = None if b is None else torch.tensor(b)
            net = plain(conjugate(psi, torch.tensor(A), phi, offset))
            middle = plain(phi)(x) @ A.swapaxes(-1, -2) + (0 if b is None else b[:, None])
            np.testing.assert_allclose(net(x), plain(psi)(middle), rtol=1e-10, atol=1e-10)
        assert net.widths == (2, 2, 3, 3, 3)
        for i in range(4):
            assert np.linalg.matrix_rank(net.one(i).jacobian(x[i, 0]), rtol=1e-10) == rank
