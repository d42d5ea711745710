"""Singular values of large batches of tiny matrices against LAPACK (torch.linalg.svdvals)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from benchmarks.measuring import Ratio, timed
from rankcheck.linalg import singular_values

SHAPES = [(1, 4), (2, 2), (2, 4), (4, 2), (3, 3), (4, 4), (5, 5)]


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """Singular values against LAPACK, by shape."""
    for rows, columns in SHAPES:
        A = normal(1_000 if quick else 100_000, rows, columns)
        here, _ = timed(partial(singular_values, A), 5)
        there, _ = timed(partial(torch.linalg.svdvals, A), 5)
        yield Ratio(f"singular values, {rows} × {columns}", "LAPACK", there / here)
