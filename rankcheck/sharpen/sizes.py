"""The sizes of an instance that group shapes: the depth and width of a network, the integers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rankcheck.claims.claim import Claim
from rankcheck.engine.verification.sizes import sizes_of
from rankcheck.errors import InputError
from rankcheck.theory.networks.network import Network


def sizes(claim: Claim, instance: tuple[Any, ...]) -> dict[str, int]:
    """By name, the sizes of an instance, which depend on its discrete shape alone.

    They are what the ledger counts of the parts without computing anything (`sizes_of`): depths,
    integers, numbers of entries. Of a network there is the largest number of hidden units, too.
    """
    found = sizes_of(claim, instance)
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
