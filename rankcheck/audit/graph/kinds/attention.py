"""Attention: its linear maps, its products, and the softmax between them."""

from __future__ import annotations

import math
import operator

import torch
from torch import nn
from torch.nn import functional

from rankcheck.audit.graph.apart import attend, attention, points_first, project
from rankcheck.audit.graph.layer import Call, Layer, Operand
from rankcheck.audit.graph.linear_map import DenseMap
from rankcheck.audit.model import ModelError

__all__ = ["read"]

_MATMUL = (operator.matmul, torch.matmul, torch.bmm, "matmul", "bmm")
_SOFTMAX = (nn.Softmax, functional.softmax, torch.softmax, "softmax")
_LOG_SOFTMAX = (nn.LogSoftmax, functional.log_softmax, torch.log_softmax, "log_softmax")
_MASKED = (torch.masked_fill, torch.where, "masked_fill", "masked_fill_")
#: The maps of `nn.MultiheadAttention`, as the audit names them.
_WAYS = ("q", "k", "v")


def read(call: Call) -> Layer | None:
    """An operation of attention: as `apart` writes it, or as people do by hand."""
    what = type(call.module) if call.module is not None else call.function
    if what is project:
        return _project(call)
    if what is attend:
        if call.argument(4, "dropout_p", 0.0) != 0:
            raise ModelError(
                f"{call.name!r} drops entries at random (dropout_p); the audit is of what the "
                "network computes without: dropout_p=0"
            )
        return Layer(call.name, "attention")
    if what is attention:
        return Layer(call.name, "attention weights")
    if what is points_first:
        return Layer(call.name, "shape", affine=True, piecewise=True, rowwise=True)
    if what in _MATMUL:
        return _product(call)
    if what is torch.einsum:
        alone = sum(isinstance(a, Operand) and a.value is None for a in call.args) == 1
        return Layer(call.name, "einsum", affine=alone, piecewise=alone)
    if what in (*_SOFTMAX, *_LOG_SOFTMAX):
        axis = call.argument(1, "dim") if call.module is None else call.module.dim
        title = "softmax" if what in _SOFTMAX else "log softmax"
        return Layer(call.name, title, rowwise=axis in (-1, len(call.shape) - 1))
    if what in _MASKED:
        return Layer(call.name, "mask", affine=True, piecewise=True) if _fixed(call) else None
    return None


def _fixed(call: Call) -> bool:
    """Whether what is masked does not depend on the point, and nor does what is put there."""
    x = 1 if call.function is torch.where else 0
    others = [*call.args[:x], *call.args[x + 1 :], *call.kwargs.values()]
    return all(not isinstance(one, Operand) or one.value is not None for one in others)


def _project(call: Call) -> Layer:
    """The part of the weights that makes queries, keys or values."""
    x, weight, bias, part, parts = call.args
    of, _, _ = weight.name.rpartition(".")
    name = f"{of}.{_WAYS[part]}" if of else _WAYS[part]
    linear = DenseMap(
        name,
        (weight.name, None if bias is None else bias.name),
        weight.value.chunk(parts)[part % parts],
        None if bias is None else bias.value.chunk(3)[part],
        x.shape[1],
    )
    return Layer(name, "Linear", affine=True, piecewise=True, rowwise=True, maps=(linear,))


def _product(call: Call) -> Layer:
    """A matrix product of two tensors, or with a constant matrix."""
    first, second = call.args[0], call.argument(1, "other", call.kwargs.get("mat2"))
    if first.value is None and second.value is None:
        return Layer(call.name, "matrix product")
    right = second.value
    if right is None or right.ndim != 2:
        return Layer(call.name, "matrix product", affine=True, piecewise=True)
    if not second.trained:
        return Layer(call.name, "matrix product", affine=True, piecewise=True, rowwise=True)
    linear = DenseMap(call.name, (second.name, None), right.T, None, math.prod(call.shape[1:-1]))
    return Layer(call.name, "Linear", affine=True, piecewise=True, rowwise=True, maps=(linear,))
