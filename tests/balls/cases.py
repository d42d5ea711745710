"""Random rational matrices, balls around them, and what has to lie inside of what."""

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import torch
from flint import arb, fmpq

from rankcheck.balls import BallArray, complexes, numbers

exact: Any = BallArray.exact
SMALL = fmpq(1, 2**60)


def rationals(rng, m, n=None, rank=None) -> Any:
    """Entries k/d, shape (m, n); a product of two factors if a rank is given."""
    n = m if n is None else n
    if rank is not None:
        return rationals(rng, m, rank) @ rationals(rng, rank, n)
    entries = [fmpq(rng.randint(-9, 9), rng.choice([1, 2, 3, 8])) for _ in range(m * n)]
    return BallArray(np.array(entries, dtype=object).reshape(m, n))


def orthogonal(rng, n) -> Any:
    """A product of two rational Householder reflections."""
    Q = exact(torch.eye(n))
    for _ in range(2):
        v = exact([rng.randint(-3, 3) for _ in range(n - 1)] + [1])
        Q = Q - 2 * torch.outer(Q @ v, v) / (v @ v)
    return Q


def boxed(rng, A: Any, radius=SMALL, *, symmetric=False) -> tuple[Any, Any]:
    """Balls of that radius around A, and a rational matrix inside them."""
    offsets = np.array([fmpq(rng.randint(-16, 16), 16) for _ in range(A.numel())], dtype=object)
    offsets = offsets.reshape(A.shape)
    if symmetric:
        offsets = (offsets + offsets.T) / 2
    balls = np.frompyfunc(lambda x: arb(x, arb(radius)), 1, 1)(A.elements)
    return BallArray(balls), BallArray(A.elements + offsets * radius)


def to_mpf(x) -> Any:
    return mpmath.mpf(int(x.p)) / int(x.q)


def to_mpmath(A: Any) -> Any:
    """The matrix of mpmath, of at least one row, at its current precision."""
    return mpmath.matrix([[to_mpf(x) for x in row] for row in A.elements])


def fraction(x) -> Fraction:
    """The rational number that an mpf is."""
    return Fraction(*map(int, mpmath.libmp.to_rational(mpmath.mpmathify(x)._mpf_)))


def widest(x) -> float:
    halves = complexes.parts(x.elements)
    return max((float(arb(e).rad()) for half in halves for e in half.ravel()), default=0.0)


def assert_contains(outer, inner, slack=0):
    """Every element of `inner`, rationals or balls, lies inside that of `outer`."""
    assert outer.shape == inner.shape
    for big, small in zip(
        complexes.parts(outer.elements), complexes.parts(inner.elements), strict=True
    ):
        for x, y in zip(big.ravel().tolist(), small.ravel().tolist(), strict=True):
            (low, high), (least, most) = numbers.bounds(x), numbers.bounds(y)
            assert low - slack <= least
            assert most <= high + slack
