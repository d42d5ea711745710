"""The matching loss against autograd, its descent against torch.optim."""

import numpy as np
import pytest
import torch

from rankcheck.theory.costs.rank_one_matching import (
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
NOISE = torch.randn(6, 3, 3, generator=GENERATOR, dtype=torch.float64)
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


@pytest.mark.parametrize("noise", [None, NOISE])
@pytest.mark.oracle("rankcheck.costs.matching_gradient", "torch.autograd")
def test_gradient_against_autograd(noise):
    wide = 1.5 * W  # not a unit vector
    for i in range(6):
        expected = torch.autograd.functional.jacobian(
            lambda v, i=i: slow_loss(v, wide[i], None if noise is None else noise[i]), V[i]
        )
        torch.testing.assert_close(matching_gradient(V, wide, noise)[i], expected)


@pytest.mark.oracle("rankcheck.costs.matching_loss", "numpy.linalg.norm")
def test_loss_against_numpy():
    for i, (v, w, E) in enumerate(zip(V.numpy(), W.numpy(), NOISE.numpy(), strict=True)):
        for found, target in (
            (matching_loss(V, W), np.outer(w, w)),
            (matching_loss(V, W, NOISE), np.outer(w, w) + E),
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
    noise = NOISE / 4
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
