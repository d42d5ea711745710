"""One generator, many drivers.

A generator of instances is a function of a `Source`. It draws integers (the discrete shape) and
tensors (the continuous entries) from the source, for one instance, whoever drives it. The drivers
are in `rankcheck.theory.instances.drivers`, but for the last:

* `DrawSource`: Hypothesis draws one instance and can shrink it;
* `BatchSource`: a seeded generator draws one discrete shape and the entries of many instances, of
  which the generator gets one;
* `ScopeSource`: goes through all instances of a shape with entries from a small set, likewise;
* `ReplaySource`: repeats the numbers of a `Record`, as floats (replay), or as exact rationals
  (certify);
* `MappedSource`: repeats the record of a batch while the generator is mapped over it;
* `read_choices` (in `rankcheck.theory.instances.choices`): takes numbers that a person typed.

Every source records what it hands out. The record of an instance that one driver found gives the
same instance with any other.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import torch

from rankcheck.balls import is_ball, widths
from rankcheck.errors import contained
from rankcheck.theory.instances.promises import PROMISED, promises_of
from rankcheck.theory.instances.record import Entries, Integer, Record

T = TypeVar("T")
P = ParamSpec("P")

#: Entries smaller than this are set to zero. Products of a few entries then stay far from
#: underflow, where floats have no relative accuracy.
SMALLEST = 2.0**-24
#: The default range of an entry is [-BOUND, BOUND].
BOUND = 8.0


class Rejected(Exception):
    """The instance does not satisfy a hypothesis that its generator requires."""


class Source(ABC):
    """Hands a generator its integers and tensors, and keeps a record of them."""

    #: An instance has no batch axes; a generator that was written for some finds none.
    batch: tuple[int, ...] = ()

    def __init__(self) -> None:
        self._choices: list[Integer | Entries] = []
        #: The places of the choices of each part, and its `made_again`; None if nobody asks.
        self.parts: list[tuple[slice, Callable[[], list[int | torch.Tensor]]]] | None = None
        #: The weights of the integer that is being drawn; None if all values are as likely.
        self._weights: Sequence[float] | None = None

    @property
    def record(self) -> Record:
        """What has been drawn so far, in order."""
        return Record(tuple(self._choices))

    def integer(self, low: int, high: int, weights: Sequence[float] | None = None) -> int:
        """An integer in [low, high].

        Args:
            weights: positive numbers, how often each value is drawn relative to the others. Sweeps
                and Hypothesis use them. They are no part of the record, and an enumeration takes
                every value once.

        >>> from rankcheck.theory.instances.drivers import BatchSource
        >>> source = BatchSource(seed=1)
        >>> source.integer(1, 6)
        2
        >>> sum(source.integer(0, 1, weights=(1, 9)) for _ in range(1000)) > 800
        True

        Raises:
            ValueError: if the range is empty, or the weights are not one positive number a value.
        """
        if low > high:
            raise ValueError(
                f"integer({low}, {high}) asked for an empty range; a range has low <= high"
            )
        if weights is not None and (len(weights) != high - low + 1 or min(weights) <= 0):
            raise ValueError(
                f"received the weights {tuple(weights)} for the integers from {low} to {high}; "
                f"there is one positive weight for each"
            )
        self._weights = weights
        value = self._integer(low, high)
        self._choices.append(Integer(value, low, high))
        return value

    def choice(self, options: Sequence[T], weights: Sequence[float] | None = None) -> T:
        """One of `options`; put the simplest first.

        The record holds the index of the option, an integer; `weights` are those of `integer`.

        >>> from rankcheck.theory.instances.drivers import BatchSource
        >>> source = BatchSource(seed=1)
        >>> source.choice(("dense", "sparse"))
        'dense'

        Raises:
            ValueError: if there are no options.
        """
        if not options:
            raise ValueError("choice() received no options; it takes at least one")
        return options[self.integer(0, len(options) - 1, weights)]

    def tensor(self, *shape: int, low: float = -BOUND, high: float = BOUND) -> Any:
        """Entries in [low, high], of that shape, float64.

        A sweep mixes tensors of zeros, signs, small integers and sparse tensors in. Entries below
        2⁻²⁴ in absolute value are set to zero, if zero is in the range.

        >>> from rankcheck.theory.instances.drivers import BatchSource
        >>> source = BatchSource(seed=1)
        >>> source.tensor(2, 3).shape
        torch.Size([2, 3])
        >>> float(source.tensor(low=0.5, high=1.0).min()) >= 0.5
        True

        Raises:
            ValueError: if the range is empty or not finite.
        """
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            sizes = ", ".join(map(str, shape))
            raise ValueError(
                f"tensor({sizes}) asked for entries in [{low}, {high}]; a range is finite and has "
                f"low < high"
            )
        values = self._tensor(shape, low, high)
        self._choices.append(Entries(values, shape, low, high))
        return self._handed(values)

    def _handed(self, values: Any) -> Any:
        """What the generator gets of the values that are recorded."""
        return values

    @abstractmethod
    def _integer(self, low: int, high: int) -> int: ...

    @abstractmethod
    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> Any: ...

    def require(self, condition: Any, why: str) -> None:
        """Reject the instance unless `condition` is true, in all of its entries.

        Use it where a generator cannot satisfy a hypothesis by construction, and for a hypothesis
        that is to be checked again, exactly, when an instance is certified.

        Raises:
            Rejected: if the condition fails.
            TypeError: if the condition is not made of truth values.
        """
        self._require(truth(condition, "source.require").all(), why)

    def _require(self, holds: torch.Tensor, why: str) -> None:
        if not bool(holds):
            raise Rejected(why)


def truth(condition: Any, asked: str) -> torch.Tensor:
    """A condition as a tensor of truth values.

    Args:
        asked: what takes the condition.

    Raises:
        TypeError: if it is made of numbers. A number is not true or false, and NaN is not zero.
    """
    held = condition if is_ball(condition) else torch.as_tensor(condition)
    if is_ball(held) or held.dtype != torch.bool:
        raise TypeError(
            f"{asked} received numbers ({held.dtype}); a condition is a comparison, such as x > 0"
        )
    return held


def seed_of(*key: object) -> int:
    """A 63-bit seed made of the key, the same on every machine and in every run.

    >>> seed_of("rank.jacobian-bounds-cost", 0) == seed_of("rank.jacobian-bounds-cost", 1)
    False
    """
    digest = hashlib.sha256("\x1f".join(map(str, key)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def made_again(
    choices: Callable[..., list[int | torch.Tensor]],
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Say by which choices of its first structure a part of an instance is made: for shrinking.

    Args:
        choices: of what the function returned, and of its arguments but the source. What they make
            may differ by rounding, or where a number is out of its range.
    """

    def mark(make: Callable[..., T]) -> Callable[..., T]:
        @functools.wraps(make)
        def making(source: Source, *args: Any, **options: Any) -> T:
            first = len(source._choices)
            made = make(source, *args, **options)
            if source.parts is not None:
                again = functools.partial(choices, made, *args, **options)
                source.parts.append((slice(first, len(source._choices)), again))
            return made

        return making

    return mark


