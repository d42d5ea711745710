"""The sizes of an instance that group shapes: the depth and width of a network, the integers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch

from rankcheck.claims.claim import Claim
from rankcheck.engine.verification.reach import reached
from rankcheck.errors import InputError
from rankcheck.theory.networks.network import Network


def sizes(claim: Claim, instance: tuple[Any, ...], batch: tuple[int, ...]) -> dict[str, int]:
    """By name, the sizes of the instances of a batch, which all have the same discrete shape.

    They are what the ledger counts of the parts without computing anything (`reached`): depths,
    integers, numbers of entries. Of a network there is the largest number of hidden units, too.

    Args:
        instance: the parts, as the body receives them.
        batch: their batch axes.
    """
    one = torch.ones(batch or (1,), dtype=torch.bool)
    counted = reached(claim, instance, batch, one, sizes=True)
    found = {name: next(iter(counts)) for name, counts in counted.items() if len(counts) == 1}
    for name, part in zip(claim.names(len(instance)), instance, strict=False):
        if isinstance(part, Network):
            found[f"width of {name}"] = max(part.widths[1:-1], default=0)
    return found


def named(known: Collection[str], name: str, option: str) -> str:
    """The size that a name stands for: `depth` is `depth of net` if it begins one name alone.

    Args:
        option: what was asked, as a person types it.

    Raises:
        InputError: if an instance has no size of that name.
    """
    fitting = [one for one in known if one.startswith(f"{name} of ")]
    if name in known:
        return name
    if len(fitting) == 1:
        return fitting[0]
    what = "several sizes of that name" if fitting else "no size of that name"
    raise InputError(
        f"{option}: an instance has {what}; its sizes are {', '.join(known) or 'none'}"
    )
