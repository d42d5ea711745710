"""What the instances of a claim reach: depths, ranks, and what the claim itself counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import torch

from rankcheck.claims.claim import Claim, ClaimError
from rankcheck.engine.verification.batches import Drawn, runs_singly
from rankcheck.engine.verification.evaluation import Part
from rankcheck.engine.verification.mapped import over
from rankcheck.engine.verification.sizes import is_matrix, is_points, sizes_of
from rankcheck.engine.verification.ways import way_of
from rankcheck.theory.instances.drivers import ReplaySource
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Instances
from rankcheck.theory.linalg import rank

#: Ranks are counted on so many instances of a batch, the first ones: on larger batches they would
#: take a fifth of a sweep, and they are shares of random instances.
RANKED = 512


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
    way = way_of(claim, part.family, part.record)
    if way.sizes is None:
        way.sizes = sizes_of(claim, part.family(ReplaySource(part.record.at(int(places[0])))))
    counts = {name: Counter({size: len(places)}) for name, size in way.sizes.items()}
    if sizes:
        return counts
    record = part.record.select(places[:RANKED])
    for name, values in _measured(claim, part.family, record).items():
        counts[name] = Counter(map(int, values.tolist()))
    return counts


def _measured(claim: Claim, family: Instances, record: Record) -> dict[str, torch.Tensor]:
    """By name, what is computed of each instance of a batch."""
    names: list[str] = []

    def read(instance: tuple[Any, ...]) -> list[torch.Tensor]:
        found = _computed(claim, instance)
        names[:] = found
        return [*found.values()]

    if not runs_singly(claim, family, Drawn(record)):
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
        if is_points(part, net):
            ranks = rank(net.jacobian(part), net.jacobian_noise(part))
            found[f"rank of J{net_name}({name})"] = ranks.amax(-1) if ranks.ndim else ranks
        elif is_matrix(part):
            found[f"rank of {name}"] = rank(part.detach())
        before = name, part
    return found if claim.reach is None else found | _own(claim, instance)


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
