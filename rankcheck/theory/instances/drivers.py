"""Drivers: sources that draw by Hypothesis or by seed, repeat a record, or go through a scope."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from rankcheck.theory.instances.mixture import mixture
from rankcheck.theory.instances.record import Entries, Integer, Record
from rankcheck.theory.instances.scope import ScopeShape
from rankcheck.theory.instances.source import SMALLEST, Source

Draw = Callable[[st.SearchStrategy[Any]], Any]
#: Instances are numbered by int64.
MOST = 2**63


@lru_cache(maxsize=256)
def _floats(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False, allow_infinity=False, allow_subnormal=False)


class _WeightedIntegers(st.SearchStrategy[int]):
    """Integers in [low, high] by their weights, as one choice of Hypothesis each.

    The public `sampled_from` would draw the index of a list instead, and a record could not be
    handed to Hypothesis. `tests/theory/instances/test_source.py` fails if this private interface
    changes.
    """

    #: Hypothesis wants weights that sum to less than 1; it spreads the rest evenly.
    SUM = 0.96875

    def __init__(self, low: int, high: int, weights: Sequence[float]) -> None:
        super().__init__()
        share = self.SUM / sum(weights)
        self._range = low, high
        self._weights = {low + i: share * weight for i, weight in enumerate(weights)}

    def do_draw(self, data: Any) -> int:
        return int(data.draw_integer(*self._range, weights=self._weights))


class DrawSource(Source):
    """Hypothesis draws one instance, without a batch axis."""

    def __init__(self, draw: Draw) -> None:
        super().__init__()
        self._draw = draw

    def _integer(self, low: int, high: int) -> int:
        if self._weights is None:
            return int(self._draw(st.integers(low, high)))
        return int(self._draw(_WeightedIntegers(low, high, self._weights)))

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        entries = _floats(low, high)
        drawn = [self._draw(entries) for _ in range(math.prod(shape))]
        values = torch.tensor(drawn, dtype=torch.float64).reshape(shape)
        return torch.where(values.abs() < _smallest(low, high), 0.0, values)


class BatchSource(Source):
    """A seeded generator draws one discrete shape and `size` instances along a leading axis.

    `size=None` draws one instance without a batch axis, for bodies that do not take a batch.
    The same seed gives the same batch on every machine and device.
    """

    def __init__(self, seed: int, size: int | None, device: torch.device | str = "cpu") -> None:
        super().__init__(() if size is None else (size,))
        self._device = device
        self._random = random.Random(seed)
        self._generator = np.random.Generator(np.random.SFC64(seed))

    def _integer(self, low: int, high: int) -> int:
        if self._weights is None:
            return self._random.randint(low, high)
        return self._random.choices(range(low, high + 1), self._weights)[0]

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        values = mixture(math.prod(self.batch), math.prod(shape), low, high, self._generator)
        values[abs(values) < _smallest(low, high)] = 0.0
        return torch.from_numpy(values).reshape((*self.batch, *shape)).to(self._device)


class ReplaySource(Source):
    """Hands out the numbers of a record again.

    >>> source = BatchSource(seed=1, size=None)
    >>> drawn = source.tensor(source.integer(1, 3))
    >>> replay = ReplaySource(source.record)
    >>> bool((replay.tensor(replay.integer(1, 3)) == drawn).all())
    True

    Args:
        convert: applied to the values of each tensor: nothing for replay, a function that returns
            leaves for descent, `BallArray.exact` for a proof.

    Raises:
        ReplayError: when the generator draws something else than what was recorded.
    """

    def __init__(
        self,
        record: Record,
        convert: Callable[[torch.Tensor], Any] | None = None,
        batch: tuple[int, ...] = (),
    ) -> None:
        super().__init__(batch)
        self._recorded = iter(record.choices)
        self._convert = convert

    def _integer(self, low: int, high: int) -> int:
        choice = next(self._recorded, None)
        if not isinstance(choice, Integer) or not low <= choice.value <= high:
            raise ReplayError(f"an integer in [{low}, {high}]", choice)
        return choice.value

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> Any:
        choice = next(self._recorded, None)
        if not isinstance(choice, Entries) or choice.shape != shape:
            raise ReplayError(f"a tensor of shape {shape}", choice)
        outside = (choice.values < low) | (choice.values > high)
        if bool(outside.any()):
            raise ReplayError(f"entries in [{low}, {high}]", choice)
        return choice.values if self._convert is None else self._convert(choice.values)

    def finish(self) -> None:
        """Check that the generator has drawn everything that was recorded."""
        if (left := next(self._recorded, None)) is not None:
            raise ReplayError("nothing more", left)


class ReplayError(ValueError):
    """A record does not fit the generator that it is replayed with."""

    def __init__(self, asked: str, recorded: Integer | Entries | None) -> None:
        has = "is at its end" if recorded is None else f"has {recorded.describe()}"
        super().__init__(f"the record {has}, but the generator draws {asked}")


def _smallest(low: float, high: float) -> float:
    """What is smaller in absolute value is drawn as zero, which may be outside of the range."""
    return SMALLEST if low <= 0.0 <= high else 0.0


class ScopeSource(Source):
    """The instances `start`, ..., `start + size - 1` of a shape, as a batch.

    The entries of instance number i are the digits of i in the mixed radix of the grids; the first
    entry drawn is the most significant digit. `size=None` gives instance `start` alone, without a
    batch axis.

    Raises:
        ValueError: if the shape has no such instances, or 2⁶³ of them or more.
    """

    def __init__(
        self,
        shape: ScopeShape,
        start: int,
        size: int | None,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(() if size is None else (size,))
        count, self._radix = 1 if size is None else size, shape.instances
        if self._radix >= MOST:
            raise ValueError(
                f"received a shape with {self._radix} instances; they are numbered below 2^63"
            )
        if start < 0 or count < 1 or start + count > self._radix:
            raise ValueError(
                f"received start={start} and size={size} for a shape with {self._radix} instances"
            )
        self._integers = iter(shape.integers)
        self._grids = iter(shape.grids)
        self._device = device
        self._index = torch.arange(start, start + count, dtype=torch.int64).unsqueeze(-1)

    def _integer(self, low: int, high: int) -> int:
        return next(self._integers)

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        _, values = next(self._grids)
        base, count = len(values), math.prod(shape)
        self._radix //= base**count
        powers = [self._radix * base**place for place in reversed(range(count))]
        digits = self._index // torch.tensor(powers, dtype=torch.int64) % base
        entries = torch.tensor(values, dtype=torch.float64)[digits]
        return entries.reshape((*self.batch, *shape)).to(self._device)
