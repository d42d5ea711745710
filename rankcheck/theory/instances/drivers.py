"""Drivers: sources that draw by Hypothesis or by seed, repeat a record, or go through a scope.

A sweep draws many instances of one discrete shape at a time: `BatchSource` and `ScopeSource` give
the generator one of them, and record them all. `drawn` runs a generator on such a source, and
`MappedSource` then repeats the record while `torch.func.vmap` maps the generator over it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from rankcheck.errors import InputError, short_of_memory
from rankcheck.theory.instances.mixture import mixture
from rankcheck.theory.instances.record import Entries, Integer, Record
from rankcheck.theory.instances.scope import ScopeShape
from rankcheck.theory.instances.source import SMALLEST, Instances, Rejected, Source

Draw = Callable[[st.SearchStrategy[Any]], Any]
#: Instances are numbered by int64.
MOST = 2**63
#: A generator that raises on the first instance of a batch gets so many of them.
TRIED = 8


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

    def _handed(self, values: torch.Tensor) -> torch.Tensor:
        return values.clone()


class Drawing(Source):
    """Draws `size` instances of one discrete shape, and gives the generator the last of them.

    The record has all of them, along a leading axis. A hypothesis that the last one breaks rejects
    nothing here: of the others nothing is known.
    """

    #: The place of the given instance in the batch.
    at = -1

    def __init__(self, size: int, device: torch.device | str = "cpu") -> None:
        super().__init__()
        self.size = size
        #: A hypothesis that the given instance breaks; empty if there is none.
        self.unmet = ""
        self.device = device

    def _handed(self, values: torch.Tensor) -> torch.Tensor:
        return values[self.at].clone()

    def _require(self, holds: torch.Tensor, why: str) -> None:
        if not bool(holds):
            self.unmet = self.unmet or why


class _Another(Drawing):
    """Gives the generator another instance of what was drawn, and goes on drawing where it ends."""

    def __init__(self, drawing: Drawing, at: int) -> None:
        super().__init__(drawing.size)
        self._drawing, self.at = drawing, at

    def _repeated(self, kind: type[Integer | Entries]) -> Any:
        choices = self._drawing._choices
        if len(self._choices) == len(choices):
            return None
        choice = choices[len(self._choices)]
        if not isinstance(choice, kind):
            raise ReplayError("something else for another instance", choice)
        return choice

    def _integer(self, low: int, high: int) -> int:
        known = self._repeated(Integer)
        return self._drawing.integer(low, high, self._weights) if known is None else known.value

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        known = self._repeated(Entries)
        if known is None:
            self._drawing.tensor(*shape, low=low, high=high)
            known = self._drawing._choices[-1]
        if known.shape != shape:
            raise ReplayError(f"a tensor of shape {shape} for another instance", known)
        return known.values


@dataclass(frozen=True, eq=False)
class Broken:
    """An instance on which a generator raised before everything was drawn.

    Attributes:
        record: what was drawn for it.
        unmet: a hypothesis that it breaks; empty if there is none.
    """

    record: Record
    error: Exception
    unmet: str


def drawn(family: Instances, source: Drawing) -> tuple[Any, int] | list[Broken]:
    """Let a generator draw a batch; what it draws is the record of the source.

    Where the generator raises on the last instance, it gets others, spread over the batch.

    Returns:
        an instance, None if it breaks a hypothesis, and its place in the batch; or those on which
        the generator raised, if it did on all that it got: the record is then cut off.
    """
    broken: list[Broken] = []
    places = dict.fromkeys(number * source.size // TRIED for number in range(1, TRIED + 1))
    for at in (place - 1 for place in reversed(places) if place):
        given = _Another(source, at) if broken else source
        try:
            instance = family(given)
        except (InputError, ReplayError):
            raise
        except Exception as error:
            if short_of_memory(error):
                raise
            unmet = str(error) if isinstance(error, Rejected) else given.unmet
            broken.append(Broken(source.record.instance(at), error, unmet))
        else:
            return None if given.unmet else instance, at
    return broken


class BatchSource(Drawing):
    """A seeded generator draws the entries of a batch.

    The same seed gives the same batch on every machine and device.
    """

    def __init__(self, seed: int, size: int = 1, device: torch.device | str = "cpu") -> None:
        super().__init__(size, device)
        self._random = random.Random(seed)
        self._generator = np.random.Generator(np.random.SFC64(seed))

    def _integer(self, low: int, high: int) -> int:
        if self._weights is None:
            return self._random.randint(low, high)
        return self._random.choices(range(low, high + 1), self._weights)[0]

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        values = mixture(self.size, math.prod(shape), low, high, self._generator)
        values[abs(values) < _smallest(low, high)] = 0.0
        return torch.from_numpy(values).reshape((self.size, *shape)).to(self.device)


class ReplaySource(Source):
    """Hands out the numbers of a record again.

    >>> source = BatchSource(seed=1)
    >>> drawn = source.tensor(source.integer(1, 3))
    >>> replay = ReplaySource(source.record.instance(0))
    >>> bool((replay.tensor(replay.integer(1, 3)) == drawn).all())
    True

    Args:
        record: of one instance.
        convert: applied to the values of each tensor: a copy for replay, as a body may write into
            its arguments, and `BallArray.exact` for a proof.

    Raises:
        ReplayError: when the generator draws something else than what was recorded.
    """

    def __init__(
        self,
        record: Record,
        convert: Callable[[torch.Tensor], Any] = torch.clone,
    ) -> None:
        super().__init__()
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
        self._check_range(choice, low, high)
        return self._convert(choice.values)

    def _check_range(self, choice: Entries, low: float, high: float) -> None:
        if bool(((choice.values < low) | (choice.values > high)).any()):
            raise ReplayError(f"entries in [{low}, {high}]", choice)

    def finish(self) -> None:
        """Check that the generator has drawn everything that was recorded."""
        if (left := next(self._recorded, None)) is not None:
            raise ReplayError("nothing more", left)


class MappedSource(ReplaySource):
    """Repeats the record of a batch, for a generator that is mapped over its instances.

    Args:
        record: of the batch, for what was drawn apart from its entries.
        tensors: the entries of one instance, as the map gives them.

    Attributes:
        valid: whether the instance satisfies the hypotheses.
        failed: by hypothesis, whether the instance breaks it and none before.
    """

    def __init__(self, record: Record, tensors: Sequence[torch.Tensor]) -> None:
        super().__init__(record.with_tensors(tensors))
        self.valid = torch.ones((), dtype=torch.bool, device=tensors[0].device)
        self.failed: dict[str, torch.Tensor] = {}

    def _check_range(self, choice: Entries, low: float, high: float) -> None:
        pass  # values cannot be read

    def _require(self, holds: torch.Tensor, why: str) -> None:
        failed = self.valid & ~holds
        self.failed[why] = self.failed[why] | failed if why in self.failed else failed
        self.valid = self.valid & holds


class ReplayError(ValueError):
    """A record does not fit the generator that it is replayed with."""

    def __init__(self, asked: str, recorded: Integer | Entries | None) -> None:
        has = "is at its end" if recorded is None else f"has {recorded.describe()}"
        super().__init__(f"the record {has}, but the generator draws {asked}")


def _smallest(low: float, high: float) -> float:
    """What is smaller in absolute value is drawn as zero, which may be outside of the range."""
    return SMALLEST if low <= 0.0 <= high else 0.0


class ScopeSource(Drawing):
    """The instances `start`, ..., `start + size - 1` of a shape, as a batch.

    The entries of instance number i are the digits of i in the mixed radix of the grids; the first
    entry drawn is the most significant digit.

    Raises:
        ValueError: if the shape has no such instances, or 2⁶³ of them or more.
    """

    def __init__(
        self,
        shape: ScopeShape,
        start: int,
        size: int,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(size, device)
        self._radix = shape.instances
        if self._radix >= MOST:
            raise ValueError(
                f"received a shape with {self._radix} instances; they are numbered below 2^63"
            )
        if start < 0 or size < 1 or start + size > self._radix:
            raise ValueError(
                f"received start={start} and size={size} for a shape with {self._radix} instances"
            )
        self._integers = iter(shape.integers)
        self._grids = iter(shape.grids)
        self._index = torch.arange(start, start + size, dtype=torch.int64).unsqueeze(-1)

    def _integer(self, low: int, high: int) -> int:
        return next(self._integers)

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        _, values = next(self._grids)
        base, count = len(values), math.prod(shape)
        self._radix //= base**count
        powers = [self._radix * base**place for place in reversed(range(count))]
        digits = self._index // torch.tensor(powers, dtype=torch.int64) % base
        entries = torch.tensor(values, dtype=torch.float64)[digits]
        return entries.reshape((self.size, *shape)).to(self.device)
