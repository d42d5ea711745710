"""The matching loss against autograd, its flow against an integrator, its symmetry."""

import numpy as np
import pytest
import torch

from rankcheck.costs.rank_one_matching import (
    descent_jacobian,
    descent_losses,
    descent_path,
    matching_gradient,
    matching_loss,
    split_along,
    split_losses,
)

GENERATOR = torch.Generator().manual_seed(1)
V = torch.randn(6, 3, generator=GENERATOR, dtype=torch.float64)
W = torch.nn.functional.normalize(
    torch.randn(6, 3, generator=GENERATOR, dtype=torch.float64), dim=-1
)


STEPS = torch.linspace(0.01, 0.06, 6, dtype=torch.float64)


def slow_loss(v, w, noise=None):
    """The squared norm of one matrix, entry by entry."""
    n = len(v)
    return sum(
        (v[i] * v[j] - w[i] * w[j] - (0 if noise is None else noise[i, j])) ** 2
        for i in range(n)
        for j in range(n)
    )


def slow_losses(v, w, step, steps):
    """The losses along the descent, with gradients that can be differentiated once more."""
    losses = [slow_loss(v, w)]
    for _ in range(steps):
        with torch.enable_grad():
            at = v if v.requires_grad else v.clone().requires_grad_()
            (gradient,) = torch.autograd.grad(slow_loss(at, w), at, create_graph=True)
        v = v - step * gradient
        losses.append(slow_loss(v, w))
    return torch.stack(losses)


@pytest.mark.oracle("rankcheck.costs.matching_gradient", "torch.autograd")
def test_gradient_against_autograd():
    for i in range(6):
        expected = torch.autograd.functional.jacobian(lambda v, i=i: slow_loss(v, W[i]), V[i])
        torch.testing.assert_close(matching_gradient(V, W)[i], expected)


@pytest.mark.oracle("rankcheck.costs.matching_gradient", "torch.autograd")
def test_gradient_with_noise_against_autograd():
    noise = torch.randn(6, 3, 3, generator=GENERATOR, dtype=torch.float64)
    wide = 1.5 * W  # not a unit vector
    for i in range(6):
        expected = torch.autograd.functional.jacobian(
            lambda v, i=i: slow_loss(v, wide[i], noise[i]), V[i]
        )
        torch.testing.assert_close(matching_gradient(V, wide, noise)[i], expected)


@pytest.mark.oracle("rankcheck.costs.matching_loss", "numpy.linalg.norm")
def test_loss_against_numpy():
    noise = torch.randn(6, 3, 3, generator=GENERATOR, dtype=torch.float64)
    for i, (v, w, E) in enumerate(zip(V.numpy(), W.numpy(), noise.numpy(), strict=True)):
        for found, target in (
            (matching_loss(V, W), np.outer(w, w)),
            (matching_loss(V, W, noise), np.outer(w, w) + E),
        ):
            expected = np.linalg.norm(np.outer(v, v) - target) ** 2
            assert found[i].item() == pytest.approx(expected, rel=1e-12)


@pytest.mark.oracle("rankcheck.costs.descent_jacobian", "torch.autograd")
@pytest.mark.oracle("rankcheck.costs.descent_losses", "torch.autograd")
def test_losses_and_their_jacobian_against_autograd():
    J, losses = descent_jacobian(V, W, STEPS, 3), torch.stack(descent_losses(V, W, STEPS, 3), -1)
    assert J.shape == (6, 3, 3)
    assert losses.shape == (6, 4)
    for i in range(6):
        torch.testing.assert_close(losses[i], slow_losses(V[i], W[i], STEPS[i], 3))
        expected = torch.autograd.functional.jacobian(
            lambda v, i=i: slow_losses(v, W[i], STEPS[i], 3)[1:], V[i]
        )
        torch.testing.assert_close(J[i], expected)


