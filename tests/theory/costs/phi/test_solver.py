"""The Newton direction of the solver against a dense Hessian."""

import pytest
import torch

from rankcheck.theory.costs.phi.functional import on_sphere, prepare
from rankcheck.theory.costs.phi.solver import Spectrum
from tests.draws import normal, random_units


def test_on_the_sphere_inactive_rows_are_zero():
    u = torch.tensor([[0.5, 3.0, -0.25]], dtype=torch.float64)
    active = torch.tensor([[True, False, True]])
    shifted = on_sphere(u, active)[0]
    assert shifted[1] == 0
    assert shifted[0] - shifted[2] == pytest.approx(0.75)
    assert (2 * shifted[active[0]]).exp().sum().item() == pytest.approx(1)


@pytest.mark.parametrize(("K", "D"), [(3, 5), (4, 4), (6, 3)])
def test_the_newton_direction_solves_the_newton_system(K, D):
    W, a = random_units(43, 1, K, D)
    L = 6
    rows = prepare(W, a)
    u = on_sphere(normal(44, 1, K) * 0.3, rows.active)
    q = 2 / (L - 1)

    def F(v: torch.Tensor) -> torch.Tensor:
        s = torch.linalg.svdvals(rows.matrix(v.unsqueeze(0))[0])
        return (s**q).sum().log() / q + torch.logsumexp(2 * v, 0) / 2

    H = torch.autograd.functional.hessian(F, u[0])
    g = torch.autograd.functional.jacobian(F, u[0])
    assert torch.linalg.eigvalsh(H).min() > -1e-12  # convex
    for accurate in (False, True):
        spectrum = Spectrum.at(rows, u, q / 2, accurate)
        square = rows.square(u)
        torch.testing.assert_close((square - spectrum.p)[0], g, rtol=1e-9, atol=1e-12)
        x = spectrum.newton_direction(square, q / 2, 60)[0]
        torch.testing.assert_close(H @ x, -g, rtol=1e-6, atol=1e-9)


def test_the_newton_direction_where_eigenvalues_are_equal():
    """Orthonormal rows: MMᵀ = diag(e^{-2v}) for every v, so F is a closed form, without the SVD."""
    Q, _ = torch.linalg.qr(normal(45, 4, 4))
    rows = prepare(Q.expand(2, 4, 4), torch.ones(2, 4, dtype=torch.float64))
    near = [[0.3, 0.3, 0.3 + 1e-9, -0.6], [0.2, 0.2, -0.1, -0.1]]
    u = on_sphere(torch.tensor(near, dtype=torch.float64), rows.active)
    for q in (1.0, 0.4):

        def F(v: torch.Tensor, q: float = q) -> torch.Tensor:
            return torch.logsumexp(-q * v, 0) / q + torch.logsumexp(2 * v, 0) / 2

        for accurate in (False, True):
            spectrum = Spectrum.at(rows, u, q / 2, accurate)
            steps = spectrum.newton_direction(rows.square(u), q / 2, 60)
            for at, x in zip(u, steps, strict=True):
                H = torch.autograd.functional.hessian(F, at)
                g = torch.autograd.functional.jacobian(F, at)
                torch.testing.assert_close(H @ x, -g, rtol=1e-6, atol=1e-9)
