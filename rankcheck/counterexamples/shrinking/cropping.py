"""Smaller shapes: lower integers, fewer tensors, and the recorded entries cropped to what is left.

Nothing here knows what the integers mean. The generator runs again with a lower integer and is
handed the recorded tensors in their order, each cropped (or padded with zeros) to the shape that it
asks for now. Where it asks for fewer integers or tensors than were recorded, as when a layer is
dropped, each run of them that could be the one to go is tried.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from rankcheck.counterexamples.shrinking.clock import Clock
from rankcheck.instances.record import Integer, Record
from rankcheck.instances.source import Instances, Rejected, Source

#: Where a run can be dropped at more places than this, places evenly apart are tried.
PLACES = 24


@dataclass(frozen=True, eq=False)
class Edit:
    """What a generator is to be handed instead of a record.

    Attributes:
        keep: by (old size, new size) of an axis, the indices that stay; the leading ones otherwise.
    """

    integers: tuple[int, ...]
    tensors: tuple[torch.Tensor, ...]
    keep: tuple[tuple[int, int], torch.Tensor] | None = None

    @classmethod
    def of(cls, record: Record) -> Edit:
        """The record as it is."""
        return cls(record.integers, record.tensors)

    def without(self, integers: slice, tensors: slice) -> Edit:
        """The same without these."""
        return replace(
            self,
            integers=_without(self.integers, integers),
            tensors=_without(self.tensors, tensors),
        )


class CropSource(Source):
    """Hands out an edited record, fitted to whatever the generator asks for."""

    def __init__(self, edit: Edit) -> None:
        super().__init__()
        self._integers = list(edit.integers)
        self._tensors = list(edit.tensors)
        self._keep = edit.keep

    @property
    def left(self) -> tuple[int, int]:
        """How many integers and tensors were not asked for."""
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

    Where the number of axes differs, the entries are taken in their order.
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
    """What cropping makes smaller: entries, then choices, then the integers."""
    return (
        sum(tensor.numel() for tensor in record.tensors),
        len(record.choices),
        sum(choice.value - choice.low for choice in record.choices if isinstance(choice, Integer)),
    )


def crop(
    family: Instances, record: Record, interesting: Callable[[Record], bool], clock: Clock
) -> Record:
    """Lower the integers of a record as far as it stays interesting."""
    cropper = _Cropper(family, interesting, clock)
    current = cropper.first(record, _capped(record)) or record
    place = 0
    while place < len(current.integers) and not clock.over():
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
    clock: Clock

    def first(self, record: Record, edits: Iterable[Edit]) -> Record | None:
        """The first edit that makes the record smaller and stays interesting."""
        seen = {_key(record)}
        for edit in edits:
            if self.clock.over():
                return None
            cropped = self.run(edit)
            if cropped is None or size(cropped.record) >= size(record):
                continue
            key = _key(cropped.record)
            if key not in seen and self.interesting(cropped.record):
                return cropped.record
            seen.add(key)
        return None

    def run(self, edit: Edit) -> CropSource | None:
        """The generator on an edited record; None where it rejects that."""
        source = CropSource(edit)
        try:
            self.family(source)
        except (Rejected, ArithmeticError, RuntimeError, ValueError):
            # A counterexample is at hand: a generator that fails on an edit must not hide it.
            return None
        return source

    def lowered(self, record: Record, place: int) -> Iterator[Edit]:
        """Edits that lower one integer, the lowest first, with what may go with it."""
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
        """Where integers or tensors are left over: the edit without some run of as many."""
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
    """Which of `old` indices stay when `new` do: the first, the last, all but each single one."""
    yield torch.arange(new)
    yield torch.arange(old - new, old)
    if new == old - 1:
        everything = torch.arange(old)
        for gone in range(1, new):
            yield everything[everything != gone]


def _runs(start: int, end: int, length: int) -> Iterator[slice]:
    """The runs of some length between two places; of many, some evenly apart. The last first."""
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
