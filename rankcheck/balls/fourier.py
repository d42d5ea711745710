"""torch's discrete Fourier transforms: products with the matrix of the roots of unity.

The roots are exact where they are rational, so a transform of 1, 2 or 4 rational numbers is.
"""

# ruff: noqa: A002 - arguments are named as in torch, because callers may pass them by name.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from flint import arb, fmpq

from rankcheck.balls import numbers
from rankcheck.balls.array import BallArray, balls, divide, implements, wrap
from rankcheck.balls.complexes import Complex
from rankcheck.balls.elementwise import sqrt
from rankcheck.balls.labels import move
from rankcheck.balls.linalg import matmul

Transform = Callable[..., BallArray]


def _one_axis(sign: int) -> Transform:
    """y_k = Σ_j x_j exp(± 2πi jk / n), times the factor of `norm`."""

    def transform(input: Any, n: int | None = None, dim: int = -1, norm: Any = None) -> BallArray:
        x = balls(input)
        n = x.shape[dim] if n is None else n
        places = np.arange(n)
        roots = np.frompyfunc(lambda jk: _root(sign * jk, n), 1, 1)(np.outer(places, places))
        rows = np.moveaxis(_resized(x, n, dim).elements, dim, -1)
        y = wrap(np.moveaxis(matmul(wrap(rows), wrap(roots)).elements, -1, dim))
        if norm == "ortho":
            return divide(y, sqrt(n))
        return divide(y, n) if (norm == "forward") == (sign < 0) else y

    return transform


def _root(part: int, n: int) -> Complex:
    """exp(2πi part / n)."""
    sine, cosine = arb.sin_cos_pi_fmpq(fmpq(2 * (part % n), n))
    exact = (numbers.rational(x) if numbers.is_rational(x) else x for x in (cosine, sine))
    return Complex(*exact)


def _resized(x: BallArray, n: int, dim: int) -> BallArray:
    """The first n along an axis, with zeros where there are fewer."""

    def resize(labels: torch.Tensor) -> torch.Tensor:
        rows = labels.movedim(dim, -1)[..., :n]
        return torch.nn.functional.pad(rows, (0, n - rows.shape[-1])).movedim(-1, dim)

    return move(resize, x)


fft = implements("fft_fft")(_one_axis(-1))
ifft = implements("fft_ifft")(_one_axis(1))
