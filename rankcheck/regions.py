"""Linear regions of a network over a box, and maxima over them.

The public names of `rankcheck.theory.regions`.
"""

from rankcheck.theory.regions import *  # noqa: F403
from rankcheck.theory.regions import __all__ as __all__
