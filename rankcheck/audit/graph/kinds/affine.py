"""Linear layers."""

from __future__ import annotations

import math

from torch import nn
from torch.nn import functional

from rankcheck.audit.graph.layer import Call, Layer
from rankcheck.audit.graph.linear_map import DenseMap

__all__ = ["read"]


def read(call: Call) -> Layer | None:
    """x ↦ Wx + b along the last axis: nn.Linear, or functional.linear with parameters."""
    if call.what not in (nn.Linear, functional.linear):
        return None
    if not call.has_parameters(("weight", 1), ("bias", 2)):
        return None
    weight, bias = call.parameter("weight", 1), call.parameter("bias", 2)
    assert weight is not None
    assert weight.value is not None
    name = call.name
    if call.module is None:
        stored = weight.trained and (bias is None or bias.trained)
        if not stored:  # computed from parameters, or no parameters
            return Layer(name, "Linear", affine=True, piecewise=True, rowwise=True)
        name = call.named("Linear", weight)
    linear = DenseMap(
        name,
        (weight.name, None if bias is None else bias.name),
        weight.value,
        None if bias is None else bias.value,
        math.prod(call.shape[1:-1]),
    )
    return Layer(name, "Linear", affine=True, piecewise=True, rowwise=True, maps=(linear,))
