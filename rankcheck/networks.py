"""Networks: evaluation, Jacobians, balance, bounds, the tangent kernel.

The public names of `rankcheck.theory.networks`.
"""

from rankcheck.theory.networks import *  # noqa: F403
from rankcheck.theory.networks import __all__ as __all__
