"""Layers of torch as the theory sees them."""

from __future__ import annotations

from torch import Tensor, nn


def slope_of(layer: nn.Module) -> float | None:
    """The slope a of ReLU (0) or LeakyReLU; None for every other layer."""
    if isinstance(layer, nn.LeakyReLU):
        return float(layer.negative_slope)
    return 0.0 if isinstance(layer, nn.ReLU) else None


def parameters_of(
    module: nn.Sequential,
) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...], float]:
    """The weights, biases and slope of a ``Sequential`` of Linear, (Leaky)ReLU, ..., Linear.

    Raises:
        TypeError, ValueError: as for `rankcheck.networks.Network.from_module`.
    """
    if not isinstance(module, nn.Sequential):
        raise TypeError(
            f"received {type(module).__name__}; a network is made of a torch.nn.Sequential"
        )
    layers = list(module)
    linear = [layer for layer in layers[::2] if isinstance(layer, nn.Linear)]
    slopes = [a for layer in layers[1::2] if (a := slope_of(layer)) is not None]
    if len(layers) != 2 * len(linear) - 1 or len(slopes) != len(linear) - 1:
        raise TypeError(
            f"received the layers [{', '.join(type(layer).__name__ for layer in layers)}]; "
            "they must alternate: Linear, ReLU or LeakyReLU, ..., Linear"
        )
    if len(set(slopes)) > 1:
        raise ValueError(f"the activations have slopes {sorted(set(slopes))}; all must be equal")
    weights = tuple(layer.weight.detach().double() for layer in linear)
    biases = tuple(
        w.new_zeros(w.shape[0]) if layer.bias is None else layer.bias.detach().double()
        for layer, w in zip(linear, weights, strict=True)
    )
    return weights, biases, slopes[0] if slopes else 0.0
