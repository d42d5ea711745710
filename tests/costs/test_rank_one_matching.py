"""The matching loss against autograd, its flow against an integrator, its symmetry."""

import pytest
import torch

from rankcheck.costs.rank_one_matching import (
    descent_jacobian,
    descent_losses,
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


@pytest.mark.oracle("rankcheck.costs.matching_gradient", "torch.autograd")
def test_gradient_against_autograd():
    v = V.clone().requires_grad_()
    matching_loss(v, W).sum().backward()
    torch.testing.assert_close(matching_gradient(V, W), v.grad)


def test_gradient_with_noise_against_autograd():
    noise = torch.randn(6, 3, 3, generator=GENERATOR, dtype=torch.float64)
    v = V.clone().requires_grad_()
    matching_loss(v, W, noise).sum().backward()
    torch.testing.assert_close(matching_gradient(V, W, noise), v.grad)
    expected = ((V[0].outer(V[0]) - W[0].outer(W[0]) - noise[0]) ** 2).sum()
    torch.testing.assert_close(matching_loss(V, W, noise)[0], expected)


@pytest.mark.oracle("rankcheck.costs.descent_jacobian", "torch.autograd")
def test_jacobian_of_the_losses_against_autograd():
    step = torch.full((6,), 0.01, dtype=torch.float64)
    J = descent_jacobian(V, W, step, 3)
    assert J.shape == (6, 3, 3)
    for i in range(6):
        expected = torch.autograd.functional.jacobian(
            lambda v, i=i: torch.stack(descent_losses(v, W[i], step[i], 3)[1:]), V[i]
        )
        torch.testing.assert_close(J[i], expected)


def test_losses_from_the_two_numbers():
    step = torch.full((6,), 0.01, dtype=torch.float64)
    reduced = split_losses(*split_along(V, W), step, 5)
    torch.testing.assert_close(
        torch.stack(reduced), torch.stack(descent_losses(V, W, step, 5)), atol=1e-8, rtol=1e-8
    )


def test_split_against_projections():
    along, beside = split_along(V, W)
    torch.testing.assert_close(along + beside, (V * V).sum(-1))
    torch.testing.assert_close(along, ((W * V).sum(-1)) ** 2)


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
