"""Exact rationals and real balls behind torch's functions: what turns a claim body into a proof.

>>> A = BallArray.exact([[1, 2], [2, 4]])
>>> torch.linalg.svdvals(A)
BallArray([5, 0])
"""

from rankcheck.balls import creation, indexing  # noqa: F401 - they register implementations
from rankcheck.balls.array import BallArray, balls, is_ball
from rankcheck.balls.elementwise import difference_bounds, pi, provably_leq, provably_less
from rankcheck.balls.linalg import log_pseudo_determinant, rank, singular_values
from rankcheck.balls.numbers import NoBallForm, Undecided, exact, precision

__all__ = [
    "BallArray",
    "NoBallForm",
    "Undecided",
    "balls",
    "difference_bounds",
    "exact",
    "is_ball",
    "log_pseudo_determinant",
    "pi",
    "precision",
    "provably_leq",
    "provably_less",
    "rank",
    "singular_values",
]
