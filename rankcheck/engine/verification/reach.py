"""What the instances of a claim reach: depths, ranks, and what the claim itself counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import torch

from rankcheck.claims.claim import Claim, ClaimError
from rankcheck.theory.linalg import rank
from rankcheck.theory.networks.network import Network

#: Ranks are counted on so many instances of a batch, the first ones: on larger batches they would
#: take a fifth of a sweep, and they are shares of random instances.
RANKED = 512

#: By name, how many instances had which value.
Reached = Mapping[str, Mapping[int, int]]


def reached(
    claim: Claim,
    instance: tuple[Any, ...],
    batch: tuple[int, ...],
    valid: torch.Tensor,
    *,
    sizes: bool = False,
) -> dict[str, Counter[int]]:
    """Count what the instances of a batch that satisfy the hypotheses reach.

    Counted are the depth of each network, the rank of its Jacobian at the point that follows it (of
    several points the largest), the rank of each matrix, the number of entries of each vector, each
    integer, the depth or length of what has one, and what `reach=` of the claim returns. Ranks are
    counted on the first `RANKED` instances of a batch.

    Args:
        instance: the parts, as the body receives them.
        valid: which instances satisfy the hypotheses, of shape `batch`.
        sizes: whether to leave out what has to be computed: the ranks, and `reach=`.

    Raises:
        ClaimError: if `reach=` returns anything but integers over the batch, by name.
    """
    names = claim.names(len(instance))
    values: dict[str, Any] = {}
    ranks: dict[str, torch.Tensor] = {}
    before: tuple[str, Any] = ("", None)
    first = (slice(RANKED),) if batch else ()
    for name, part in zip(names, instance, strict=False):
        if isinstance(part, Network):
            values[f"depth of {name}"] = part.depth
        elif _is_points(part, before[1], len(batch)):
            if not sizes:
                net_name, net = before
                at, net = part[first], net[first] if batch and batch[0] > RANKED else net
                of_net = rank(net.jacobian(at), net.jacobian_noise(at))
                of_net = of_net.amax(-1) if of_net.ndim > len(batch) else of_net
                ranks[f"J{net_name}({name})"] = of_net
        elif _is_matrix(part, len(batch)):
            if not sizes:
                ranks[name] = rank(part.detach()[first])
        else:
            values |= _size(name, part, len(batch))
        before = name, part
    if claim.reach is not None and not sizes:
        values |= _own(claim, instance)
    return {
        **{name: _counted(claim, name, value, batch, valid) for name, value in values.items()},
        **{
            f"rank of {name}": _counted(claim, name, ranked, tuple(ranked.shape), valid[first])
            for name, ranked in ranks.items()
        },
    }


def _is_points(x: Any, net: Any, axes: int) -> bool:
    """Whether x is an input of a network, or several."""
    return (
        isinstance(net, Network)
        and isinstance(x, torch.Tensor)
        and x.is_floating_point()
        and x.ndim - axes in (1, 2)
        and x.shape[-1] == net.widths[0]
    )


def _is_matrix(part: Any, axes: int) -> bool:
    return (
        isinstance(part, torch.Tensor)
        and part.is_floating_point()
        and part.ndim - axes == 2
        and part.numel() > 0
    )


def _size(name: str, part: Any, axes: int) -> dict[str, int]:
    """A number that tells how large a part is, under its name; none for a number that is drawn."""
    if isinstance(part, int) and not isinstance(part, bool):
        return {name: part}
    if isinstance(part, torch.Tensor):
        return {f"entries of {name}": part.shape[-1]} if part.ndim - axes == 1 else {}
    if isinstance(part, list | tuple):
        return {f"length of {name}": len(part)}
    for attribute in ("depth", "length", "units"):
        size = getattr(part, attribute, None)
        if isinstance(size, int):
            return {f"{attribute} of {name}": size}
    return {}


def _own(claim: Claim, instance: tuple[Any, ...]) -> Mapping[str, Any]:
    assert claim.reach is not None
    own = claim.reach(*instance)
    if not isinstance(own, Mapping) or not all(isinstance(name, str) for name in own):
        raise ClaimError(
            claim, f"reach= returned {own!r:.60}; it returns integers over the batch, by name"
        )
    return own


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, torch.Tensor))


def _counted(
    claim: Claim, name: str, value: Any, batch: tuple[int, ...], valid: torch.Tensor
) -> Counter[int]:
    """How many valid instances have which value."""
    if type(value) is int:
        return Counter({value: count} if (count := int(valid.sum())) else {})
    integers = torch.as_tensor(value, device=valid.device) if _is_number(value) else None
    if (
        integers is None
        or integers.is_floating_point()
        or integers.is_complex()
        or (integers.ndim > 0 and tuple(integers.shape) != batch)
    ):
        raise ClaimError(
            claim,
            f"reach= returned for {name!r} {value!r:.60}; it returns an integer for each instance, "
            f"of shape {batch}",
        )
    reached, times = integers.expand(batch)[valid].unique(return_counts=True)
    return Counter(dict(zip(map(int, reached.tolist()), times.tolist(), strict=True)))
