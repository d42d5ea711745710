"""Singular values, spectra, ranks, Schatten sums, and functions of matrices.

The public names of `rankcheck.theory.linalg`, and of `rankcheck.theory.scalars`: constants of the
kind of number at hand.
"""

from rankcheck.theory.linalg import *  # noqa: F403
from rankcheck.theory.linalg import __all__ as _arrays
from rankcheck.theory.scalars import *  # noqa: F403
from rankcheck.theory.scalars import __all__ as _numbers

__all__ = [*_arrays, *_numbers]
