"""Starting points of the strategies, and operations on batches of instances."""

from __future__ import annotations

import math

import torch

from rankcheck.engine.hunt.arena import Arena
from rankcheck.engine.hunt.sample import Sample, together
from rankcheck.theory.instances.record import Entries, Record
from rankcheck.theory.instances.source import SMALLEST, seed_of

#: An instance with more entries than `LARGE` is large; so many of them make a batch.
LARGE, LARGE_BATCH = 200, 16


def starts(arena: Arena, seed: int, count: int) -> Sample | None:
    """Half the best instances of random and structured samples, half their first ones.

    Of the best, at most half are at equality, where descents end.

    None where the shape has no entries, or no instance satisfies the hypotheses.
    """
    size = max(2, arena.sample_size // 2)
    parts = [
        arena.sample(seed_of(seed, "random"), size),
        arena.sample(seed_of(seed, "structured"), size, structured=True),
        arena.sample(seed_of(seed, "magnitudes"), max(2, size // 2), magnitudes=True),
    ]
    parts = [part for part in parts if entries(part.record)]
    if not parts:
        return None
    count = count if entries(parts[0].record) <= LARGE else min(count, LARGE_BATCH)
    inside = [part.select(part.margins.valid.nonzero().reshape(-1)) for part in parts]
    share = max(1, count // (2 * len(parts)))
    chosen = [piece for part in inside for piece in (part.best(share), part.first(share))]
    chosen = [piece for piece in chosen if len(piece)]
    return together(chosen) if chosen else None


def entries(record: Record) -> int:
    """Number of entries of one instance of a batch."""
    return sum(math.prod(tensor.shape[1:]) for tensor in record.tensors)


class Space:
    """Records of one shape as points of shape (B, N): the entries of an instance in a row.

    Attributes:
        low, high: the ends of the range of each entry, shape (N).
    """

    def __init__(self, record: Record) -> None:
        self._like = record
        ranges = [c for c in record.choices if isinstance(c, Entries)]
        self._shapes = [c.shape for c in ranges]
        self._sizes = [math.prod(shape) for shape in self._shapes]
        sizes = torch.tensor(self._sizes)
        ends = torch.tensor([(c.low, c.high) for c in ranges], dtype=torch.float64)
        self.low, self.high = ends.repeat_interleave(sizes, 0).T.to(record.tensors[0].device)

    def points(self, record: Record) -> torch.Tensor:
        """The points of a batch of records, without gradients."""
        return torch.cat([t.detach().reshape(t.shape[0], -1) for t in record.tensors], 1)

    def record(self, points: torch.Tensor) -> Record:
        """Points as a batch of records."""
        pieces = zip(points.split(self._sizes, 1), self._shapes, strict=True)
        return self._like.with_tensors([p.reshape(len(points), *shape) for p, shape in pieces])


def tidy(record: Record) -> Record:
    """The record with entries below 2⁻²⁴ set to zero, where zero is in their range."""
    tensors = []
    for choice in record.choices:
        if isinstance(choice, Entries):
            dust = (choice.values.abs() < SMALLEST) & (choice.low <= 0 <= choice.high)
            tensors.append(torch.where(dust, 0.0, choice.values))
    return record.with_tensors(tensors)
