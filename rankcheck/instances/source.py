"""One generator, four drivers.

A generator of instances is a function of a `Source`, which hands out integers (the discrete shape)
and tensors (the continuous entries). The driver behind it decides what these are:

* `DrawSource`: drawn by Hypothesis, one instance, every entry a dyadic number that shrinks;
* `BatchSource`: drawn by a seeded generator, one discrete shape and a leading batch axis;
* `ReplaySource`: the numbers of a `Record`, as floats (replay), as leaf tensors that carry
  gradients (descend), or as exact rationals (certify).

Every source records what it hands out, so that an instance found by one driver can be handed to any
other as the same instance.
"""

from __future__ import annotations

import hashlib
import math
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

import torch
from hypothesis import strategies as st

from rankcheck.instances.record import Entries, Integer, Record

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]

#: Entries smaller than this are zero: products of a few of them stay far from underflow, where
#: relative errors lose their meaning.
SMALLEST = 2.0**-24
#: The range of an entry for which the generator names none.
BOUND = 8.0


class Rejected(Exception):
    """The instance lies outside the hypotheses of its claim."""


class Source(ABC):
    """Hands a generator its integers and tensors, and keeps a record of them."""

    def __init__(self, batch: tuple[int, ...] = ()) -> None:
        #: The leading batch axes of every tensor: `()` where one instance is drawn.
        self.batch = batch
        #: Which instances of the batch lie inside the hypotheses; why the others do not.
        self.valid = torch.ones(batch, dtype=torch.bool)
        self.reasons: dict[str, int] = {}
        self._choices: list[Integer | Entries] = []

    @property
    def record(self) -> Record:
        """What has been handed out so far, in order."""
        return Record(tuple(self._choices))

    def integer(self, low: int, high: int) -> int:
        """An integer in [low, high], the same for the whole batch.

        Raises:
            ValueError: if the range is empty.
        """
        if low > high:
            raise ValueError(
                f"an integer is drawn from a range low <= high; received {low}, {high}"
            )
        value = self._integer(low, high)
        self._choices.append(Integer(value, low, high))
        return value

    def choice(self, options: Sequence[T]) -> T:
        """One of `options`, the same for the whole batch; put the simplest first."""
        if not options:
            raise ValueError("a choice is made from a non-empty sequence; received none")
        return options[self.integer(0, len(options) - 1)]

    def tensor(self, *shape: int, low: float = -BOUND, high: float = BOUND) -> Any:
        """Entries in [low, high], of shape `(*batch, *shape)`, float64.

        Zeros, ones, small integers and sparse patterns are mixed in. An entry below 2⁻²⁴ in
        absolute value is zero (if zero is in the range).

        Raises:
            ValueError: if the range is empty or not finite.
        """
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(
                f"entries are drawn from a finite range low < high; received {low}, {high}"
            )
        values = self._tensor(shape, low, high)
        self._choices.append(Entries(values, shape, low, high))
        return values

    @abstractmethod
    def _integer(self, low: int, high: int) -> int: ...

    @abstractmethod
    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> Any: ...

    def require(self, condition: Any, why: str) -> None:
        """Keep the instances on which `condition`, of shape `(*batch)` or wider, holds.

        For what cannot be had by construction, and to have a hypothesis re-checked when an
        instance is certified. The reason is reported with the rejected instances.

        Raises:
            Rejected: if the source has no batch axis and the condition fails. In a batch, `valid`
                becomes false there.
        """
        holds = over_batch(torch.as_tensor(condition), self.batch, torch.all)
        valid = self.valid.to(holds.device)
        lost = int((valid & ~holds).sum())
        if not lost:
            return
        if not self.batch:
            raise Rejected(why)
        self.reasons[why] = self.reasons.get(why, 0) + lost
        self.valid = valid & holds


@lru_cache(maxsize=256)
def _floats(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False, allow_infinity=False, allow_subnormal=False)


class DrawSource(Source):
    """Hypothesis draws; one instance, no batch axis."""

    def __init__(self, draw: Draw) -> None:
        super().__init__()
        self._draw = draw

    def _integer(self, low: int, high: int) -> int:
        return int(self._draw(st.integers(low, high)))

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        entries = _floats(low, high)
        drawn = [self._draw(entries) for _ in range(math.prod(shape))]
        values = torch.tensor(drawn, dtype=torch.float64).reshape(shape)
        return _without_dust(values, low, high)


