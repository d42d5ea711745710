"""What all instances of a discrete shape have in common: depths, numbers of entries, integers."""

from __future__ import annotations

from typing import Any

import torch

from rankcheck.claims.claim import Claim
from rankcheck.theory.networks.network import Network


def sizes_of(claim: Claim, instance: tuple[Any, ...]) -> dict[str, int]:
    """What is the same for all instances of a discrete shape."""
    names = claim.names(len(instance))
    found: dict[str, int] = {}
    before: Any = None
    for name, part in zip(names, instance, strict=False):
        if isinstance(part, Network):
            found[f"depth of {name}"] = part.depth
        elif not (is_points(part, before) or is_matrix(part)):
            found |= _size(name, part)
        before = part
    return found


def is_points(x: Any, net: Any) -> bool:
    """Whether x is an input of a network, or several."""
    return (
        isinstance(net, Network)
        and isinstance(x, torch.Tensor)
        and x.is_floating_point()
        and x.ndim in (1, 2)
        and x.shape[-1] == net.widths[0]
    )


def is_matrix(part: Any) -> bool:
    return (
        isinstance(part, torch.Tensor)
        and part.is_floating_point()
        and part.ndim == 2
        and part.numel() > 0
    )


def _size(name: str, part: Any) -> dict[str, int]:
    """A number that tells how large a part is, under its name; none for a number that is drawn."""
    if isinstance(part, int) and not isinstance(part, bool):
        return {name: part}
    if isinstance(part, torch.Tensor):
        return {f"entries of {name}": part.shape[-1]} if part.ndim == 1 else {}
    if isinstance(part, list | tuple):
        return {f"length of {name}": len(part)}
    for attribute in ("depth", "length", "units"):
        size = getattr(part, attribute, None)
        if isinstance(size, int):
            return {f"{attribute} of {name}": size}
    return {}
