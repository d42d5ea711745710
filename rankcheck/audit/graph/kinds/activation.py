"""Activations, neuron by neuron: those of the theory, and others."""

from __future__ import annotations

import operator

import torch
from torch import nn
from torch.nn import functional

from rankcheck.audit.graph.layer import Call, Layer, Operand
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
    "Softsign": (nn.Softsign, functional.softsign),
    "LogSigmoid": (nn.LogSigmoid, functional.logsigmoid),
    "Tanhshrink": (nn.Tanhshrink, functional.tanhshrink),
    "Hardswish": (nn.Hardswish, functional.hardswish),
    "sine": (torch.sin, "sin"),
    "cosine": (torch.cos, "cos"),
}
_CLAMPS = (torch.clamp, "clamp", torch.clamp_min, "clamp_min", torch.clamp_max, "clamp_max")
#: Piecewise linear, but not homogeneous.
_BROKEN: dict[str, tuple[object, ...]] = {
    "Hardtanh": (nn.Hardtanh, functional.hardtanh),
    "ReLU6": (nn.ReLU6, functional.relu6),
    "Hardsigmoid": (nn.Hardsigmoid, functional.hardsigmoid),
    "Softshrink": (nn.Softshrink, functional.softshrink),
    "clamp": _CLAMPS,
}
_ABSOLUTE = (torch.abs, operator.abs, "abs")
#: Of each number, as norms that are written by hand have them.
_POWERS = (
    *(operator.pow, torch.pow, torch.square, torch.sqrt, torch.rsqrt, torch.reciprocal, torch.exp),
    *("pow", "square", "sqrt", "rsqrt", "reciprocal", "exp"),
)
#: The titles of both.
NOT_HOMOGENEOUS = frozenset((*SMOOTH, *_BROKEN))


def read(call: Call) -> Layer | None:
    """An activation that acts on each number alone."""
    what = call.what
    if what in _CLAMPS and not _of_numbers(call):
        return None
    slope = None if call.module is None else slope_of(call.module)
    if what in _RELU or (what in _CLAMPS and _is_relu(call)):
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
    if what in (nn.PReLU, torch.prelu, functional.prelu):
        return Layer(call.name, "PReLU", piecewise=True)
    if what in _ABSOLUTE:
        return Layer(call.name, "absolute value", piecewise=True, rowwise=True)
    if what in _POWERS and _of_numbers(call):
        return Layer(call.name, "power", rowwise=True)
    return None


def _of_numbers(call: Call) -> bool:
    """Whether only the first argument is a tensor."""
    others = (*call.args[1:], *call.kwargs.values())
    return not any(isinstance(one, Operand) for one in others)


def _is_relu(call: Call) -> bool:
    """Whether a clamp is from 0 up to everything."""
    name = str(getattr(call.function, "__name__", call.function))
    above = name != "clamp_max" and call.argument(1, "min") == 0
    return above and (name == "clamp_min" or call.argument(2, "max") is None)
