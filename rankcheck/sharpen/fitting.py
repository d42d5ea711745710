"""Good instances of other shapes, made to fit a shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from rankcheck.engine.counterexamples.shrinking.cropping import CropSource, Edit
from rankcheck.engine.hunt.arena import BodyError, generated
from rankcheck.engine.hunt.sample import Sample
from rankcheck.sharpen.gauge import Gauge
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Rejected

#: Places at which a run of tensors is repeated or left out.
PLACES = 24


def fitted(gauge: Gauge, begin: Sequence[Record], refit: bool) -> list[Sample]:
    """Given instances, made to fit the shape; empty where none of them does."""
    fitting = [one for record in begin for one in refits(gauge, record, PLACES * refit)]
    if not fitting or not fitting[0].tensors:
        return []
    columns = zip(*(record.tensors for record in fitting), strict=True)
    stacked = [torch.stack(column).to(gauge.device) for column in columns]
    return [gauge.at(fitting[0].with_tensors(stacked))]


def refits(gauge: Gauge, record: Record, most: int) -> Iterator[Record]:
    """An instance cropped or padded to the shape.

    If the shape has more tensors, a run of the given ones is repeated, as when layers are inserted;
    if it has fewer, a run is left out. At most so many places of it are tried.
    """
    first = _refit(gauge, record.tensors)
    if first is None:
        return
    given = record.tensors
    more = len(first.tensors) - len(given)
    if more == 0:
        yield first
    lengths = [n for n in range(1, len(given) + 1) if more > 0 == more % n] or [-more]
    places = [(end, n) for n in lengths for end in range(n, len(given) + 1)] if more else []
    for end, length in places[:most]:
        run = given[end - length : end]
        kept = given[:end] if more > 0 else given[: end - length]
        other = _refit(gauge, (*kept, *run * (more // length), *given[end:]))
        if other is not None:
            yield other


def _refit(gauge: Gauge, tensors: tuple[torch.Tensor, ...]) -> Record | None:
    source = CropSource(Edit(gauge.shape.integers, tensors))
    try:
        generated(gauge.claim, gauge.shape, source)
    except (Rejected, BodyError):
        return None
    return source.record if source.record.integers == gauge.shape.integers else None
