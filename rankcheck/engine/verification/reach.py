"""What the instances of a claim reach: depths, ranks, and what the claim itself counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import torch

from rankcheck.claims.batches import over
from rankcheck.claims.claim import Claim, ClaimError
from rankcheck.engine.verification.evaluation import Part, runs_singly
from rankcheck.theory.instances.drivers import ReplaySource
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Instances
from rankcheck.theory.linalg import rank
from rankcheck.theory.networks.network import Network

#: Ranks are counted on so many instances of a batch, the first ones: on larger batches they would
#: take a fifth of a sweep, and they are shares of random instances.
RANKED = 512

#: Of each claim that is alive: by generator and integers, what is the same for all instances.
_SIZES: WeakKeyDictionary[Claim, dict[tuple[str, tuple[int, ...]], dict[str, int]]] = (
    WeakKeyDictionary()
)
#: By name, how many instances had which value.
Reached = Mapping[str, Mapping[int, int]]


def reached(claim: Claim, part: Part, *, sizes: bool = False) -> dict[str, Counter[int]]:
    """Count what the instances of a batch that satisfy the hypotheses reach.

    Counted are the depth of each network, the rank of its Jacobian at the point that follows it (of
    several points the largest), the rank of each matrix, the number of entries of each vector, each
    integer, the depth or length of what has one, and what `reach=` of the claim returns. Ranks and
    `reach=` are counted on the first `RANKED` instances.

    Args:
        sizes: whether to leave out what has to be computed: the ranks, and `reach=`.

    Raises:
        ClaimError: if `reach=` returns anything but integers, by name.
    """
    places = part.valid.nonzero().reshape(-1).cpu()
    if not len(places):
        return {}
    known = _SIZES.setdefault(claim, {})
    shape = part.family.name, part.record.integers
    if shape not in known:
        instance = part.family(ReplaySource(part.record.at(int(places[0]))))
        known[shape] = sizes_of(claim, instance)
    counts = {name: Counter({size: len(places)}) for name, size in known[shape].items()}
    if sizes:
        return counts
    record = part.record.select(places[:RANKED])
    for name, values in _measured(claim, part.family, record).items():
        counts[name] = Counter(map(int, values.tolist()))
    return counts


def sizes_of(claim: Claim, instance: tuple[Any, ...]) -> dict[str, int]:
    """What is the same for all instances of a discrete shape."""
    names = claim.names(len(instance))
    found: dict[str, int] = {}
    before: Any = None
    for name, part in zip(names, instance, strict=False):
        if isinstance(part, Network):
            found[f"depth of {name}"] = part.depth
        elif not (_is_points(part, before) or _is_matrix(part)):
            found |= _size(name, part)
        before = part
    return found


def _measured(claim: Claim, family: Instances, record: Record) -> dict[str, torch.Tensor]:
    """By name, what is computed of each instance of a batch."""
    names: list[str] = []

    def read(instance: tuple[Any, ...]) -> list[torch.Tensor]:
        found = _computed(claim, instance)
        names[:] = found
        return [*found.values()]

    if record.tensors and not runs_singly(claim, family, record):
        found = over(claim, family, record, read)
        if not found.stopped and found.error is None:
            return dict(zip(names, found.arrays, strict=True))
    rows: dict[str, list[torch.Tensor]] = {}
    for place in range(len(record.tensors[0]) if record.tensors else 1):
        for name, value in _computed(claim, family(ReplaySource(record.at(place)))).items():
            rows.setdefault(name, []).append(value)
    return {name: torch.stack(values) for name, values in rows.items()}


def _computed(claim: Claim, instance: tuple[Any, ...]) -> dict[str, torch.Tensor]:
    """The ranks of an instance, and what `reach=` of its claim returns."""
    found: dict[str, torch.Tensor] = {}
    before: tuple[str, Any] = ("", None)
    for name, part in zip(claim.names(len(instance)), instance, strict=False):
        net_name, net = before
        if _is_points(part, net):
            ranks = rank(net.jacobian(part), net.jacobian_noise(part))
            found[f"rank of J{net_name}({name})"] = ranks.amax(-1) if ranks.ndim else ranks
        elif _is_matrix(part):
            found[f"rank of {name}"] = rank(part.detach())
        before = name, part
    return found if claim.reach is None else found | _own(claim, instance)


def _is_points(x: Any, net: Any) -> bool:
    """Whether x is an input of a network, or several."""
    return (
        isinstance(net, Network)
        and isinstance(x, torch.Tensor)
        and x.is_floating_point()
        and x.ndim in (1, 2)
        and x.shape[-1] == net.widths[0]
    )


def _is_matrix(part: Any) -> bool:
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


def _own(claim: Claim, instance: tuple[Any, ...]) -> dict[str, torch.Tensor]:
    assert claim.reach is not None
    own = claim.reach(*instance)
    if not isinstance(own, Mapping) or not all(isinstance(name, str) for name in own):
        raise ClaimError(claim, f"reach= returned {own!r:.60}; it returns integers, by name")
    found = {}
    for name, value in own.items():
        number = torch.as_tensor(value) if isinstance(value, int | torch.Tensor) else None
        if number is None or number.ndim or number.is_floating_point() or number.is_complex():
            raise ClaimError(
                claim, f"reach= returned for {name!r} {value!r:.60}; it returns an integer"
            )
        found[name] = number
    return found
