"""The largest singular values of a convolution by its products, against its dense matrix.

A convolution with kernels of 3 × 3 and as many channels out as in, with He-normal weights. Its
matrix is built by the same products, one for each column, and all of its singular values are
computed; here, the 16 largest by Lanczos' method, which builds none. On one thread.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from benchmarks.measuring import Ratio, timed
from rankcheck.audit.graph.convolution_map import ConvolutionMap
from rankcheck.audit.graph.layers import LARGEST


def convolution(channels: int, side: int) -> ConvolutionMap:
    draw = torch.Generator().manual_seed(0)
    weight = torch.randn(channels, channels, 3, 3, dtype=torch.float64, generator=draw)
    return ConvolutionMap(
        name="drawn",
        parameters=("weight", None),
        weight=weight * (2 / (9 * channels)) ** 0.5,
        offset=None,
        size=(side, side),
        stride=(1, 1),
        padding=((1, 1), (1, 1)),
        dilation=(1, 1),
    )


def dense(one: ConvolutionMap) -> Tensor:
    points = torch.eye(one.shape[1], dtype=torch.float64).reshape(-1, one.channels, *one.size)
    return torch.linalg.svdvals(torch.vmap(one)(points).flatten(1))


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """By products against by the dense matrix."""
    one = convolution(*((4, 10) if quick else (16, 14)))
    seconds, found = timed(lambda: one.largest(LARGEST))
    theirs, expected = timed(lambda: dense(one))
    assert (found - expected[: len(found)]).abs().max() <= 1e-9 * expected[0]
    yield Ratio(f"{LARGEST} singular values of a convolution", "dense matrix", theirs / seconds)