class BatchSource(Source):
    """A seeded generator draws; one discrete shape, `size` instances along a leading axis.

    `size=None` draws a single instance without a batch axis, for bodies that cannot carry one.
    The same seed gives the same batch on every machine and device.
    """

    def __init__(self, seed: int, size: int | None, device: torch.device | str = "cpu") -> None:
        super().__init__(() if size is None else (size,))
        self._device = device
        self._random = random.Random(seed)
        self._generator = torch.Generator().manual_seed(seed)

    def _integer(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        values = _mixture(self.batch, math.prod(shape), low, high, self._generator)
        return values.reshape((*self.batch, *shape)).to(self._device)


class ReplaySource(Source):
    """The numbers of a record; the same instance, in the kind of number that `convert` makes.

    `convert` is applied to the values of each tensor: `float_entries` for replay, a function that
    returns leaves for descent, `BallArray.exact` for a proof.

    Raises:
        ReplayError: where the generator asks for something else than what was recorded.
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
        """Check that the generator has taken everything that was recorded."""
        if (left := next(self._recorded, None)) is not None:
            raise ReplayError("nothing more", left)


class ReplayError(ValueError):
    """A record does not fit the generator that it is replayed with."""

    def __init__(self, asked: str, recorded: Integer | Entries | None) -> None:
        has = "is at its end" if recorded is None else f"has {recorded.describe()}"
        super().__init__(f"the generator asks for {asked}, but the record {has}")


def over_batch(values: Any, batch: tuple[int, ...], reduce: Callable[..., Any]) -> Any:
    """Reduce the axes of `values` behind the batch axes: shape `(*batch, …)` to `(*batch)`."""
    if values.ndim < len(batch):
        return values.expand(batch)
    if values.ndim == len(batch):
        return values
    return reduce(values.reshape((*values.shape[: len(batch)], -1)), -1)


def seed_of(*key: object) -> int:
    """A 63-bit seed that depends on nothing but the key: the same on every machine and run."""
    digest = hashlib.sha256("\x1f".join(map(str, key)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _without_dust(values: torch.Tensor, low: float, high: float) -> torch.Tensor:
    if not low <= 0.0 <= high:
        return values
    return torch.where(values.abs() < SMALLEST, 0.0, values)


#: Of sixteen instances of a batch, so many have entries of each kind; the rest are Gaussian.
_ZERO, _SIGNS, _INTEGERS, _SPARSE, _UNIFORM = 1, 2, 4, 6, 8


def _mixture(
    batch: tuple[int, ...], entries: int, low: float, high: float, generator: torch.Generator
) -> torch.Tensor:
    """Entries of mixed kinds, shape `(*batch, entries)`: each instance has a kind of its own."""

    def uniform(*shape: int) -> torch.Tensor:
        return torch.rand(*batch, *shape, dtype=torch.float64, generator=generator)

    kind = torch.floor(16 * uniform(1))
    scale = torch.exp2(4 * uniform(1) - 2.5)
    normal = torch.randn(*batch, entries, dtype=torch.float64, generator=generator) * scale
    even = uniform(entries)
    values = torch.where(kind < _INTEGERS, torch.round(normal), normal)
    values = torch.where(kind < _SIGNS, torch.sign(normal), values)
    values = torch.where(kind < _ZERO, 0.0, values)
    values = torch.where((kind >= _INTEGERS) & (kind < _SPARSE) & (even < 0.5), 0.0, values)
    if low > 0:
        values = low + values.abs()
    elif low == 0:
        values = values.abs()
    elif high < 0:
        values = high - values.abs()
    elif high == 0:
        values = -values.abs()
    values = torch.where(
        (kind >= _SPARSE) & (kind < _UNIFORM), low + (high - low) * even, values
    ).clamp(low, high)
    return _without_dust(values, low, high)


@dataclass(frozen=True)
class Instances:
    """A named generator of instances: what `@instances` makes of a function of a source."""

    name: str
    build: Callable[[Source], Any]
    #: The function that was decorated; its source is part of what a certificate attests.
    origin: Callable[..., Any] = field(compare=False)

    def __call__(self, source: Source) -> tuple[Any, ...]:
        """The arguments of a claim body."""
        built = self.build(source)
        return built if isinstance(built, tuple) else (built,)

    def __repr__(self) -> str:
        return self.name


def instances(generator: Callable[..., Any]) -> Callable[..., Instances]:
    """Make a function `generator(source, **options)` a factory of `Instances`.

    The factory takes the options, so that `networks_at_points(depth=(2, 3))` is a family.
    """

    def factory(**options: Any) -> Instances:
        shown = ", ".join(f"{key}={value!r}" for key, value in options.items())
        return Instances(
            name=f"{generator.__name__}({shown})",
            build=lambda source: generator(source, **options),
            origin=generator,
        )

    factory.__name__ = generator.__name__
    factory.__qualname__ = generator.__qualname__
    factory.__module__ = generator.__module__
    factory.__doc__ = generator.__doc__
    return factory
