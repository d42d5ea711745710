"""C_f under a Gaussian against sums over arcs and sampling; the bivariate normal distribution."""

import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.special import ndtr

from rankcheck.costs import egop, egop_gaussian
from rankcheck.theory.costs.gaussian import bivariate_normal_cdf
from tests.draws import normal


def gradients(W, b, a, x):
    """∇h at N points x (N, D), by the definition: (N, D)."""
    return ((x @ W.mT + b > 0).to(W.dtype) * a) @ W


def mean_product(G, weights):
    """Σ p_n ∇f(x_n) ∇f(x_n)ᵀ, in numpy."""
    return torch.from_numpy(np.einsum("n,ni,nj->ij", weights.numpy(), G.numpy(), G.numpy()))


def cdf_by_quadrature(h: float, k: float, angle: float) -> float:
    """P(X ≤ h, Y ≤ k), by integrating its derivative in the angle (Plackett) from π/2."""

    def rate(t: float) -> float:
        square = h * h + k * k - 2 * h * k * math.cos(t)
        return math.exp(-square / (2 * math.sin(t) ** 2)) / (2 * math.pi)

    start = float(ndtr(h) * ndtr(k))
    return start + float(quad(rate, angle, math.pi / 2, epsabs=1e-13, epsrel=1e-13, limit=200)[0])


@pytest.mark.parametrize("angle", [1e-3, 0.3, math.pi / 2, 2.0, math.pi - 1e-2])
def test_bivariate_normal_against_quadrature(angle):
    values = [-3.0, -0.7, 0.0, 0.2, 1.5]
    for h in values:
        for k in values:
            ours = bivariate_normal_cdf(
                *(torch.tensor(x, dtype=torch.float64) for x in (h, k, angle))
            )
            assert ours.item() == pytest.approx(cdf_by_quadrature(h, k, angle), abs=1e-11)


def test_bivariate_normal_at_the_ends():
    h = torch.tensor([-2.0, -0.3, 0.0, 0.0, 1.0, 1.0, -1.0, 5.0], dtype=torch.float64)
    k = torch.tensor([1.0, -0.3, 0.0, -1.0, 0.5, -1.0, 1.0, 5.0], dtype=torch.float64)
    zero, straight = torch.zeros_like(h), torch.full_like(h, math.pi)
    together = torch.special.ndtr(torch.minimum(h, k))
    opposed = (torch.special.ndtr(h) + torch.special.ndtr(k) - 1).clamp_min(0)
    torch.testing.assert_close(bivariate_normal_cdf(h, k, zero), together, rtol=0, atol=1e-15)
    torch.testing.assert_close(bivariate_normal_cdf(h, k, straight), opposed, rtol=0, atol=1e-15)
    # It is continuous in the angle, with slope at most 1/2π.
    near = bivariate_normal_cdf(h, k, zero + 1e-9)
    torch.testing.assert_close(near, together, rtol=0, atol=1e-9 / 6)
    far = bivariate_normal_cdf(h, k, straight - 1e-9)
    torch.testing.assert_close(far, opposed, rtol=0, atol=1e-9 / 6)


@pytest.mark.oracle("rankcheck.costs.egop_gaussian", "a sum over arcs, written out")
def test_gaussian_egop_against_quadrature_in_two_dimensions():
    """Without biases activity depends on the direction alone: a finite sum over arcs."""
    W, a = normal(1, 4, 2), normal(2, 4)
    b = torch.zeros(4, dtype=torch.float64)
    bends = torch.atan2(-W[:, 0], W[:, 1])  # the zeros of w_k·(cos, sin); the others lie opposite
    bends = torch.cat((bends, bends + math.pi)).remainder(2 * math.pi).sort()[0]
    bends = torch.cat((bends, bends[:1] + 2 * math.pi))
    middle = (bends[1:] + bends[:-1]) / 2
    G = gradients(W, b, a, torch.stack((middle.cos(), middle.sin()), -1))
    weights = bends.diff() / (2 * math.pi)
    expected = mean_product(G, weights)
    torch.testing.assert_close(egop_gaussian(W, b, a), expected, rtol=1e-13, atol=1e-14)


def test_gaussian_egop_against_monte_carlo_with_a_general_law():
    W, b, a = normal(6, 6, 3), normal(7, 6), normal(8, 6)
    mean, factor = normal(9, 3), normal(10, 3, 2)  # a degenerate law, on a plane
    W[4] = 2 * W[0]
    b[4] = b[0]
    W[5] = -W[1]
    C = egop_gaussian(W, b, a, mean, factor)
    G = gradients(W, b, a, normal(11, 200_000, 2) @ factor.mT + mean)
    entries = G.unsqueeze(-1) * G.unsqueeze(-2)
    deviation = entries.std(0) / math.sqrt(len(G))
    assert ((C - egop(G)).abs() < 5 * deviation + 1e-12).all()


def test_duplicated_and_opposed_units_lose_no_digits():
    W, b, a = normal(12, 3, 4), normal(13, 3), normal(14, 3)
    split = egop_gaussian(torch.cat((W, 3 * W)), torch.cat((b, 3 * b)), torch.cat((a / 2, a / 6)))
    torch.testing.assert_close(split, egop_gaussian(W, b, a), rtol=1e-13, atol=1e-14)
    # a[z]_+ − a[−z]_+ = a z
    linear = egop_gaussian(torch.cat((W, -W)), torch.cat((b, -b)), torch.cat((a, -a)))
    g = (a @ W).unsqueeze(-1)
    torch.testing.assert_close(linear, g @ g.mT, rtol=1e-13, atol=1e-14)


def test_units_that_do_not_depend_on_the_point():
    W = torch.tensor([[1.0, 0], [0, 1], [0, 0]], dtype=torch.float64)
    b, a = torch.tensor([0.0, 2.0, 1.0], dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    factor = torch.tensor([[1.0], [0.0]], dtype=torch.float64)  # x_2 = 0: the second unit is on
    C = egop_gaussian(W, b, a, factor=factor)
    torch.testing.assert_close(C, torch.tensor([[0.5, 0.5], [0.5, 1.0]], dtype=torch.float64))
    off = egop_gaussian(W, torch.tensor([0.0, -2.0, 1.0], dtype=torch.float64), a, factor=factor)
    torch.testing.assert_close(off, torch.tensor([[0.5, 0.0], [0.0, 0.0]], dtype=torch.float64))


def test_gaussian_egop_has_no_gradients():
    W, b, a, mean = normal(1, 3, 2), normal(2, 3), normal(3, 3), normal(4, 2)
    leaves = [part.clone().requires_grad_() for part in (W, b, a, mean)]
    C = egop_gaussian(*leaves, factor=torch.eye(2, dtype=torch.float64).requires_grad_())
    assert not C.requires_grad
    torch.testing.assert_close(C, egop_gaussian(W, b, a, mean))


def test_chunks_of_pairs_do_not_matter(monkeypatch):
    W, b, a = normal(15, 2, 7, 4), normal(16, 2, 7), normal(17, 2, 7)
    whole = egop_gaussian(W, b, a)
    monkeypatch.setattr("rankcheck.theory.costs.gaussian.PAIRS_AT_ONCE", 2 * 7 * 4 * 3)
    assert torch.equal(egop_gaussian(W, b, a), whole)
