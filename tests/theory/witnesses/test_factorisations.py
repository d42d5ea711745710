"""Inner dimensions of compositions, sums and affine maps."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from rankcheck.theory.witnesses.factorisations import Factorisation, add, affine, compose
from tests.draws import integers, random_network

from ._plain import plain


def factorisation(n, k, m, slope=0, depths=(2, 2), batch=(), seed=0):
    outer = random_network((k, *[3] * (depths[0] - 1), m), slope, batch, seed, integers)
    inner = random_network((n, *[4] * (depths[1] - 1), k), slope, batch, seed + 50, integers)
    return Factorisation(outer, inner)


def points(*shape):
    return torch.randint(-8, 9, shape, generator=torch.Generator().manual_seed(9)).double() / 4


def test_parts_that_do_not_fit():
    f = factorisation(3, 2, 2)
    with pytest.raises(ValueError, match="outputs of the inner one"):
        Factorisation(f.outer, random_network((3, 4)))
    with pytest.raises(ValueError, match="on the same batch"):
        Factorisation(f.outer, random_network((3, 2), batch=(5,)))


def in_numpy(f):
    inner, outer = plain(f.inner), plain(f.outer)
    return lambda x: outer(inner(x))


@pytest.mark.parametrize("depths", [((1, 1), (1, 1)), ((2, 1), (1, 3)), ((3, 2), (2, 2))])
@pytest.mark.parametrize("slope", [0, Fraction(1, 3)])
@pytest.mark.oracle("rankcheck.witnesses.add", "the sum of two networks evaluated in numpy")
@pytest.mark.oracle("rankcheck.witnesses.compose", "two networks in numpy, one after the other")
def test_sums_and_compositions_in_numpy(depths, slope):
    x = points(4, 30, 3).numpy()
    for k1, k2 in ((1, 2), (2, 1), (2, 2)):
        f1 = factorisation(3, k1, 3, slope, depths[0], (4,), seed=3)
        f2 = factorisation(3, k2, 3, slope, depths[1], (4,), seed=4)
        first, second = in_numpy(f1), in_numpy(f2)
        for made, k, expected in (
            (add(f1, f2), k1 + k2, first(x) + second(x)),
            (compose(f1, f2), min(k1, k2), first(second(x))),
        ):
            assert made.inner.weights[-1].shape[-2] == made.outer.weights[0].shape[-1] == k
            np.testing.assert_allclose(in_numpy(made)(x), expected, rtol=1e-12, atol=1e-10)
            np.testing.assert_allclose(plain(made.network())(x), expected, rtol=1e-12, atol=1e-10)


@pytest.mark.oracle("rankcheck.witnesses.affine", "U V x + b in numpy")
def test_affine_maps_in_numpy():
    U, V, b, x = points(4, 3, 2), points(4, 2, 5), points(4, 3), points(4, 10, 5).numpy()
    linear = (x @ V.mT.numpy()) @ U.mT.numpy()
    for offset, expected in ((b, linear + b.numpy()[:, None]), (None, linear)):
        f = affine(U, V, offset, -0.5)
        np.testing.assert_allclose(in_numpy(f)(x), expected, atol=1e-12)
        assert plain(f.inner).widths == (5, 2)
        assert plain(f.outer).widths == (2, 3)
