"""Makes entries simpler: zeros, small integers, dyadic numbers of few bits. Shapes stay.

Large steps come first (all tensors, one tensor, blocks of a tensor), single entries last. Every
step lowers the cost of the entries that it changes, so the descent ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic

import torch

from rankcheck.theory.instances.record import Entries, Record

#: Entries are rounded to these numbers of fractional bits, in this order.
BITS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24)


def costs(values: torch.Tensor) -> torch.Tensor:
    """How hard each number is to read: 0 for zero, little for small integers and halves.

    >>> costs(torch.tensor([0.0, 1.0, -1.0, 0.5, 0.375], dtype=torch.float64)).tolist()[:3]
    [0.0, 1.0, 1.25]
    """
    return 2.0 * fractional_bits(values) + torch.log2(1 + values.abs()) + 0.25 * (values < 0)


def cost(values: torch.Tensor) -> float:
    """The sum of the costs."""
    return float(costs(values).sum())


def fractional_bits(values: torch.Tensor) -> torch.Tensor:
    """The least k with 2ᵏ v an integer, entry by entry."""
    mantissa, exponent = torch.frexp(values)
    integers = (mantissa * 2.0**53).long()
    # `x & -x` is the lowest bit of x that is set.
    trailing = torch.where(integers == 0, 1, integers & -integers).double().log2()
    bits = (53 - exponent - trailing).clamp(min=0)
    return torch.where(integers == 0, 0.0, bits)


def simplify_entries(record: Record, interesting: Callable[[Record], bool], until: float) -> Record:
    """An interesting record with simpler entries; the record itself if no step succeeds."""
    work = _Work(record, interesting, until)
    work.all_tensors()
    for place in range(len(work.entries)):
        work.whole_tensor(place)
    for place in range(len(work.entries)):
        work.zero_blocks(place)
    for place in range(len(work.entries)):
        work.single_entries(place)
    return work.record


@dataclass
class _Work:
    """The record so far, and the steps that make it simpler."""

    record: Record
    interesting: Callable[[Record], bool]
    until: float

    @property
    def entries(self) -> list[Entries]:
        return [choice for choice in self.record.choices if isinstance(choice, Entries)]

    def accept(self, changed: dict[int, torch.Tensor]) -> bool:
        """Clamp the changed tensors; take them if they are simpler and stay interesting."""
        if monotonic() >= self.until:
            return False
        entries = self.entries
        for place, values in changed.items():
            changed[place] = values.clamp(entries[place].low, entries[place].high)
        saved = sum(cost(entries[k].values) - cost(values) for k, values in changed.items())
        if not saved > 0:
            return False
        tensors = [changed.get(k, entry.values) for k, entry in enumerate(entries)]
        candidate = self.record.with_tensors(tensors)
        if not self.interesting(candidate):
            return False
        self.record = candidate
        return True

    def all_tensors(self) -> None:
        """Round all tensors at once."""
        for bits in BITS:
            if self.accept({k: rounded(e.values, bits) for k, e in enumerate(self.entries)}):
                return

    def whole_tensor(self, place: int) -> None:
        """Replace a tensor by a simple pattern."""
        for values in _patterns(self.entries[place].values):
            if self.accept({place: values}):
                return

    def zero_blocks(self, place: int) -> None:
        """Zero slices along each axis, then ever smaller blocks of the non-zero entries."""
        values = self.entries[place].values
        for axis in range(values.ndim):
            for index in reversed(range(values.shape[axis])):
                changed = self.entries[place].values.clone()
                changed.select(axis, index).zero_()
                self.accept({place: changed})
        length = int((self.entries[place].values != 0).sum())
        while length >= 1 and monotonic() < self.until:
            left = self.entries[place].values.reshape(-1).nonzero().reshape(-1)
            for block in left.split(length):
                changed = self.entries[place].values.clone()
                changed.view(-1)[block] = 0.0
                self.accept({place: changed})
            length //= 2

    def single_entries(self, place: int) -> None:
        """Replace each entry by 0, 1 or -1, or by a rounding of itself, the simplest first."""
        entry = self.entries[place]
        for index, old in enumerate(entry.values.reshape(-1).tolist()):
            candidates = torch.tensor(list(_simpler(old)), dtype=torch.float64)
            candidates = candidates.clamp(entry.low, entry.high).unique()
            order = costs(candidates).argsort(stable=True)
            dearer = cost(torch.tensor([old], dtype=torch.float64))
            for value in candidates[order][costs(candidates)[order] < dearer].tolist():
                changed = self.entries[place].values.clone()
                changed.view(-1)[index] = value
                if self.accept({place: changed}) or monotonic() >= self.until:
                    break


def _patterns(values: torch.Tensor) -> Iterator[torch.Tensor]:
    """Simple tensors of the same shape, roughly by increasing cost."""
    yield torch.zeros_like(values)
    if values.ndim == 2:
        yield torch.eye(*values.shape, dtype=values.dtype)
    yield torch.ones_like(values)
    yield torch.sign(values)
    for bits in BITS:
        yield rounded(values, bits)


def _simpler(value: float) -> Iterator[float]:
    """Candidates to replace a number."""
    yield from (0.0, 1.0, -1.0)
    for bits in BITS:
        scaled = value * 2.0**bits
        yield math.trunc(scaled) / 2.0**bits
        yield round(scaled) / 2.0**bits


def rounded(values: torch.Tensor, bits: int) -> torch.Tensor:
    """The nearest numbers of so many fractional bits."""
    return torch.round(values * 2.0**bits) / 2.0**bits
