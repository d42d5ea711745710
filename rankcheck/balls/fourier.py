"""torch's discrete Fourier transforms: products with the matrix of the roots of unity.

The roots are exact where they are rational, so a transform of 1, 2 or 4 rational numbers is.
"""

# ruff: noqa: A002 - arguments are named as in torch, because callers may pass them by name.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from flint import arb, fmpq

from rankcheck.balls import numbers
from rankcheck.balls.array import BallArray, balls, divide, implements, wrap
from rankcheck.balls.complexes import Complex
from rankcheck.balls.creation import conj, real
from rankcheck.balls.elementwise import sqrt
from rankcheck.balls.labels import move
from rankcheck.balls.linalg import matmul
from rankcheck.balls.shapes import axis

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


@implements("fft_rfft")
def rfft(input: Any, n: int | None = None, dim: int = -1, norm: Any = None) -> BallArray:
    y = fft(input, n, dim, norm)
    return _resized(y, y.shape[dim] // 2 + 1, dim)


@implements("fft_irfft")
def irfft(input: Any, n: int | None = None, dim: int = -1, norm: Any = None) -> BallArray:
    x = balls(input)
    n = 2 * (x.shape[dim] - 1) if n is None else n
    half = _resized(x, n // 2 + 1, dim)
    mirrored = conj(half).narrow(dim, 1, (n - 1) // 2).flip(axis(dim, x.ndim))
    return real(ifft(torch.cat([half, mirrored], dim), n, dim, norm))


def _axes(name: str, last: Transform, others: Transform, *, last_first: bool = False) -> None:
    """Register the transform of two axes, and of any, which treats the last one by `last`."""

    def transform(
        input: Any, s: Sequence[int] | None = None, dim: Any = None, norm: Any = None
    ) -> BallArray:
        y = balls(input)
        if dim is None:
            dim = range(-len(s), 0) if s is not None else range(y.ndim)
        dims = [dim] if isinstance(dim, int) else list(dim)
        sizes = [None if n == -1 else n for n in (s or [-1] * len(dims))]
        steps = [(others, *both) for both in zip(sizes[:-1], dims[:-1], strict=True)]
        steps.insert(0 if last_first else len(steps), (last, sizes[-1], dims[-1]))
        for step, n, d in steps:
            y = step(y, n, d, norm)
        return y

    def of_two(
        input: Any, s: Sequence[int] | None = None, dim: Any = (-2, -1), norm: Any = None
    ) -> BallArray:
        return transform(input, s, dim, norm)

    implements(f"fft_{name}2")(of_two)
    implements(f"fft_{name}n")(transform)


_axes("fft", fft, fft)
_axes("ifft", ifft, ifft)
_axes("rfft", rfft, fft, last_first=True)
_axes("irfft", irfft, ifft)
