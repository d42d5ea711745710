"""Depth separation: polynomials on the sphere, and the widths of both depths.

The public names of `rankcheck.theory.separation`.
"""

from rankcheck.theory.separation import *  # noqa: F403
from rankcheck.theory.separation import __all__ as __all__
