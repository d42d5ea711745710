"""What `pytest --nudge` does to linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests import nudge
from tests.nudge import moved


def matrix(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def test_symmetric_and_hermitian_matrices_remain_so():
    A = matrix(6, 6)
    S, skew = A + A.mT, A - A.mT
    assert torch.equal(moved(S), moved(S).mT)
    H = torch.complex(S, skew)
    assert torch.equal(moved(H), moved(H).mH)
    assert not torch.equal(moved(H), H)


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
