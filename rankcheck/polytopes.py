"""Rational polytopes of small dimension, and their classes modulo translations and products.

The public names of `rankcheck.theory.polytopes`.
"""

from rankcheck.theory.polytopes import *  # noqa: F403
from rankcheck.theory.polytopes import __all__ as __all__
