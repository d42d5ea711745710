"""What is known of layers, a file a kind.

A file has a function `read(call)` that returns the `Layer` of a call, or None if it is no layer of
its kind; it raises a `ModelError` if it is one that computes something else than its name says. To
add a kind, write such a file and put its `read` into `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable

from rankcheck.audit.graph.kinds import (
    activation,
    affine,
    attention,
    convolution,
    join,
    norm,
    pooling,
    shape,
)
from rankcheck.audit.graph.layer import Call, Layer

__all__ = ["KINDS", "layer_of"]

#: The first that knows a call reads it.
KINDS: tuple[Callable[[Call], Layer | None], ...] = (
    affine.read,
    activation.read,
    convolution.read,
    norm.read,
    pooling.read,
    attention.read,
    join.read,
    shape.read,
)


def layer_of(call: Call) -> Layer | None:
    """What is known of a call; None if no kind knows it."""
    return next((layer for read in KINDS if (layer := read(call)) is not None), None)
