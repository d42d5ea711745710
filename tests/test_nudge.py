"""What `pytest --nudge` does to linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rankcheck.balls import BallArray
from tests import nudge
from tests.nudge import moved


def matrix(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def test_every_entry_moves_by_a_unit_in_the_last_place():
    A = torch.cat((matrix(3, 4, 5), torch.zeros(1, 4, 5)))
    away = (moved(A).abs() - A.abs()) / torch.nextafter(A.abs(), torch.tensor(torch.inf)).sub(
        A.abs()
    )
    assert bool((moved(A)[3] == 0).all())
    assert set(away[:3].flatten().tolist()) <= {1.0, -1.0, -0.5}
    assert 0.25 < float((away[:3] > 0).double().mean()) < 0.75
    assert torch.equal(moved(A[1]), moved(A)[1])


def test_symmetric_and_hermitian_matrices_remain_so():
    A = matrix(6, 6)
    S, skew = A + A.mT, A - A.mT
    assert torch.equal(moved(S), moved(S).mT)
    H = torch.complex(S, skew)
    assert torch.equal(moved(H), moved(H).mH)
    assert not torch.equal(moved(H), H)


def test_the_gradient_is_that_of_the_matrix():
    A = matrix(3, 3).requires_grad_()
    with nudge.nudged():
        torch.linalg.det(A).backward()
    torch.testing.assert_close(A.grad, torch.linalg.det(A) * torch.linalg.inv(A).mT)


@pytest.mark.parametrize(
    "call",
    [
        torch.linalg.svdvals,
        torch.linalg.eigvalsh,
        torch.inverse,
        lambda A: A.inverse(),
        lambda A: torch.linalg.qr(A).R,
        lambda A: torch.as_tensor(np.linalg.svd(A.numpy())[1]),
    ],
)
def test_what_is_called_receives_the_moved_matrix(call):
    A = matrix(7, 7)
    expected = call(moved(A))
    with nudge.nudged():
        found = call(A)
    assert torch.equal(found, expected)
    assert not torch.equal(found, call(A))


def test_functions_on_balls_compute_on_moved_matrices_too(monkeypatch):
    seen: list[torch.Tensor] = []

    def noted(A):
        seen.append(A)
        return moved(A)

    monkeypatch.setattr(nudge, "moved", noted)
    S = matrix(3, 3)
    with nudge.nudged():
        _ = torch.linalg.eigh(BallArray.exact(S + S.mT)).eigenvectors[0, 0] + 0
    assert seen


@pytest.mark.parametrize("call", [torch.linalg.inv, torch.inverse, torch.linalg.cholesky])
@pytest.mark.parametrize("scale", [1.0, 2.0**-300])
def test_nearly_singular_matrices_raise(call, scale):
    """Whatever the sizes of the rows and columns, which change no pivot but for its size."""
    A = torch.tensor([[1.0, 1.0], [1.0, 1 + 2.0**-52]], dtype=torch.float64)
    D = torch.tensor([1.0, scale], dtype=torch.float64).diag()
    with nudge.nudged():
        for singular in (D @ A @ D, torch.stack((torch.eye(2, dtype=torch.float64), D @ A @ D))):
            with pytest.raises(torch.linalg.LinAlgError, match="nearly singular"):
                call(singular)
        call(D)


def test_nearly_singular_systems_raise():
    A = np.array([[1.0, 1.0], [1.0, 1 + 2.0**-52]])
    with nudge.nudged():
        with pytest.raises(torch.linalg.LinAlgError, match="nearly singular"):
            torch.linalg.solve(torch.from_numpy(A), torch.ones(2, dtype=torch.float64))
        with pytest.raises(np.linalg.LinAlgError, match="nearly singular"):
            np.linalg.solve(A, np.ones(2))


def test_the_option_moves_matrices_in_a_run(pytester, monkeypatch):
    pytester.makepyfile(
        """
        import numpy as np, torch

        def test_torch():
            assert torch.linalg.inv(torch.tensor([[2.0]])) == 0.5

        def test_numpy():
            assert np.linalg.inv([[2]]) == 0.5
        """
    )
    options = ("-p", "tests.nudge", "-p", "no:cacheprovider")
    pytester.runpytest_inprocess(*options).assert_outcomes(passed=2)
    pytester.runpytest_inprocess(*options, "--nudge").assert_outcomes(failed=2)
    assert torch.linalg.inv(torch.tensor([[2.0]])) == 0.5
