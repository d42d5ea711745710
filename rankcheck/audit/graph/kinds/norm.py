"""Norms: batch norms in eval mode are affine, the others depend on the point."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from rankcheck.audit.graph.layer import Call, Layer, Operand
from rankcheck.audit.graph.linear_map import DiagonalMap, LinearMap
from rankcheck.audit.model import ModelError

__all__ = ["read"]

_BATCH = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
_INSTANCE = (nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)
#: Norms by the point's own averages: titles, and the places of weight and bias among arguments.
_OTHERS: dict[object, tuple[str, int, int | None]] = {
    nn.LayerNorm: ("layer norm", 2, 3),
    functional.layer_norm: ("layer norm", 2, 3),
    torch.layer_norm: ("layer norm", 2, 3),
    nn.RMSNorm: ("RMS norm", 2, None),
    functional.rms_norm: ("RMS norm", 2, None),
    torch.rms_norm: ("RMS norm", 2, None),
    nn.GroupNorm: ("group norm", 2, 3),
    functional.group_norm: ("group norm", 2, 3),
    torch.group_norm: ("group norm", 2, 3),
    **dict.fromkeys(_INSTANCE, ("instance norm", 3, 4)),
}


def read(call: Call) -> Layer | None:
    """A norm, by statistics that are stored or by those of the point itself."""
    what = call.what
    if what in _BATCH or what is functional.batch_norm:
        return _batch(call)
    if what in _INSTANCE and getattr(call.module, "running_mean", None) is not None:
        return _batch(call)
    if what not in _OTHERS:
        return None
    title, weight, bias = _OTHERS[what]
    places = (("weight", weight), *((("bias", bias),) if bias is not None else ()))
    if not call.has_parameters(*places):
        return None
    scale = call.parameter("weight", weight)
    shift = None if bias is None else call.parameter("bias", bias)
    rowwise = False
    if title in ("layer norm", "RMS norm"):
        sizes = getattr(call.module, "normalized_shape", None) or call.argument(
            1, "normalized_shape"
        )
        rowwise = len(sizes) == 1
    maps: tuple[LinearMap, ...] = ()
    if scale is not None and scale.trained:
        assert scale.value is not None
        maps = (_diagonal(call, title, scale, shift, scale.value),)
    return Layer(call.name, title, rowwise=rowwise, maps=maps)


def _batch(call: Call) -> Layer | None:
    """x ↦ γ (x − μ) / √(σ² + ε) + β with averages μ, σ² that are stored."""
    module: Any = call.module
    if module is not None:
        mean, variance, eps = module.running_mean, module.running_var, module.eps
        own = mean is None or module.training
    else:
        stored = call.argument(1, "running_mean"), call.argument(2, "running_var")
        mean, variance = (one.value if isinstance(one, Operand) else None for one in stored)
        own = mean is None or bool(call.argument(5, "training", False))
        eps = call.argument(7, "eps", 1e-5)
    if own:
        raise ModelError(
            f"the norm {call.name!r} takes the averages of the batch, so that its values at a "
            "point depend on other points; one with running averages in eval mode is read"
        )
    if not call.has_parameters(("weight", 3), ("bias", 4)):
        return None
    total = variance + eps
    if not bool((total > 0).all()):
        raise ModelError(
            f"the norm {call.name!r} has the variance {float(variance.min())}; with eps = {eps} it "
            "must be positive"
        )
    weight, bias = call.parameter("weight", 3), call.parameter("bias", 4)
    maps: tuple[LinearMap, ...] = ()
    if weight is not None and weight.trained:
        assert weight.value is not None
        maps = (_diagonal(call, "batch norm", weight, bias, weight.value * total.rsqrt()),)
    return Layer(call.name, "batch norm", affine=True, piecewise=True, maps=maps)


def _diagonal(
    call: Call, kind: str, weight: Operand, bias: Operand | None, scale: Tensor
) -> DiagonalMap:
    assert weight.value is not None
    return DiagonalMap(
        name=call.named(kind, weight),
        parameters=(weight.name, None if bias is None else bias.name),
        weight=weight.value.flatten(),
        offset=None if bias is None or bias.value is None else bias.value.flatten(),
        scale=scale.flatten(),
        copies=math.prod(call.shape) // scale.numel(),
        kind=kind,
    )
