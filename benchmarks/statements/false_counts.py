"""Statements that are false and count: ranks, patterns, steps, divisors. No margin has a gradient."""

import torch

from rankcheck import conjecture, eq, leq
from rankcheck.instances import chained_matrices
from rankcheck.linalg import nuclear_norm, rank

from ._families import lines_and_points, points, small_integers, square, whole_numbers
from .false import frobenius


@conjecture(
    "false.rank-of-three",
    instances=small_integers(),
)
def test_rank_of_three(A, B, C):
    r"""$\operatorname{rank} ABC \ge \min(\operatorname{rank} AB, \operatorname{rank} BC)$."""
    return leq(torch.minimum(rank(A @ B), rank(B @ C)), rank(A @ B @ C))


@conjecture(
    "false.sylvester",
    instances=chained_matrices(size=(2, 4)),
)
def test_sylvester(A, B):
    r"""$\operatorname{rank} AB > \operatorname{rank} A + \operatorname{rank} B - n$ where $AB \ne 0$
    and both are singular, for inner dimension $n$.
    """
    a, b, n = rank(A), rank(B), A.shape[-1]
    ab = rank(A @ B)
    return leq(a + b - n + 1, ab, where=(a < n) & (b < n) & (ab > 0))


@conjecture(
    "false.patterns-of-three-lines",
    instances=lines_and_points(),
)
def test_patterns_of_three_lines(w, b, x):
    r"""Seven points lie in at most six of the regions of three lines of the plane."""
    return at_most(6, w, b, x)


@conjecture(
    "false.patterns-of-four-lines",
    instances=lines_and_points(lines=4, number=11),
)
def test_patterns_of_four_lines(w, b, x):
    r"""Eleven points lie in at most ten of the regions of four lines of the plane."""
    return at_most(10, w, b, x)


def at_most(number, w, b, x):
    """The points have at most so many patterns of signs, a discrete margin."""
    sides = x @ w.mT + b.unsqueeze(-2) > 0
    same = (sides.unsqueeze(-2) == sides.unsqueeze(-3)).all(-1)
    earlier = torch.tril(torch.ones(same.shape[-2:], dtype=torch.bool, device=same.device), -1)
    new = ~(same & earlier).any(-1)
    count = new.sum(-1)
    return leq(count, torch.full_like(count, number))


@conjecture(
    "false.floor",
    instances=square(),
)
def test_floor(A):
    r"""$\lfloor 100 \|A\|_* \rfloor \le 169 \|A\|_F$ rounded down, at $1 \le \|A\|_F$: in steps."""
    size = frobenius(A)
    steps = torch.floor(100 * nuclear_norm(A) / torch.where(size > 0, size, 1 + 0 * size))
    return leq(steps, A.new_zeros(()) + 170, where=size > 0)


@conjecture(
    "false.many-large",
    instances=points(dimension=(16, 16), bound=4.0),
)
def test_many_large(x):
    r"""At most twelve of sixteen entries lie in $[2.1, 2.9]$: no gradient, odds of $10^{-11}$."""
    count = ((x > 2.1) & (x < 2.9)).sum(-1)
    return leq(count, torch.full_like(count, 12))


@conjecture(
    "false.euler",
    instances=whole_numbers(),
)
def test_euler(n):
    r"""$n^2 + n + 41$ has no divisor between 2 and its root, for $n \le 60$."""
    value = n * n + n + 41
    divisors = sum(value % d == 0 for d in range(2, int(value**0.5) + 1))
    return eq(torch.tensor(divisors), torch.tensor(0))