@pytest.mark.oracle("rankcheck.costs.descent_path", "torch.optim.SGD")
def test_the_path_against_the_descent_of_torch():
    noise = torch.randn(6, 3, 3, generator=GENERATOR, dtype=torch.float64) / 4
    path, losses = (f(V, W, STEPS, 4, noise) for f in (descent_path, descent_losses))
    plain = descent_path(V, W, STEPS, 4)
    assert len(path) == len(losses) == 5
    for i in range(6):
        v = V[i].clone().requires_grad_()
        descent = torch.optim.SGD([v], lr=float(STEPS[i]))
        for t in range(5):
            loss = slow_loss(v, W[i], noise[i])
            torch.testing.assert_close(path[t][i], v.detach())
            torch.testing.assert_close(losses[t][i], loss.detach())
            with torch.enable_grad():
                descent.zero_grad()
                slow_loss(v, W[i], noise[i]).backward()
            descent.step()
    assert (path[-1] - plain[-1]).abs().max() > 1e-3


@pytest.mark.oracle("rankcheck.costs.split_losses", "torch.autograd, and numpy's projections")
def test_losses_from_the_two_numbers():
    for i, (v, w) in enumerate(zip(V.numpy(), W.numpy(), strict=True)):
        P = np.outer(w, w)
        along, beside = (np.linalg.norm(Q @ v) ** 2 for Q in (P, np.eye(3) - P))
        numbers = (torch.tensor(x, dtype=torch.float64) for x in (along, beside))
        reduced = torch.stack(split_losses(*numbers, STEPS[i], 5))
        torch.testing.assert_close(
            reduced, slow_losses(V[i], W[i], STEPS[i], 5), atol=1e-8, rtol=1e-8
        )


@pytest.mark.oracle("rankcheck.costs.split_along", "projection matrices in numpy")
def test_split_against_projections():
    along, beside = split_along(V, W)
    for i, (v, w) in enumerate(zip(V.numpy(), W.numpy(), strict=True)):
        P = np.outer(w, w)
        assert along[i].item() == pytest.approx(np.linalg.norm(P @ v) ** 2, rel=1e-12)
        expected = np.linalg.norm((np.eye(3) - P) @ v) ** 2
        assert beside[i].item() == pytest.approx(expected, rel=1e-10)


def test_the_two_numbers_follow_their_own_equation():
    """Runge–Kutta steps of v against Runge–Kutta steps of a' = −8(a + b − 1)a, b' = −8(a + b)b."""

    def runge_kutta(y, rate, h):
        k1 = rate(y)
        k2 = rate(y + h / 2 * k1)
        k3 = rate(y + h / 2 * k2)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + h * k3))

    def numbers_rate(y):
        a, b = y.unbind(-1)
        return torch.stack((-8 * (a + b - 1) * a, -8 * (a + b) * b), -1)

    v, numbers = V, torch.stack(split_along(V, W), -1)
    for _ in range(400):
        v = runge_kutta(v, lambda z: -matching_gradient(z, W), 1e-3)
        numbers = runge_kutta(numbers, numbers_rate, 1e-3)
    torch.testing.assert_close(torch.stack(split_along(v, W), -1), numbers, atol=1e-6, rtol=1e-6)


def test_paths_agree_for_starts_that_are_turned_about_w():
    mirror = V - 2 * (V * W).sum(-1, keepdim=True) * W
    step = torch.full((6,), 0.01, dtype=torch.float64)
    here, there = descent_losses(V, W, step, 10), descent_losses(mirror, W, step, 10)
    torch.testing.assert_close(torch.stack(here), torch.stack(there))
    assert here[-1].sum() < here[0].sum()
    longer = descent_losses(1.1 * V, W, step, 1)
    assert (longer[0] - here[0]).abs().min() > 1e-4


def test_the_loss_is_zero_at_the_target_only():
    assert matching_loss(W, W).abs().max() < 1e-15
    assert matching_loss(-W, W).abs().max() < 1e-15
    assert matching_loss(V, W).min().item() == pytest.approx(
        ((V * V).sum(-1) ** 2 - 2 * (V * W).sum(-1) ** 2 + 1).min().item()
    )
