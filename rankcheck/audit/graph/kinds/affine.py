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
        if not isinstance(first, Operand) or first.value is None:
            return None
        if second is not None and (not isinstance(second, Operand) or second.value is None):
            return None
        names = first.name, None if second is None else second.name
        linear = DenseMap(
            call.name, names, first.value, None if second is None else second.value, copies
        )
    else:
        return None
    return Layer(call.name, "Linear", affine=True, piecewise=True, rowwise=True, maps=(linear,))
