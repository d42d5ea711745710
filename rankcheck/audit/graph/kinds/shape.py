"""What moves numbers and changes none: flattening, reshaping, and layers that do nothing."""

from __future__ import annotations

import operator

import torch
from torch import nn
from torch.nn import functional

from rankcheck.audit.graph.layer import Call, Layer
from rankcheck.audit.model import ModelError

__all__ = ["read"]

_DROPOUTS = tuple(
    getattr(functional, name)
    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout")
)
_NOTHING = (
    nn.Identity,
    nn.Dropout,
    nn.Dropout1d,
    nn.Dropout2d,
    nn.Dropout3d,
    nn.AlphaDropout,
    *_DROPOUTS,
)
_MOVES = (
    nn.Flatten,
    nn.Unflatten,
    torch.flatten,
    torch.reshape,
    torch.permute,
    torch.transpose,
    torch.squeeze,
    torch.unsqueeze,
    "flatten",
    "reshape",
    "view",
    "permute",
    "transpose",
    "squeeze",
    "unsqueeze",
    "unflatten",
    "contiguous",
)
_PARTS = (torch.chunk, torch.split, "chunk", "split")


def read(call: Call) -> Layer | None:
    """A layer that keeps all numbers, perhaps at other places."""
    what = call.what
    if what in _DROPOUTS and call.argument(2, "training", what is not functional.alpha_dropout):
        raise ModelError(
            f"{call.name!r} ({what.__name__}) drops entries at random; give it training=False, or "
            "self.training and call module.eval() first"
        )
    if what in _NOTHING:
        return Layer(call.name, "nothing", affine=True, piecewise=True, rowwise=True)
    if what in _MOVES:
        return Layer(call.name, "shape", affine=True, piecewise=True)
    if what is operator.getitem:  # of several tensors, or of one
        several = not call.args[0].shape
        return Layer(call.name, "shape", affine=True, piecewise=True, rowwise=several)
    if what in _PARTS:
        last = call.argument(2, "dim", 0) in (-1, len(call.args[0].shape) - 1)
        return Layer(call.name, "shape", affine=True, piecewise=True, rowwise=last)
    return None
