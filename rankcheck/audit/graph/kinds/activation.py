"""Activations, neuron by neuron: those of the theory, and others."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from rankcheck.audit.graph.layer import Call, Layer
from rankcheck.networks.modules import slope_of

__all__ = ["NOT_HOMOGENEOUS", "SMOOTH", "read"]

_RELU = (torch.relu, functional.relu, "relu")
#: Others: not homogeneous, so that no theorem here is about them. Classes, functions, methods.
SMOOTH: dict[str, tuple[object, ...]] = {
    "Tanh": (nn.Tanh, torch.tanh, functional.tanh, "tanh"),
    "Sigmoid": (nn.Sigmoid, torch.sigmoid, functional.sigmoid, "sigmoid"),
    "GELU": (nn.GELU, functional.gelu),
    "SiLU": (nn.SiLU, functional.silu),
    "ELU": (nn.ELU, functional.elu),
    "SELU": (nn.SELU, functional.selu),
    "CELU": (nn.CELU, functional.celu),
    "Softplus": (nn.Softplus, functional.softplus),
    "Mish": (nn.Mish, functional.mish),
}
#: Piecewise linear, but not homogeneous.
_BROKEN: dict[str, tuple[object, ...]] = {
    "Hardtanh": (nn.Hardtanh, functional.hardtanh),
    "ReLU6": (nn.ReLU6, functional.relu6),
    "Hardsigmoid": (nn.Hardsigmoid, functional.hardsigmoid),
}
#: The titles of both.
NOT_HOMOGENEOUS = frozenset((*SMOOTH, *_BROKEN))


def read(call: Call) -> Layer | None:
    """An activation that acts on each number alone."""
    what = call.what
    slope = None if call.module is None else slope_of(call.module)
    if what in _RELU:
        slope = 0.0
    elif what is functional.leaky_relu:
        slope = float(call.argument(1, "negative_slope", 0.01))
    if slope is not None:
        title = "ReLU" if slope == 0 else f"LeakyReLU of slope {slope:g}"
        return Layer(call.name, title, piecewise=True, slope=slope, rowwise=True)
    for title, known in SMOOTH.items():
        if what in known:
            return Layer(call.name, title, rowwise=True)
    for title, known in _BROKEN.items():
        if what in known:
            return Layer(call.name, title, piecewise=True, rowwise=True)
    return None
