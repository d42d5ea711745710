"""Quantities of data sets.

The public names of `rankcheck.theory.data`.
"""

from rankcheck.theory.data import *  # noqa: F403
from rankcheck.theory.data import __all__ as __all__
