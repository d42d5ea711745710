"""The arguments of `hunt`, checked before it begins."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from rankcheck.claims.claim import Claim
from rankcheck.hunt.arena import HuntError
from rankcheck.hunt.strategies.base import Strategy


def check_claim(claim: Claim) -> None:
    """Refuse what is not a claim, and a claim without instances.

    Raises:
        HuntError: with the rule.
    """
    if not isinstance(claim, Claim):
        raise HuntError(
            f"{claim!r:.80} is not a claim; hunt takes what @conjecture or another decorator makes"
        )
    if claim.instances is None:
        raise HuntError(f"{claim.id} is {claim.kind}, without instances; a hunt searches instances")
    if claim.instances.recording is not None:
        raise HuntError(
            f"{claim.id} is about a recorded experiment, and a hunt searches instances that can be "
            "drawn; `rankcheck verify --profile deep --seed N` makes the experiment again, with "
            "other seeds"
        )


def check_strategies(strategies: Sequence[Strategy]) -> list[str]:
    """The names of the strategies.

    Raises:
        HuntError: if there are none, or two have the same name.
    """
    names = [strategy.name for strategy in strategies]
    if len(set(names)) < len(names) or not names:
        raise HuntError(
            f"the strategies are {names}; a hunt has at least one, and their names differ"
        )
    return names


def check_end(budget: float | None, rounds: int | None) -> None:
    """Refuse a hunt without an end, and one that ends before it begins.

    Raises:
        HuntError: with the rule.
    """
    if budget is None and rounds is None:
        raise HuntError("neither a budget nor rounds is given; a hunt ends after one of them")
    if budget is not None and not 0 < budget < math.inf:
        raise HuntError(f"the budget is {budget}; it is a positive, finite number of seconds")
    if rounds is not None and rounds < 1:
        raise HuntError(f"received {rounds} rounds; a hunt has at least one")


def check_scope(scope: int | None) -> None:
    """Refuse a negative number of entries.

    Raises:
        HuntError: with the rule.
    """
    if scope is not None and (not isinstance(scope, int) or scope < 0):
        raise HuntError(f"the scope is {scope}; it is a number of entries, 0 for no enumeration")


def check_limit(limit: float | None) -> None:
    """Refuse a limit that is no positive number of seconds.

    Raises:
        HuntError: with the rule.
    """
    if limit is not None and not 0 < limit < math.inf:
        raise HuntError(f"the limit is {limit}; it is a positive number of seconds, or None")


def check_device(device: str) -> None:
    """Refuse a device that torch cannot use, before the hunt begins.

    Raises:
        HuntError: with what torch says.
    """
    try:
        torch.zeros(1, dtype=torch.float64, device=device)
    except (RuntimeError, AssertionError) as error:
        said = str(error).strip().splitlines()[0]
        raise HuntError(
            f"torch cannot use the device {device!r} here ({said}); a device is cpu or cuda"
        ) from error
