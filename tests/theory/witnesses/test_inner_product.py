"""The inner-product network and the network of depth three, against interpolants by numpy."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from rankcheck.networks import Network
from rankcheck.theory.witnesses.inner_product import (
    depth_three,
    depth_three_cells,
    inner_product_cells,
    inner_product_network,
    largest_parameter,
    pair_with_sum,
)

from ._plain import plain

LIKE = torch.zeros((), dtype=torch.float64)


def test_errors_state_the_rule():
    with pytest.raises(ValueError, match="received d = 0"):
        inner_product_cells(0, 1)
    with pytest.raises(ValueError, match="received the Lipschitz constant -1"):
        depth_three_cells(-1, 2, 1)


def chords(x, y, cells):
    """Σ q̂(x_i + y_i) − 1, with the interpolant q̂ of t²/2 at the multiples of 2/cells."""
    knots = np.linspace(-2, 2, 2 * cells + 1)
    return np.interp(x + y, knots, knots**2 / 2).sum(-1) - 1


def unit(rng, *shape):
    x = rng.normal(size=shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


@pytest.mark.oracle("rankcheck.witnesses.inner_product_network", "numpy.interp of t²/2, and ⟨x, y⟩")
def test_inner_products_by_chords_of_the_parabola():
    rng = np.random.default_rng(0)
    for d, cells in ((1, 1), (2, 3), (5, 8)):
        x, y = unit(rng, 100, d), unit(rng, 100, d)
        net = plain(inner_product_network(d, cells, LIKE))
        assert net.widths == (2 * d, 2 * d * cells, 1)
        found = net(np.concatenate((x, y), -1))[:, 0]
        np.testing.assert_allclose(found, chords(x, y, cells), atol=1e-13)
        assert np.abs(found - (x * y).sum(-1)).max() <= d / (2 * cells**2) + 1e-13


@pytest.mark.oracle("rankcheck.witnesses.depth_three", "numpy.interp of numpy.interp of t²/2")
def test_functions_of_the_inner_product_by_interpolation():
    rng = np.random.default_rng(1)
    x, y = unit(rng, 200, 3), unit(rng, 200, 3)
    frequencies = torch.tensor([2.0, 5.0], dtype=torch.float64)
    built = depth_three(
        lambda t: torch.sin(frequencies[:, None] * t + 1), 3, 40, 50, torch.ones(2).double()
    )
    net = plain(built.network())
    assert net.widths == (6, 240, 100, 1)
    found = net(np.concatenate((x, y), -1))[..., 0]
    knots = np.linspace(-1, 1, 101)
    for values, k in zip(found, (2.0, 5.0), strict=True):
        expected = np.interp(chords(x, y, 40), knots, np.sin(k * knots + 1))
        np.testing.assert_allclose(values, expected, atol=1e-12)
        exact = np.sin(k * (x * y).sum(-1) + 1)
        assert np.abs(values - exact).max() <= k * 3 / (2 * 40**2) + k / 100


def fewest(radius, lipschitz, error):
    """By trial: no cell if a constant errs by at most ε, else the first n with L·(R/n)/2 ≤ ε."""
    if lipschitz * radius <= error:
        return 0
    n = 1
    while lipschitz * Fraction(radius) / n / 2 > error:
        n += 1
    return n


@pytest.mark.oracle("rankcheck.witnesses.inner_product_cells", "trial of one cell more, exactly")
@pytest.mark.oracle("rankcheck.witnesses.depth_three_cells", "trial of one cell more, exactly")
def test_cells_by_trial():
    """Of the error ε the half Lδ = ε/2 goes to N_i and ε/2 to N_f; t²/2 is 2-Lipschitz on ±2."""
    for d in (1, 2, 5):
        for error in (Fraction(1, 10), Fraction(3, 7), 1, 4, Fraction(9, 2), 40, 0.3):
            delta = Fraction(error)
            assert inner_product_cells(d, error) == fewest(2, 2, delta / d)
            for lipschitz in (Fraction(1, 5), 1, Fraction(7, 3)):
                inner = fewest(2, 2, delta / (2 * lipschitz) / d)
                outer = fewest(1, lipschitz, delta / 2)
                assert depth_three_cells(lipschitz, d, error) == (inner, outer)
                assert 2 * d * inner <= 16 * d * d * lipschitz / delta
                assert 2 * outer <= 4 * lipschitz / delta


@pytest.mark.oracle("rankcheck.witnesses.largest_parameter", "numpy.max over all parameters")
def test_the_largest_parameter_in_numpy():
    rng = np.random.default_rng(2)
    for place in range(4):
        arrays = [rng.normal(size=(3, *s)) for s in ((4, 2), (4,), (1, 4), (1,))]
        arrays[place] *= 100
        weights, biases = ([torch.tensor(a) for a in arrays[i::2]] for i in (0, 1))
        expected = np.max([np.abs(a).reshape(3, -1).max(1) for a in arrays], axis=0)
        assert largest_parameter(Network(weights, biases)).tolist() == expected.tolist()


@pytest.mark.oracle(
    "rankcheck.witnesses.pair_with_sum",
    "norms and sums in numpy, and the rank of (s, u, x − x')",
)
def test_pairs_of_a_given_sum_in_numpy():
    rng = np.random.default_rng(3)
    for d in (2, 3, 6):
        s, u = 2 * unit(rng, 50, d) * rng.uniform(0, 1, (50, 1)), rng.normal(size=(50, d))
        s[0], s[1] = 0, 2 * s[1] / np.linalg.norm(s[1])
        x, y = (p.numpy() for p in pair_with_sum(torch.tensor(s), torch.tensor(u)))
        np.testing.assert_allclose(x + y, s, atol=1e-14)
        for points in (x, y):
            np.testing.assert_allclose(np.linalg.norm(points, axis=-1), 1)
        w = x - y
        np.testing.assert_allclose((w * s).sum(-1), 0, atol=1e-13)
        # x − x' lies in the span of s and u, on the side of u.
        triples = np.stack((s, u, w), 1)
        assert (np.linalg.matrix_rank(triples, tol=1e-7) <= 2).all()
        assert ((w * u).sum(-1) >= -1e-7).all()
