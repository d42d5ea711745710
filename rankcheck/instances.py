"""Generators of instances, and the sources that they draw from.

The public names of `rankcheck.theory.instances`.
"""

from rankcheck.theory.instances import *  # noqa: F403
from rankcheck.theory.instances import __all__ as __all__
