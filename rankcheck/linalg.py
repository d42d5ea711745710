"""Singular values, spectra, ranks, Schatten sums, and functions of matrices.

The public names of `rankcheck.theory.linalg`.
"""

from rankcheck.theory.linalg import *  # noqa: F403
from rankcheck.theory.linalg import __all__ as __all__
