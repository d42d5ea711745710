"""The slope of the activation in the bounds on the tangent kernel."""

from fractions import Fraction

import torch

from rankcheck import linalg


def least_slope(net, x):
    """The least value of |σ_a′| that is not zero: |a|, or 1 for ReLU."""
    a = net.slope
    if isinstance(a, int | float | Fraction):
        return linalg.scalar(abs(Fraction(a)) if a else 1, like=x)
    return torch.where(a == 0, 1, a.abs())
