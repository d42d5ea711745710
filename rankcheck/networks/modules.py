"""Layers of torch as the theory sees them."""

from __future__ import annotations

from torch import nn

__all__ = ["slope_of"]


def slope_of(layer: nn.Module) -> float | None:
    """The slope a of ReLU (0) or LeakyReLU; None for every other layer."""
    if isinstance(layer, nn.LeakyReLU):
        return float(layer.negative_slope)
    return 0.0 if isinstance(layer, nn.ReLU) else None
