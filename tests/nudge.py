"""`pytest --nudge`: the suite as on a processor whose LAPACK rounds otherwise.

Singular values, inverses and factorisations come from a LAPACK whose last digits depend on the
processor. With the option each of their matrices is moved by a unit in the last place, and a nearly
singular one raises where LAPACK may meet a pivot of zero. What a test asserts survives that.

It reaches what this process calls: torch in whatever way, numpy.linalg and scipy.linalg through the
module. Processes that tests start compute as ever.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import torch
from torch.overrides import TorchFunctionMode

#: Their last digits are LAPACK's, by the names in torch, numpy and scipy.
FACTORISATIONS = {
    *("svd", "svdvals", "matrix_rank", "pinv", "pinverse", "cond", "polar"),
    *("eigh", "eigvalsh", "eig", "eigvals", "schur", "sqrtm"),
    *("inv", "inv_ex", "inverse", "solve", "solve_ex", "det", "slogdet", "logdet"),
    *("lu", "lu_factor", "lu_factor_ex", "ldl_factor", "cholesky", "cholesky_ex", "qr", "lstsq"),
}
#: Those that raise if LAPACK meets a pivot of zero, or below it.
RAISING = {"cholesky", "inv", "inverse", "lu_factor", "solve"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--nudge",
        action="store_true",
        help="move the matrices of linear algebra by a unit in the last place",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--nudge"):
        context = nudged()
        context.__enter__()
        config.add_cleanup(lambda: context.__exit__(None, None, None))


@contextmanager
def nudged() -> Iterator[None]:
    """A context in which the arguments of linear algebra are moved."""
    with Nudge(), pytest.MonkeyPatch.context() as patch:
        for module in (np.linalg, scipy.linalg):
            for name in FACTORISATIONS & vars(module).keys():
                patch.setattr(module, name, _of_arrays(getattr(module, name), name))
        yield


class Nudge(TorchFunctionMode):
    """The functions and methods of torch, also those called by a function on balls."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        for kind in types:
            if not issubclass(kind, torch.Tensor):
                with self:
                    return kind.__torch_function__(func, types, args, kwargs)
        name = func.__name__.removeprefix("linalg_")
        if name in FACTORISATIONS and args and isinstance(args[0], torch.Tensor):
            if name in RAISING and nearly_singular(args[0]):
                raise torch.linalg.LinAlgError(f"linalg.{name}: {NEARLY}")
            args = (moved(args[0]), *args[1:])
        return func(*args, **kwargs or {})


NEARLY = "the matrix is nearly singular, and with --nudge that raises"


def _of_arrays(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def on_moved(matrix: Any, *args: Any, **kwargs: Any) -> Any:
        array = np.asarray(matrix)
        if array.dtype.kind in "biu":
            array = array.astype(np.float64)
        if array.dtype.char in "fdFD":
            A = torch.from_numpy(np.array(array))
            if name in RAISING and nearly_singular(A):
                raise np.linalg.LinAlgError(NEARLY)
            matrix = moved(A).numpy()
        return function(matrix, *args, **kwargs)

    return on_moved


def moved(A: torch.Tensor) -> torch.Tensor:
    """Each entry one unit in the last place away from zero or towards it; zeros stay.

    The direction depends on the size of the entry and on its place in the matrix, so it is the same
    in each run and in each batch; a symmetric or Hermitian matrix remains one. The gradient is A's.

    Args:
        A: shape (*batch, m, n), real or complex; one of other numbers is returned as it is.
    """
    if A.is_complex():
        return torch.complex(moved(A.real), moved(A.imag))
    if A.dtype not in (torch.float32, torch.float64):
        return A
    x = A.detach()
    m, n = (1, *x.shape)[-2:] if x.ndim else (1, 1)
    row, column = torch.arange(m).unsqueeze(-1), torch.arange(n)
    place = (row + column) * 0x3C6EF372FE94F82B + (row - column).abs() * 0x1F83D9ABFB41BD6B
    bits = (
        x.abs().contiguous().view(torch.int64 if x.dtype == torch.float64 else torch.int32).long()
    )
    mixed = (bits + place) * 0x1E3779B97F4A7C15
    mixed = (mixed ^ (mixed >> 29)) * 0x1CE4E5B9BF58476D
    goal = torch.where(mixed.reshape(x.shape) < 0, torch.full_like(x, torch.inf).copysign(x), 0 * x)
    stays = (x == 0) | ~x.isfinite()
    return A + torch.where(stays, 0, torch.nextafter(x, goal) - x)


def nearly_singular(A: torch.Tensor) -> bool:
    """Whether rounding of A, or of A with its rows and columns scaled, may make it singular.

    Args:
        A: shape (*batch, n, n); of a batch, whether one of the matrices is.
    """
    x = A.detach().resolve_conj().double() if not A.is_complex() else A.detach()
    if x.ndim < 2 or x.shape[-1] != x.shape[-2] or not x.numel() or not bool(x.isfinite().all()):
        return False
    for axis in (-1, -2):
        size = x.abs().amax(axis, keepdim=True)
        x = x / torch.where(size == 0, 1, size)
    s = torch.linalg.svdvals(x)
    return bool((s[..., -1] <= 4 * s.shape[-1] * torch.finfo(A.dtype).eps * s[..., 0]).any())
