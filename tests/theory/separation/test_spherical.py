"""Rules on the sphere against known moments; Laplace's integral against scipy."""

import itertools
import math
from fractions import Fraction

import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.theory.separation.spherical import laplace_integral, sphere_rule

from .independent import coefficients, polynomial

GRID = torch.linspace(-1, 1, 41, dtype=torch.float64)


@pytest.mark.parametrize(("d", "degree"), [(2, 7), (3, 6), (4, 9), (5, 4)])
@pytest.mark.oracle("rankcheck.separation.sphere_rule", "all monomials, by Folland's formula")
def test_rules_reproduce_the_moments_of_the_sphere(d, degree):
    """E x^a = Γ(d/2) ∏ Γ((a_i + 1)/2) / (π^{d/2} Γ((d + |a|)/2)) for even a, else 0."""
    points, weights = sphere_rule(d, degree)
    assert points.shape == ((degree + 1) * (degree // 2 + 1) ** (d - 2), d)
    torch.testing.assert_close((points * points).sum(-1), torch.ones(len(points)).double())
    assert weights.sum().item() == pytest.approx(1, abs=1e-14)
    for powers in itertools.product(range(degree + 1), repeat=d):
        if sum(powers) > degree:
            continue
        expected = 0.0
        if all(a % 2 == 0 for a in powers):
            halves = [math.gamma((a + 1) / 2) / math.sqrt(math.pi) for a in powers]
            expected = math.prod(halves) * math.gamma(d / 2) / math.gamma((d + sum(powers)) / 2)
        mean = weights.numpy() @ (points.numpy() ** powers).prod(-1)
        assert mean == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize(("d", "n"), [(2, 7), (3, 9), (4, 6), (5, 20), (9, 12)])
@pytest.mark.oracle("rankcheck.separation.laplace_integral", "scipy.special.eval_gegenbauer")
def test_laplace_is_gegenbauer(d, n):
    expected = torch.from_numpy(polynomial(d, n, GRID.numpy()))
    torch.testing.assert_close(laplace_integral(d, n, GRID), expected, atol=1e-12, rtol=0)


@pytest.mark.oracle(
    "rankcheck.separation.laplace_integral", "the explicit sums in exact fractions (balls)"
)
def test_laplace_on_balls_against_explicit_sums():
    for d, t in itertools.product((2, 3, 4, 7), (Fraction(2, 7), Fraction(0), Fraction(-1))):
        for n in range(10):
            expected = sum(c * t**k for k, c in enumerate(coefficients(d, n)))
            got = laplace_integral(d, n, BallArray.exact([t]))
            assert bool((got == BallArray.exact([expected])).all())


def test_gradients_pass_up_to_the_ends():
    t = torch.tensor([-1.0, 0.25, 1.0], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(laplace_integral(3, 4, t).sum(), t)
    assert slope.isfinite().all()
    expected = (140 * 0.25**3 - 60 * 0.25) / 8
    assert slope[1].item() == pytest.approx(expected)


def test_errors_state_the_rule():
    with pytest.raises(ValueError, match="d >= 2 and a degree"):
        sphere_rule(1, 2)
    with pytest.raises(ValueError, match="received d = 3, degree -1"):
        laplace_integral(3, -1, GRID)
    assert math.isclose(laplace_integral(2, 3, GRID)[-1].item(), 1)
