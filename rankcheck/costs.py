"""Representation costs, norms and ranks of functions.

The public names of `rankcheck.theory.costs`.
"""

from rankcheck.theory.costs import *  # noqa: F403
from rankcheck.theory.costs import __all__ as __all__
