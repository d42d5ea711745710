"""A shape at which a claim is to be proved, in plain values; nothing is imported that computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Target:
    """A shape at which a claim is to be proved, in plain values.

    Attributes:
        integers: what the generator draws, in order.
        sizes: the shape in words: depth, width and so on.
        entries: how many numbers the generator draws.
        twin: whether other integers give the same sizes; known once there is a proof.
    """

    integers: tuple[int, ...]
    sizes: Mapping[str, int] = field(default_factory=dict)
    entries: int = 0
    twin: bool = False
