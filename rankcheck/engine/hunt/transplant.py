"""Tight instances as records of the claim's own family, where they can be perturbed.

A generator returns most of its tensors unchanged as parts of the instance: a weight matrix, a
point. One instance of the family with distinct entries shows which part each tensor becomes. The
parts of a tight instance of the same shape then replace those tensors in the record.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

import torch

from rankcheck.claims.claim import Claim
from rankcheck.engine.hunt.arena import Arena, Shape, generated
from rankcheck.engine.hunt.points import ShapedSource
from rankcheck.engine.hunt.sample import Sample
from rankcheck.engine.verification.batches import draw_batch
from rankcheck.engine.verification.mapped import over
from rankcheck.theory.instances.drivers import ReplaySource
from rankcheck.theory.instances.record import Entries, Integer, Record
from rankcheck.theory.instances.source import seed_of

#: Draws of the tight family among which a fitting shape is looked for.
TRIED = 100
#: Number of values that are tried of an integer with a long range.
VALUES = 8
#: Draws of the later integers for each value that is tried, and repetitions of the whole search.
RESTS, ATTEMPTS = 3, 3
#: Parts of an instance are looked at up to this depth; one may contain itself.
DEPTH = 6
#: The largest number of runs of the generator in the search for a shape.
RUNS = 400


def transplanted(arena: Arena, seed: int, count: int) -> Sample | None:
    """Tight instances as records of the arena's shape; None where no shape of theirs fits."""
    tight = arena.claim.tight
    if tight is None or not arena.batched or arena.shape.family == "tight":
        return None
    record, where, sizes = _places(arena, seed)
    if all(place is None for place in where):
        return None
    for integers, parts in _tight_shapes(arena.claim):
        if parts == sizes:
            source = ShapedSource(integers, seed, count, arena.device)
            batch = draw_batch(arena.claim, tight, source)
            if not batch.whole or not batch.record.tensors:
                return None
            found = over(arena.claim, tight, batch.record, parts_of)
            if found.stopped or found.error is not None:
                return None
            return arena.at(_record(record, where, found.arrays, count))
    return None


@lru_cache(maxsize=16)
def _tight_shapes(claim: Claim) -> list[tuple[tuple[int, ...], list[tuple[int, ...]]]]:
    """Shapes of the tight family, each with the shapes of the parts of its instances."""
    parts: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for attempt in range(TRIED):
        sizes, record = _sizes(claim, Shape("tight", ()), seed_of("tight", attempt))
        parts.setdefault(record.integers, sizes)
    return list(parts.items())


def fitted(claim: Claim, tight: Shape, seed: int) -> Shape | None:
    """A shape of the claim's family whose instances have parts like those of a tight shape.

    The integers are chosen one after the other: each gets the value with which most axes of the
    parts have the wanted length, where the later integers are drawn at random a few times.
    """
    wanted, _ = _sizes(claim, tight, seed)
    best: tuple[int, Shape | None] = (0, None)
    runs = iter(range(RUNS))
    for attempt in range(ATTEMPTS):
        shape = _fit(claim, wanted, seed_of(seed, attempt), runs)
        if shape is not None:
            # A part that the generator returns as it was drawn can be perturbed.
            carried = len(set(_places(Arena(claim, shape), seed)[1]) - {None})
            best = max(best, (carried, shape), key=lambda pair: pair[0])
            if carried == len(wanted):
                break
    return best[1]


def _fit(
    claim: Claim, wanted: list[tuple[int, ...]], seed: int, runs: Iterator[int]
) -> Shape | None:
    integers: tuple[int, ...] = ()
    while next(runs, None) is not None:
        sizes, record = _sizes(claim, Shape("instances", integers), seed)
        drawn = [choice for choice in record.choices if isinstance(choice, Integer)]
        if len(integers) >= len(drawn):
            return Shape("instances", integers) if sizes == wanted else None
        choice = drawn[len(integers)]
        tried = range(choice.low, min(choice.high, choice.low + VALUES - 1) + 1)

        def score(value: int, known: tuple[int, ...] = integers) -> tuple[bool, int]:
            shape = Shape("instances", (*known, value))
            alike = [
                _alike(_sizes(claim, shape, seed_of(seed, rest))[0], wanted)
                for rest, _ in zip(range(RESTS), runs, strict=False)
            ]
            return any(number for number, _ in alike), sum(same for _, same in alike)

        integers = (*integers, max(tried, key=score))
    return None


def _sizes(claim: Claim, shape: Shape, seed: int) -> tuple[list[tuple[int, ...]], Record]:
    """The shapes of the parts of an instance, and what was drawn for it."""
    source = ShapedSource(shape.integers, seed)
    parts = parts_of(generated(claim, shape, source))
    return [tuple(part.shape) for part in parts], source.record


def _alike(sizes: list[tuple[int, ...]], wanted: list[tuple[int, ...]]) -> tuple[bool, int]:
    """Whether the numbers of parts agree, and how many axes of the parts have equal lengths."""
    pairs = zip(sizes, wanted, strict=False)
    same = sum(a == b for one, other in pairs for a, b in zip(one, other, strict=False))
    return len(sizes) == len(wanted), same


def parts_of(whole: Any, depth: int = 0) -> list[torch.Tensor]:
    """The floating-point tensors with axes in an instance or a part of one, in order."""
    if isinstance(whole, torch.Tensor):
        return [whole] if whole.ndim and whole.is_floating_point() else []
    if isinstance(whole, Mapping):
        inner: Iterable[Any] = whole.values()
    elif isinstance(whole, tuple | list):
        inner = whole
    elif isinstance(whole, type) or inspect.isroutine(whole):
        return []
    elif is_dataclass(whole):
        inner = (getattr(whole, one.name) for one in fields(whole))
    else:
        inner = vars(whole).values() if hasattr(whole, "__dict__") else ()
    return [part for one in inner for part in parts_of(one, depth + 1)] if depth <= DEPTH else []


def _places(arena: Arena, seed: int) -> tuple[Record, list[int | None], list[tuple[int, ...]]]:
    """A record of the shape, for each tensor the number of its part, the shapes of the parts."""
    source = ShapedSource(arena.shape.integers, seed, device=arena.device)
    arena.family(source)
    generator = torch.Generator().manual_seed(seed)
    distinct = [
        c.low
        + (c.high - c.low)
        * torch.rand(c.shape, dtype=torch.float64, generator=generator).to(arena.device)
        for c in source.record.choices
        if isinstance(c, Entries)
    ]
    record = source.record.with_tensors(distinct)
    parts = parts_of(arena.family(ReplaySource(record)))
    where: list[int | None] = []
    for tensor in record.tensors:
        same = [i for i, part in enumerate(parts) if _equal(part, tensor)]
        where.append(same[0] if same else None)
    return record, where, [tuple(part.shape) for part in parts]


def _equal(part: torch.Tensor, tensor: torch.Tensor) -> bool:
    return part.shape == tensor.shape and part.numel() > 0 and bool((part == tensor).all())


def _record(
    record: Record, where: list[int | None], parts: Sequence[torch.Tensor], count: int
) -> Record:
    ranges = [c for c in record.choices if isinstance(c, Entries)]
    tensors = [
        (t.expand(count, *t.shape) if place is None else parts[place]).clamp(c.low, c.high)
        for t, place, c in zip(record.tensors, where, ranges, strict=True)
    ]
    return record.with_tensors([t.detach().clone() for t in tensors])