@dataclass(frozen=True)
class Instances:
    """A generator with its options: what a call of an `@instances` function returns."""

    #: The call as it was written; part of seeds and certificates.
    name: str
    build: Callable[[Source], Any]
    #: The function that was decorated; certificates attest its text.
    origin: Callable[..., Any] = field(compare=False)

    def __call__(self, source: Source) -> tuple[Any, ...]:
        """The arguments of a claim's body, drawn from the source."""
        with contained(), widths():
            built = self.build(source)
        return built if isinstance(built, tuple) else (built,)

    def __repr__(self) -> str:
        return self.name


def instances(generator: Callable[Concatenate[Source, P], Any]) -> Callable[P, Instances]:
    """Make a function `generator(source, *, ...)` a factory of `Instances`.

    The factory has the signature of the generator without the source; options are passed by name.

    >>> @instances
    ... def vectors(source, *, size=(1, 4)):
    ...     return source.tensor(source.integer(*size))
    >>> vectors(size=(2, 2))
    vectors(size=(2, 2))
    >>> vectors(width=2)
    Traceback (most recent call last):
    TypeError: vectors: got an unexpected keyword argument 'width'; vectors takes size=(1, 4)
    >>> vectors(size=2)
    Traceback (most recent call last):
    TypeError: vectors: size=2; size is a tuple, such as (1, 4), and (2, 2) is the range of 2 alone

    Raises:
        TypeError: if this decorates anything but a function; by the factory, if an option is
            unknown or missing, or passed by position, or if it is a number in place of a range.
    """
    if not inspect.isfunction(generator):
        raise TypeError(
            f"@instances decorates {type(generator).__name__}; it decorates a function of a source"
        )
    signature = _signature(generator)

    def factory(*args: P.args, **options: P.kwargs) -> Instances:
        try:
            signature.bind(*args, **options)
        except TypeError as error:
            name, known = generator.__name__, _shown(signature)
            raise TypeError(f"{name}: {error}; {name} takes {known}") from error
        for option, value in options.items():
            _check_pair(generator, option, value, signature.parameters.get(option))
        shown = ", ".join(f"{key}={value!r}" for key, value in options.items())
        return Instances(
            name=f"{generator.__name__}({shown})",
            build=lambda source: generator(source, *args, **options),
            origin=generator,
        )

    factory.__name__ = generator.__name__
    factory.__qualname__ = generator.__qualname__
    factory.__module__ = generator.__module__
    factory.__doc__ = generator.__doc__
    factory.__signature__ = signature  # type: ignore[attr-defined]
    factory.__dict__[_FACTORY] = True
    factory.__dict__[PROMISED] = promises_of(generator)
    return factory


