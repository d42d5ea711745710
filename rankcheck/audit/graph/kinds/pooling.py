"""Pooling: means are linear, maxima piecewise linear."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from rankcheck.audit.graph.layer import Call, Layer
from rankcheck.audit.model import ModelError

__all__ = ["read"]

_MEANS = (
    *(nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d),
    *(nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d),
    *(functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d),
    *(functional.adaptive_avg_pool1d, functional.adaptive_avg_pool2d),
    *(functional.adaptive_avg_pool3d, torch.adaptive_avg_pool1d, torch.mean, "mean"),
)
_SUMS = (torch.sum, "sum")
_OVER_AXES = (torch.mean, "mean", *_SUMS, torch.amax, "amax", torch.amin, "amin")
_MAXIMA = (
    *(nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d),
    *(nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d),
    *(functional.max_pool1d, functional.max_pool2d, functional.max_pool3d),
    *(functional.adaptive_max_pool1d, functional.adaptive_max_pool2d),
    *(functional.adaptive_max_pool3d, torch.max_pool1d, torch.max_pool2d, torch.max_pool3d),
    *(torch.amax, torch.amin, "amax", "amin"),
)


def read(call: Call) -> Layer | None:
    """Means, sums and maxima over windows, or over whole axes of a point."""
    what = call.what
    if what in _MAXIMA:
        both = getattr(call.module, "return_indices", call.kwargs.get("return_indices", False))
        if both:
            raise ModelError(f"the pooling {call.name!r} returns indices; that is not read")
        _check_axes(call)
        return Layer(call.name, "max pooling", piecewise=True)
    if what in _MEANS or what in _SUMS:
        _check_axes(call)
        title = "mean pooling" if what in _MEANS else "sum over axes"
        return Layer(call.name, title, affine=True, piecewise=True, rowwise=_of_rows(call))
    return None


def _of_rows(call: Call) -> bool:
    """Whether the last axis alone is taken together, and kept with length 1."""
    if call.function not in _OVER_AXES or not call.argument(2, "keepdim", False):
        return False
    axes = call.argument(1, "dim", call.kwargs.get("axis"))
    last = len(call.argument(0, "input").shape) - 1
    return (axes if isinstance(axes, int) else tuple(axes)) in (-1, last, (-1,), (last,))


def _check_axes(call: Call) -> None:
    """Refuse means over the points, which one point does not show.

    Raises:
        ModelError: the first axis is among those that are taken together.
    """
    if call.module is not None or call.function not in _OVER_AXES:
        return
    axes = call.argument(1, "dim", call.kwargs.get("axis"))
    number = len(call.argument(0, "input").shape)
    taken = range(number) if axes is None else (axes,) if isinstance(axes, int) else axes
    if any(axis % number == 0 for axis in taken):
        raise ModelError(
            f"{call.name!r} goes over the first axis, that of the points, so that its values at a "
            "point depend on other points"
        )
