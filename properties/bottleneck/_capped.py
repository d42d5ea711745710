"""The exponential of Theorem 7 and Corollary 8 of `bottleneck`, corrected for c_1 < 0."""

import torch


def capped(exponent):
    """max(1, e^x)."""
    return torch.relu(exponent).exp()
