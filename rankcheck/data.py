"""Quantities of data sets.

The public names of `rankcheck.theory.data`.
"""

from rankcheck.theory.data import *  # noqa: F403
from rankcheck.theory.data import __all__ as __all__
from rankcheck.theory.data import growth as growth
from rankcheck.theory.data import path_tail as path_tail
