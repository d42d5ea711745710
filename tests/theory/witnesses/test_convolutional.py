"""Linear convolutional networks, against numpy's Fourier transform and scipy's matrices."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
import scipy.linalg
import torch

from rankcheck.balls import BallArray
from rankcheck.costs import convolutional_cost
from rankcheck.witnesses import (
    cheapest_kernels,
    circulant,
    composed_kernel,
    composition_noise,
    convolutional_layers,
    fourier_sizes,
)

SHAPES = [(1, 1), (1, 5), (2, 1), (2, 4), (3, 3), (4, 6), (5, 2)]


def normal(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))


def transform(x):
    return np.fft.fft(np.asarray(x))


@pytest.mark.oracle("rankcheck.witnesses.circulant", "scipy.linalg.circulant")
@pytest.mark.parametrize("n", [1, 2, 5])
def test_circulant_matrices(n):
    w = normal(3, n)
    for one, C in zip(w.numpy(), circulant(w).numpy(), strict=True):
        assert np.array_equal(C, scipy.linalg.circulant(one))


@pytest.mark.oracle("rankcheck.witnesses.composed_kernel", "numpy.fft")
@pytest.mark.parametrize(("L", "n"), SHAPES)
def test_kernels_compose_to_a_product_of_transforms(L, n):
    kernels = normal(7, L, n)
    expected = np.fft.ifft(transform(kernels).prod(-2)).real
    np.testing.assert_allclose(composed_kernel(kernels), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.oracle("rankcheck.witnesses.convolutional_layers", "a loop over the entries")
@pytest.mark.parametrize(("L", "n"), SHAPES)
def test_layers_are_circular_correlations_and_an_inner_product(L, n):
    kernels, x = normal(L, n), normal(n, seed=1)
    h, *outputs = x.tolist(), x.unsqueeze(-1)
    for W in convolutional_layers(kernels):
        outputs.append(W @ outputs[-1])
    *inner, last = kernels.tolist()
    for w, seen in zip(inner, outputs[1:], strict=False):
        h = [sum(w[k] * h[(i + k) % n] for k in range(n)) for i in range(n)]
        np.testing.assert_allclose(seen.squeeze(-1), h)
    np.testing.assert_allclose(outputs[-1].squeeze(-1), [np.dot(last, h)])
    np.testing.assert_allclose(outputs[-1].squeeze(-1), [composed_kernel(kernels) @ x])


@pytest.mark.oracle("rankcheck.witnesses.composition_noise", "fractions.Fraction")
@pytest.mark.parametrize(("L", "n"), SHAPES)
def test_the_error_of_a_composition_is_below_its_bound(L, n):
    kernels = normal(L, n)
    *inner, exact = [[Fraction(v) for v in w] for w in kernels.tolist()]
    for w in inner:
        exact = [sum(w[j] * exact[(i - j) % n] for j in range(n)) for i in range(n)]
    error = sum(
        abs(Fraction(v) - e) for v, e in zip(composed_kernel(kernels).tolist(), exact, strict=True)
    )
    size = prod(kernels.abs().sum(-1).tolist())
    assert float(error) <= float(composition_noise(kernels)) <= 1e-13 * size


@pytest.mark.oracle("rankcheck.witnesses.fourier_sizes", "numpy.fft")
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_sizes_of_coefficients(n):
    beta = normal(5, n)
    np.testing.assert_allclose(fourier_sizes(beta), np.abs(transform(beta)), atol=1e-13)
    exact = fourier_sizes(BallArray.exact(beta[0].tolist()))
    np.testing.assert_allclose(exact.midpoints(), np.abs(transform(beta[0])), atol=1e-13)


def test_rounding_is_no_coefficient():
    beta = torch.full((7,), 0.1, dtype=torch.float64)
    assert (fourier_sizes(beta) > 0).tolist() == [True] + 6 * [False]
    assert fourier_sizes(beta, noise=torch.tensor(1.0, dtype=torch.float64)).tolist() == 7 * [0.0]


@pytest.mark.oracle("rankcheck.witnesses.cheapest_kernels", "numpy.fft")
@pytest.mark.parametrize(("depth", "n"), SHAPES)
def test_cheapest_kernels_share_the_sizes_at_each_frequency(depth, n):
    beta = normal(4, n)
    beta[0] = 1.0
    kernels = cheapest_kernels(beta, depth)
    assert kernels.shape == (4, depth, n)
    target = transform(beta)
    np.testing.assert_allclose(transform(kernels).prod(-2), target, atol=1e-10)
    shares = np.where(np.abs(target) > 1e-12, np.abs(target), 0)[:, None] ** (1 / depth)
    np.testing.assert_allclose(
        np.abs(transform(kernels)), shares + np.zeros_like(kernels), atol=1e-10
    )


def test_cheapest_kernels_of_exact_numbers_are_exact():
    # The DFT (4, 0, −4, 0) of (0, 2, 0, 2) has rational square roots.
    beta = BallArray.exact([0, 2, 0, 2])
    kernels = cheapest_kernels(beta, 2)
    assert bool((composed_kernel(kernels) == beta).all())
    assert bool((kernels * kernels).sum() == convolutional_cost(beta, 2))


def test_what_is_no_network_of_kernels():
    with pytest.raises(ValueError, match=r"kernels of length n are \(\*B, L, n\)"):
        composed_kernel(normal(3))
    with pytest.raises(ValueError, match="received kernels of shape"):
        convolutional_layers(normal(0, 3))
    with pytest.raises(ValueError, match="at least one layer"):
        cheapest_kernels(normal(3), 0)
