"""What joins branches: sums, differences, products; and multiples by constants."""

from __future__ import annotations

import math
import operator

import torch
from torch import nn
from torch.nn import functional

from rankcheck.audit.graph.layer import Call, Layer, Operand

__all__ = ["read"]

_SUMS = (operator.add, operator.iadd, torch.add, "add", "add_")
_DIFFERENCES = (operator.sub, operator.isub, torch.sub, "sub", "sub_")
_PRODUCTS = (operator.mul, operator.imul, torch.mul, "mul", "mul_")
_QUOTIENTS = (operator.truediv, torch.div, "div")
_TOGETHER = (torch.cat, torch.concat, torch.stack)
_GATES = (nn.GLU, functional.glu)
_EXTREMES = (torch.maximum, torch.minimum, "maximum", "minimum")
_NEGATIVES = (operator.neg, torch.neg, "neg")


def read(call: Call) -> Layer | None:
    """x + y, x − y, xy or x/y of two tensors, or of one and a constant."""
    if call.function in _TOGETHER:
        points = call.argument(1, "dim", 0) in (0, -len(call.shape))
        return None if points else Layer(call.name, "concatenation", affine=True, piecewise=True)
    if call.what in _GATES:
        last = call.module.dim if call.module is not None else call.argument(1, "dim", -1)
        return Layer(call.name, "gate", rowwise=last in (-1, len(call.shape) - 1))
    if call.function in _EXTREMES:
        return Layer(call.name, "extreme", piecewise=True)
    if call.function in _NEGATIVES:
        return Layer(call.name, "multiple", affine=True, piecewise=True, rowwise=True)
    if call.function not in (*_SUMS, *_DIFFERENCES, *_PRODUCTS, *_QUOTIENTS):
        return None
    if call.kwargs.get("rounding_mode") is not None:
        return None
    tensors = [a for a in call.args if isinstance(a, Operand)]
    moving = [a for a in tensors if a.value is None]
    # the same for every row: a constant has no rows
    alike = all(math.prod(a.shape[:-1]) == 1 for a in tensors if a.value is not None)
    if call.function in _SUMS:
        title = "sum" if call.kwargs.get("alpha", 1) == 1 else "weighted sum"
        return Layer(call.name, title, affine=True, piecewise=True, rowwise=alike)
    if call.function in _DIFFERENCES:
        return Layer(call.name, "difference", affine=True, piecewise=True, rowwise=alike)
    alone = len(moving) == 1
    if call.function in _PRODUCTS:
        title = "multiple" if alone else "product"
        return Layer(call.name, title, affine=alone, piecewise=alone, rowwise=alike)
    alone = alone and moving[0] is call.args[0]
    return Layer(call.name, "quotient", affine=alone, piecewise=alone, rowwise=alike)
