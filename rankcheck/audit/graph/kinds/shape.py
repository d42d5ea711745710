"""What moves, repeats or leaves out numbers and changes none, and layers that do nothing."""

from __future__ import annotations

import operator
import re

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
#: Names of functions of torch, of methods, or of both.
_NAMES = (
    *("flatten", "unflatten", "reshape", "view", "view_as", "reshape_as", "contiguous"),
    *("permute", "transpose", "swapaxes", "swapdims", "movedim", "moveaxis", "t"),
    *("squeeze", "unsqueeze", "select", "narrow", "flip", "roll", "unbind"),
    *("expand", "expand_as", "repeat", "repeat_interleave", "tile", "broadcast_to"),
)
_MOVES = (
    nn.Flatten,
    nn.Unflatten,
    nn.PixelShuffle,
    nn.PixelUnshuffle,
    nn.ChannelShuffle,
    functional.pixel_shuffle,
    functional.pixel_unshuffle,
    *(getattr(torch, name) for name in _NAMES if hasattr(torch, name)),
    *_NAMES,
)
_PARTS = (torch.chunk, torch.split, "chunk", "split")
_PADS = tuple(
    kind
    for name, kind in vars(nn).items()
    if re.fullmatch(r"(Zero|Constant|Reflection|Replication|Circular)Pad[123]d", name)
)
_RESIZED = (nn.Upsample, nn.UpsamplingNearest2d, nn.UpsamplingBilinear2d, functional.interpolate)


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
    if what in _PADS or what is functional.pad:
        return Layer(call.name, "padding", affine=True, piecewise=True)
    if what in _RESIZED:
        return Layer(call.name, "resizing", affine=True, piecewise=True)
    if what is operator.getitem:  # of several tensors, or of one
        several = not call.args[0].shape
        return Layer(call.name, "shape", affine=True, piecewise=True, rowwise=several)
    if what in _PARTS:
        last = call.argument(2, "dim", 0) in (-1, len(call.args[0].shape) - 1)
        return Layer(call.name, "shape", affine=True, piecewise=True, rowwise=last)
    return None
