"""The main theorem in coefficients, against sampling; the norms of neurons."""

import math

import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.separation import (
    best_fit,
    correlations,
    diagonal_norms,
    distance_squared,
    main_lower_bound,
    neuron_coefficients,
    neuron_norm_bound,
    neuron_second_moment,
    neuron_supremum,
    norm_lower_bound,
    separable_gram,
    separable_norms,
    sphere_rule,
    tail_norm,
)
from rankcheck.separation.legendre import multiplicity, orthonormal_table, stereographic

from .points import sphere

LIKE = torch.zeros((), dtype=torch.float64)


def random_instance(
    seed: int, d: int, r: int, degrees: int, batch: tuple[int, ...] = ()
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    alpha = torch.randn(*batch, degrees, generator=generator, dtype=torch.float64)
    beta = torch.randn(*batch, r, degrees, degrees, generator=generator, dtype=torch.float64)
    number = math.prod(batch) * r
    v = sphere(d, number, generator).reshape(*batch, r, d)
    w = sphere(d, number, generator).reshape(*batch, r, d)
    return alpha, beta / 4, v, w


def test_everything_against_sampling():
    d, r, degrees, number = 3, 3, 3, 400_000
    alpha, beta, v, w = random_instance(0, d, r, degrees)
    generator = torch.Generator().manual_seed(1)
    x, y = sphere(d, number, generator), sphere(d, number, generator)
    F = orthonormal_table(d, degrees - 1, (x * y).sum(-1)) @ alpha
    left = orthonormal_table(d, degrees - 1, x @ v.T)
    right = orthonormal_table(d, degrees - 1, y @ w.T)
    g = torch.einsum("njk,jkl,njl->nj", left, beta, right)
    gram = g.T @ g / number
    torch.testing.assert_close(separable_gram(d, beta, v, w), gram, atol=0.03, rtol=0)
    torch.testing.assert_close(separable_norms(beta), gram.diagonal().sqrt(), atol=0.02, rtol=0)
    cross = (F.unsqueeze(-1) * g).mean(0)
    torch.testing.assert_close(correlations(d, alpha, beta, v, w), cross, atol=0.03, rtol=0)
    distance = ((F - g.sum(-1)) ** 2).mean()
    torch.testing.assert_close(distance_squared(d, alpha, beta, v, w), distance, rtol=0.02, atol=0)


@pytest.mark.parametrize("d", [2, 3, 5, 20])
def test_the_main_theorem(d):
    for seed, (r, degrees) in enumerate(((1, 1), (1, 4), (3, 5), (6, 3))):
        alpha, beta, v, w = random_instance(seed, d, r, degrees, (50,))
        distance = distance_squared(d, alpha, beta, v, w)
        assert distance.shape == (50,)
        for n in range(degrees + 1):
            assert (distance >= main_lower_bound(d, n, alpha, separable_norms(beta)) - 1e-10).all()


def test_it_is_tight_for_small_aligned_functions():
    """g = s·L_n ⊗ L_n with v = v': the gap is exactly s²."""
    d, n = 4, 2
    v = sphere(d, 1, torch.Generator().manual_seed(0))
    alpha = torch.tensor([0.0, 0.0, 1.5], dtype=torch.float64)
    for s in (1.0, 0.1, 1e-3):
        beta = torch.zeros(1, 3, 3, dtype=torch.float64)
        beta[0, n, n] = s
        bound = main_lower_bound(d, n, alpha, separable_norms(beta))
        gap = distance_squared(d, alpha, beta, v, v) - bound
        assert gap.item() == pytest.approx(s * s, rel=1e-8)


@pytest.mark.parametrize("d", [2, 3, 5, 20])
def test_the_theorem_in_norm(d):
    """It is above the theorem on the slides, and below the distance."""
    for seed, (r, degrees) in enumerate(((1, 1), (1, 4), (3, 5), (6, 3))):
        alpha, beta, v, w = random_instance(seed, d, r, degrees, (50,))
        distance = distance_squared(d, alpha, beta, v, w).clamp(min=0).sqrt()
        for n in range(degrees + 1):
            norms = [[float((b.diagonal()[n:] ** 2).sum().sqrt()) for b in g] for g in beta]
            torch.testing.assert_close(
                diagonal_norms(beta, n), torch.tensor(norms, dtype=torch.float64)
            )
            least = norm_lower_bound(d, n, alpha, diagonal_norms(beta, n))
            assert (distance >= least - 1e-7).all()
            slides = main_lower_bound(d, n, alpha, separable_norms(beta))
            assert (least.clamp(min=0) ** 2 >= slides - 1e-10).all()


def test_rules_on_the_sphere_attain_the_theorem_in_norm():
    """Σ w_j L_n ⊗ L_n over a rule exact for degree 2n is h_n/√N_{d,n}."""
    for d, n in ((2, 3), (3, 2), (4, 1)):
        points, weights = sphere_rule(d, 2 * n)
        alpha = torch.zeros(n + 1, dtype=torch.float64)
        alpha[n] = 1.5
        beta = torch.zeros(len(points), n + 1, n + 1, dtype=torch.float64)
        beta[:, n, n] = 0.9 * weights
        least = norm_lower_bound(d, n, alpha, diagonal_norms(beta, n)).item()
        assert least == pytest.approx(1.5 - 0.9 / math.sqrt(multiplicity(d, n)))
        distance = distance_squared(d, alpha, beta, points, points).item()
        assert math.sqrt(distance) == pytest.approx(least)


def test_it_is_no_equality():
    """The printed "=" is false: 0.845 and -0.155 for F = h_1, g = L_1 ⊗ L_1, d = 3; or 1 and 0."""
    v = torch.tensor([[1.0, 0.0, 0.0]], dtype=torch.float64)
    beta = torch.zeros(1, 2, 2, dtype=torch.float64)
    beta[0, 1, 1] = 1
    alpha = torch.tensor([0.0, 1.0], dtype=torch.float64)
    left, right = (
        distance_squared(3, alpha, beta, v, v).item(),
        main_lower_bound(3, 1, alpha, separable_norms(beta)).item(),
    )
    assert (left, right) == pytest.approx((0.845299, -0.154701), abs=1e-6)
    constant = torch.zeros(1, 2, 2, dtype=torch.float64)
    constant[0, 0, 0] = 1
    assert distance_squared(3, 0 * alpha, constant, v, v).item() == 1
    assert main_lower_bound(3, 0, 0 * alpha, separable_norms(constant)).item() == 0


def test_off_diagonal_coefficients_count():
    """They increase the distance and the norm of g, and are uncorrelated with F."""
    alpha, beta, v, w = random_instance(3, 3, 2, 4)
    diagonal = beta * torch.eye(4, dtype=torch.float64)
    torch.testing.assert_close(
        correlations(3, alpha, beta, v, w), correlations(3, alpha, diagonal, v, w)
    )
    assert (separable_norms(beta) > separable_norms(diagonal)).all()
    rest = distance_squared(3, 0 * alpha, beta - diagonal, v, w)
    torch.testing.assert_close(
        distance_squared(3, alpha, beta, v, w),
        distance_squared(3, alpha, diagonal, v, w) + rest,
    )


def test_batches_are_loops_and_gradients_are_finite():
    alpha, beta, v, w = random_instance(5, 4, 2, 3, (2, 3))
    batched = distance_squared(4, alpha, beta, v, w)
    one = distance_squared(4, alpha[1, 2], beta[1, 2], v[1, 2], w[1, 2])
    torch.testing.assert_close(batched[1, 2], one)
    longer = torch.cat((alpha, torch.ones(2, 3, 2, dtype=torch.float64)), -1)
    torch.testing.assert_close(distance_squared(4, longer, beta, v, w), batched + 2)
    zero = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    tail_norm(zero, 1).backward()
    assert zero.grad is not None
    assert zero.grad.isfinite().all()


def test_on_balls_the_theorem_is_certified():
    alpha, beta = (BallArray.exact(array) for array in random_instance(7, 3, 2, 3)[:2])
    v = stereographic(BallArray.exact([[1, 2], [0.5, -3]]))
    w = stereographic(BallArray.exact([[0, 2], [1, 1]]))
    distance = distance_squared(3, alpha, beta, v, w)
    for n in range(3):
        assert bool(distance > main_lower_bound(3, n, alpha, separable_norms(beta)))


def test_neurons_are_bounded():
    d, bound = 5, 3.0
    generator = torch.Generator().manual_seed(0)
    w, u = (
        bound * (2 * torch.rand(40, d, generator=generator, dtype=torch.float64) - 1)
        for _ in range(2)
    )
    b = bound * (2 * torch.rand(40, generator=generator, dtype=torch.float64) - 1)
    x, y = sphere(d, 2000, generator), sphere(d, 2000, generator)
    values = torch.relu(x @ w.T + y @ u.T + b)
    supremum = neuron_supremum(w, u, b)
    assert (values <= supremum).all()
    assert (supremum <= neuron_norm_bound(d, bound, LIKE)).all()
    assert ((values**2).mean(0) <= 1.1 * neuron_second_moment(w, u, b)).all()
    assert (neuron_second_moment(w, u, b) <= 3 * bound**2).all()
    # Attained: all entries B, at x = x' = (1, ..., 1)/√d.
    full = torch.full((d,), bound, dtype=torch.float64)
    top = neuron_supremum(full, full, torch.tensor(bound, dtype=torch.float64))
    torch.testing.assert_close(top, neuron_norm_bound(d, bound, LIKE))
    assert torch.relu(2 * (full * d**-0.5).sum() + bound).item() == pytest.approx(top.item())


def test_neuron_coefficients_give_the_neuron_back():
    d = 4
    generator = torch.Generator().manual_seed(2)
    w, u = (torch.randn(6, d, generator=generator, dtype=torch.float64) for _ in range(2))
    b = torch.randn(6, generator=generator, dtype=torch.float64)
    beta, norm = neuron_coefficients(d, w, u, b, 20, 80)
    assert beta.shape == (6, 21, 21)
    assert (separable_norms(beta) <= norm).all()
    torch.testing.assert_close(separable_norms(beta), norm, rtol=1e-3, atol=0)
    assert (norm**2 <= neuron_second_moment(w, u, b)).all()
    x, y = sphere(d, 500, generator), sphere(d, 500, generator)
    lengths = [torch.linalg.vector_norm(z, dim=-1, keepdim=True) for z in (w, u)]
    left = orthonormal_table(d, 20, x @ (w / lengths[0]).T)
    right = orthonormal_table(d, 20, y @ (u / lengths[1]).T)
    series = torch.einsum("njk,jkl,njl->nj", left, beta, right)
    neuron = torch.relu(x @ w.T + y @ u.T + b)
    assert ((series - neuron) ** 2).mean() < 1e-2 * (neuron**2).mean()


@pytest.mark.parametrize("d", [3, 5])
def test_fits_stay_above_the_lower_bound(d):
    """The best output weights for random neurons, by exact Gram matrices of truncated series."""
    generator = torch.Generator().manual_seed(d)
    r, degree = 8, 6
    alpha = torch.zeros(degree + 1, dtype=torch.float64)
    alpha[3] = 1
    w, u = (torch.randn(r, d, generator=generator, dtype=torch.float64) for _ in range(2))
    b = torch.randn(r, generator=generator, dtype=torch.float64)
    beta, _ = neuron_coefficients(d, w, u, b, degree, 60)
    v, v_other = (z / torch.linalg.vector_norm(z, dim=-1, keepdim=True) for z in (w, u))
    gram, cross = separable_gram(d, beta, v, v_other), correlations(d, alpha, beta, v, v_other)
    weights = best_fit(gram, cross)
    fitted = weights[:, None, None] * beta
    distance = distance_squared(d, alpha, fitted, v, v_other)
    assert distance >= main_lower_bound(d, 3, alpha, separable_norms(fitted))
    assert 0 <= distance < 1
    # No other weights have a smaller distance.
    for _ in range(20):
        other = weights + 0.1 * torch.randn(r, generator=generator, dtype=torch.float64)
        assert distance_squared(d, alpha, other[:, None, None] * beta, v, v_other) >= distance


def test_errors_state_the_rule():
    alpha, beta, v, w = random_instance(0, 3, 2, 4)
    with pytest.raises(ValueError, match=r"\(2,\) and \(2, 4, 4\); .* pad it with zeros"):
        correlations(3, alpha[:2], beta, v, w)
    with pytest.raises(ValueError, match="received m = 4 nodes"):
        neuron_coefficients(3, v, w, alpha[:2], 5, 4)
