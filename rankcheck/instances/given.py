"""Records from numbers that a person writes down, in the order in which a generator draws them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import torch

from rankcheck.errors import InputError
from rankcheck.instances.record import Record, exact_float
from rankcheck.instances.source import Instances, Source


class GivenError(InputError):
    """What is given does not fit the generator: what it asks for, and what was received."""


def record_of(family: Instances, choices: Sequence[Any]) -> Record:
    """The record of an instance that is given as the sequence of what its generator draws.

    Args:
        choices: an int where the generator draws an integer (of a `choice`, the index of the
            option); where it draws a tensor of shape (m, n), m lists of n numbers, and so on. A
            number is an int, a float, a Fraction or a text such as "-3/4"; it has to be exactly a
            float64.

    Raises:
        GivenError: if the choices are too few, too many, or not of the kind, shape or range that is
            asked for.
        Rejected: if the instance breaks a hypothesis that the generator checks.
    """
    source = GivenSource(choices)
    family(source)
    source.finish()
    return source.record


class GivenSource(Source):
    """Hands a generator the choices of a person."""

    def __init__(self, choices: Sequence[Any]) -> None:
        super().__init__()
        self._given = iter(choices)
        self._count = 0

    def finish(self) -> None:
        """Check that the generator has taken everything that was given."""
        left = list(self._given)
        if left:
            raise GivenError(
                f"the generator asks for {self._count} choices; received {len(left)} more, "
                f"from {left[0]!r:.80} on"
            )

    def _next(self, asked: str) -> tuple[str, Any]:
        self._count += 1
        place = f"choice {self._count} is {asked}"
        for given in self._given:
            return place, given
        raise GivenError(f"{place}; received none")

    def _integer(self, low: int, high: int) -> int:
        place, given = self._next(f"an integer in [{low}, {high}]")
        if type(given) is not int or not low <= given <= high:
            raise GivenError(f"{place}; received {given!r:.80}")
        return given

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        asked = f"numbers in [{low}, {high}] in lists of the shape {list(shape)}"
        place, given = self._next(asked if shape else f"a number in [{low}, {high}]")
        try:
            flat = [_float(number) for number in _flat(given, shape)]
        except ValueError as error:
            raise GivenError(f"{place}; {error}") from error
        values = torch.tensor(flat, dtype=torch.float64).reshape(shape)
        if bool(((values < low) | (values > high)).any()):
            raise GivenError(f"{place}; received {given!r:.80}")
        return values


def _flat(given: Any, shape: Sequence[int]) -> Iterator[Any]:
    if not shape:
        yield given
        return
    if not isinstance(given, list | tuple) or len(given) != shape[0]:
        raise ValueError(f"received {given!r:.80} where a list of {shape[0]} was due")
    for row in given:
        yield from _flat(row, shape[1:])


def _float(number: Any) -> float:
    if isinstance(number, str):
        return exact_float(number)
    if isinstance(number, bool) or not isinstance(number, int | float | Fraction):
        raise ValueError(f"received {number!r:.80} where a number was due")
    try:
        exact = Fraction(number)
        value = float(exact)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"received {number!r:.80} where a number was due") from error
    if Fraction(value) != exact:
        raise ValueError(f"received {number!r:.80}, which is not exactly a float64")
    return value
