"""Makes shapes smaller: lower integers, fewer tensors, and entries cropped to the new shapes.

This works without knowing what the integers mean. The generator runs again with a lower integer and
is handed the recorded tensors in their order, each cropped (or padded with zeros) to the shape that
it draws now. If it draws fewer integers or tensors than were recorded, as when a layer is dropped,
the superfluous ones are dropped as one run; every possible run is tried. Where a generator says how
(`made_again`), a part of the instance is made by the choices of a simpler structure.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import torch

from rankcheck.engine.counterexamples.shrinking.entries import BITS, rounded
from rankcheck.theory.instances.record import Integer, Record
from rankcheck.theory.instances.source import Instances, Rejected, Source

#: How many places of such a run are tried at most; of more, some that are evenly spaced.
PLACES = 24


@dataclass(frozen=True, eq=False)
class Edit:
    """The integers and tensors that a generator is handed in place of those of a record.

    Attributes:
        keep: `((old, new), indices)`: the indices that an axis of size `old` keeps when it is
            cropped to `new`. Other axes keep their leading indices.
    """

    integers: tuple[int, ...]
    tensors: tuple[torch.Tensor, ...]
    keep: tuple[tuple[int, int], torch.Tensor] | None = None

    @classmethod
    def of(cls, record: Record) -> Edit:
        """The record without a change."""
        return cls(record.integers, record.tensors)

    def without(self, integers: slice, tensors: slice) -> Edit:
        """The same edit without these integers and these tensors."""
        return replace(
            self,
            integers=_without(self.integers, integers),
            tensors=_without(self.tensors, tensors),
        )


class CropSource(Source):
    """Hands out an edit, fitted to the ranges and shapes that the generator draws."""

    def __init__(self, edit: Edit) -> None:
        super().__init__()
        self._integers = list(edit.integers)
        self._tensors = list(edit.tensors)
        self._keep = edit.keep
        self.parts = []

    @property
    def left(self) -> tuple[int, int]:
        """How many integers and tensors have not been drawn."""
        return len(self._integers), len(self._tensors)

    def _integer(self, low: int, high: int) -> int:
        value = self._integers.pop(0) if self._integers else low
        return min(max(value, low), high)

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        values = torch.zeros(shape, dtype=torch.float64)
        if self._tensors:
            values = fitted(self._tensors.pop(0), shape, self._keep)
        return values.clamp(low, high)


def fitted(
    values: torch.Tensor,
    shape: tuple[int, ...],
    keep: tuple[tuple[int, int], torch.Tensor] | None = None,
) -> torch.Tensor:
    """The entries in another shape: cropped, or padded with zeros, axis by axis.

    If the number of axes differs, the flattened entries are cropped or padded.
    """
    if values.ndim != len(shape):
        return fitted(values.reshape(-1), (math.prod(shape),)).reshape(shape)
    for axis, size in enumerate(shape):
        old = values.shape[axis]
        if size < old:
            index = torch.arange(size)
            if keep is not None and keep[0] == (old, size):
                index = keep[1]
            values = values.index_select(axis, index)
        elif size > old:
            padding = list(values.shape)
            padding[axis] = size - old
            values = torch.cat((values, values.new_zeros(padding)), axis)
    return values


def size(record: Record) -> tuple[int, int, int]:
    """What cropping makes smaller: the numbers of entries and of choices, the sum of integers."""
    return (
        sum(tensor.numel() for tensor in record.tensors),
        len(record.choices),
        sum(choice.value - choice.low for choice in record.choices if isinstance(choice, Integer)),
    )


def crop(
    family: Instances, record: Record, interesting: Callable[[Record], bool], until: float
) -> Record:
    """Lower the integers of a record as long as it stays interesting."""
    cropper = _Cropper(family, interesting, until)
    current = cropper.first(record, _capped(record)) or record
    while (simpler := cropper.first(current, cropper.made_again(current), 2)) is not None:
        current = simpler
    place = 0
    while place < len(current.integers) and monotonic() < until:
        lower = cropper.first(current, cropper.lowered(current, place))
        if lower is None:
            place += 1
        else:
            current = lower
    return current


@dataclass(frozen=True)
class _Cropper:
    family: Instances
    interesting: Callable[[Record], bool]
    until: float

    def first(self, record: Record, edits: Iterable[Edit], part: int = 0) -> Record | None:
        """The first edit that stays interesting, smaller in this and the later parts of `size`."""
        seen = {_key(record)}
        for edit in edits:
            if monotonic() >= self.until:
                return None
            cropped = self.run(edit)
            if cropped is None or size(cropped.record)[part:] >= size(record)[part:]:
                continue
            key = _key(cropped.record)
            if key not in seen and self.interesting(cropped.record):
                return cropped.record
            seen.add(key)
        return None

    def run(self, edit: Edit) -> CropSource | None:
        """The source after the generator has drawn the edit; None if it rejects the edit."""
        source = CropSource(edit)
        try:
            self.family(source)
        except (Rejected, ArithmeticError, MemoryError, RuntimeError, ValueError):
            # A generator may fail on an edit; the counterexample at hand must not be lost then.
            return None
        return source

    def made_again(self, record: Record) -> Iterator[Edit]:
        """Edits that make one part of the instance nearly, by other choices of few bits."""
        source = self.run(Edit.of(record))
        for own, again in (source and source.parts) or ():
            mine: list[int | torch.Tensor] = [
                choice.value if isinstance(choice, Integer) else choice.values
                for choice in record.choices
            ]
            others = again()
            for bits in BITS[:6]:
                mine[own] = [one if isinstance(one, int) else rounded(one, bits) for one in others]
                tensors = tuple(one for one in mine if not isinstance(one, int))
                if all(bool(tensor.isfinite().all()) for tensor in tensors):
                    yield Edit(tuple(one for one in mine if isinstance(one, int)), tensors)

    def lowered(self, record: Record, place: int) -> Iterator[Edit]:
        """Edits that lower one integer, the lowest value first, and drop what it makes needless."""
        choice = [choice for choice in record.choices if isinstance(choice, Integer)][place]
        plain = Edit.of(record)
        for value in _towards(choice.low, choice.value):
            integers = (*plain.integers[:place], value, *plain.integers[place + 1 :])
            edit = replace(plain, integers=integers)
            if any(choice.value in tensor.shape for tensor in record.tensors):
                for index in _kept(choice.value, value):
                    yield replace(edit, keep=((choice.value, value), index))
            else:
                yield edit
            yield from self._shorter(edit, place + 1)

    def _shorter(self, edit: Edit, start: int) -> Iterator[Edit]:
        """If integers or tensors are left over: the edit without a run of that many."""
        source = self.run(edit)
        if source is None or source.left == (0, 0):
            return
        integers, _ = source.left
        for gone in _runs(start, len(edit.integers), integers):
            fewer = edit.without(gone, slice(0, 0))
            source = self.run(fewer)
            if source is None:
                continue
            yield fewer
            for run in _runs(0, len(edit.tensors), source.left[1]):
                yield fewer.without(slice(0, 0), run)


def _capped(record: Record) -> Iterator[Edit]:
    """Edits that lower all large integers at once."""
    plain = Edit.of(record)
    largest = max(plain.integers, default=0)
    for cap in itertools.takewhile(lambda cap: cap < largest, (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)):
        yield replace(plain, integers=tuple(min(value, cap) for value in plain.integers))


def _towards(low: int, value: int) -> Iterator[int]:
    """Values from `low` on, in halving steps, to `value` - 1."""
    step = value - low
    while step > 0:
        yield value - step
        step //= 2


def _kept(old: int, new: int) -> Iterator[torch.Tensor]:
    """Which `new` of `old` indices to keep: the first, the last, or all but one."""
    yield torch.arange(new)
    yield torch.arange(old - new, old)
    if new == old - 1:
        everything = torch.arange(old)
        for gone in range(1, new):
            yield everything[everything != gone]


def _runs(start: int, end: int, length: int) -> Iterator[slice]:
    """At most about `PLACES` runs of this length between two places, the last one first."""
    if length == 0:
        yield slice(end, end)
        return
    places = range(end - length, start - 1, -1)
    stride = max(1, math.ceil(len(places) / PLACES))
    for place in places[::stride]:
        yield slice(place, place + length)


def _without(items: tuple[Any, ...], gone: slice) -> tuple[Any, ...]:
    return items[: gone.start] + items[gone.stop :]


def _key(record: Record) -> tuple[Sequence[int], tuple[bytes, ...]]:
    return record.integers, tuple(tensor.numpy().tobytes() for tensor in record.tensors)