#: The attribute that marks the factories.
_FACTORY = "__rankcheck_factory__"
G = TypeVar("G", bound=Callable[..., Any])


def is_factory(found: object) -> bool:
    """Whether this is an `@instances` function itself rather than what a call of it returns.

    >>> from rankcheck.instances import networks_at_points
    >>> is_factory(networks_at_points), is_factory(networks_at_points())
    (True, False)
    """
    return _FACTORY in getattr(found, "__dict__", ())


def _signature(generator: Callable[..., Any]) -> inspect.Signature:
    """The signature of a factory: that of its generator without the source, options by name."""
    signature = inspect.signature(generator)
    _, *options = signature.parameters.values()
    by_name = [
        option.replace(kind=option.KEYWORD_ONLY)
        if option.kind is option.POSITIONAL_OR_KEYWORD
        else option
        for option in options
    ]
    return inspect.Signature(by_name, return_annotation=Instances)


def _check_pair(generator: Any, option: str, value: Any, known: inspect.Parameter | None) -> None:
    """An option whose default is a tuple takes a tuple, and one of sizes a range of sizes.

    Raises:
        TypeError, ValueError: if it is a number; if it is empty, or ours and has a size below 1.
    """
    name, default = generator.__name__, cast(Any, getattr(known, "default", None))
    if isinstance(default, tuple) and isinstance(value, int | float):
        raise TypeError(
            f"{name}: {option}={value!r}; {option} is a tuple, such as {default!r}, and "
            f"{(value, value)!r} is the range of {value!r} alone"
        )
    ends = (*default, *value) if isinstance(default, tuple) and isinstance(value, tuple) else ()
    if [*map(type, ends)] == [int] * 4:
        least = 1 if default[0] > 0 and generator.__module__.startswith("rankcheck.") else value[0]
        if not least <= value[0] <= value[1]:
            raise ValueError(f"{name}: {option}={value!r} is no range such as {default!r}")


def _shown(signature: inspect.Signature) -> str:
    options = [
        name if option.default is option.empty else f"{name}={option.default!r}"
        for name, option in signature.parameters.items()
    ]
    return ", ".join(options) or "no options"
