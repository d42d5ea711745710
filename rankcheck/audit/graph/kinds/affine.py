"""Linear layers."""

from __future__ import annotations

import math

from torch import nn
from torch.nn import functional

from rankcheck.audit.graph.layer import Call, Layer, Operand
from rankcheck.audit.graph.linear_map import DenseMap

__all__ = ["read"]


def read(call: Call) -> Layer | None:
    """x ↦ Wx + b along the last axis: nn.Linear, or functional.linear with parameters."""
    copies = math.prod(call.shape[1:-1])
    if isinstance(call.module, nn.Linear):
        weight, bias = (call.parameters.get(f"{call.name}.{part}") for part in ("weight", "bias"))
        if weight is None:  # the whole module is one layer
            weight, bias = call.parameters["weight"], call.parameters.get("bias")
        prefix = f"{call.name}." if f"{call.name}.weight" in call.parameters else ""
        names = f"{prefix}weight", None if bias is None else f"{prefix}bias"
        linear = DenseMap(call.name, names, weight, bias, copies)
    elif call.function is functional.linear:
        first, second = call.argument(1, "weight"), call.argument(2, "bias")
        given = [one for one in (first, second) if one is not None]
        if not all(isinstance(one, Operand) and one.value is not None for one in given):
            return None
        if not all(one.trained for one in given):  # computed from parameters, or no parameters
            return Layer(call.name, "Linear", affine=True, piecewise=True, rowwise=True)
        names = first.name, None if second is None else second.name
        linear = DenseMap(
            call.name, names, first.value, None if second is None else second.value, copies
        )
    else:
        return None
    return Layer(call.name, "Linear", affine=True, piecewise=True, rowwise=True, maps=(linear,))
