"""The constructions behind the theorems.

The public names of `rankcheck.theory.witnesses`.
"""

from rankcheck.theory.witnesses import *  # noqa: F403
from rankcheck.theory.witnesses import __all__ as __all__
from rankcheck.theory.witnesses import factorisations as factorisations
from rankcheck.theory.witnesses import projections as projections
