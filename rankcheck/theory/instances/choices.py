"""An instance as text: the list of what its generator draws, in order.

An integer is written as an integer. A tensor of shape (m, n) is written as m lists of n numbers; a
number is an integer, or the exact rational as text, such as "-3/4". The list is plain JSON and can
be typed by hand. It holds no ranges, because the generator that reads it knows them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import torch

from rankcheck.errors import InputError
from rankcheck.text import rational_text
from rankcheck.theory.instances.record import Integer, Record, exact_float
from rankcheck.theory.instances.source import Instances, Source


class ChoicesError(InputError):
    """The choices do not fit the generator: what was received, and what the generator draws."""


def write_choices(record: Record) -> list[Any]:
    """The record of one instance as a list of plain JSON values; `read_choices` reads it.

    -0.0 is written as 0, the same number.

    >>> from rankcheck.theory.instances.record import Entries, Integer, Record
    >>> values = torch.tensor([0.5, 3.0, -0.375], dtype=torch.float64)
    >>> write_choices(Record((Integer(3, 1, 4), Entries(values, (3,), -8.0, 8.0))))
    [3, ['1/2', 3, '-3/8']]

    Raises:
        ValueError: if the record is one of a batch, or an entry is not finite.
    """
    written: list[Any] = []
    for choice in record.choices:
        if isinstance(choice, Integer):
            written.append(choice.value)
            continue
        if tuple(choice.values.shape) != choice.shape:
            raise ValueError(
                f"received a batch: entries {tuple(choice.values.shape)} of tensors of shape "
                f"{choice.shape}; choices are written for one instance, `record.instance(index)`"
            )
        if not bool(torch.isfinite(choice.values).all()):
            raise ValueError("received an entry that is infinite or nan; choices are finite")
        written.append(_write(choice.values.detach().tolist()))
    return written


def _write(values: Any) -> Any:
    if isinstance(values, list):
        return [_write(value) for value in values]
    return int(values) if values.is_integer() else rational_text(values)


def read_choices(
    family: Instances, choices: Sequence[Any], *, check_hypotheses: bool = True
) -> Record:
    """The record of an instance that is given as the list of what its generator draws.

    The generator runs in float64 on the choices, and its ranges become those of the record:
    ``read_choices(family, write_choices(record))`` is the record again.

    >>> from rankcheck.instances import matrices
    >>> record = read_choices(matrices(), [1, 2, 0, [["1/2", -3]]])  # 1 × 2, dense
    >>> record.integers
    (1, 2, 0)
    >>> record.tensors
    (tensor([[ 0.5000, -3.0000]], dtype=torch.float64),)

    Args:
        choices: an integer where the generator draws an integer (the index of the option, where it
            draws a `choice`); nested lists of numbers where it draws a tensor, a plain number for
            the shape (). A number is an int, a float, a Fraction, or text such as "-3/4", and has
            to be a float64 exactly.
        check_hypotheses: whether `Source.require` rejects. Floats may reject by rounding an
            instance that satisfies its hypotheses exactly; pass False where it is judged on balls
            afterwards.

    Raises:
        ChoicesError: if there are too few choices or too many, or one is not of the kind, shape or
            range that the generator draws.
        Rejected: if the instance does not satisfy a hypothesis that the generator checks.
    """
    if not isinstance(choices, list | tuple):
        raise ChoicesError(
            f"received {_short(choices)}; an instance is the list of what {family} draws"
        )
    source = _GivenSource(str(family), choices, check_hypotheses)
    family(source)
    source.finish()
    return source.record


class _GivenSource(Source):
    """Hands a generator the choices of a list."""

    def __init__(self, name: str, choices: Sequence[Any], check_hypotheses: bool) -> None:
        super().__init__()
        self._name = name
        self._given = choices
        self._used = 0
        self._check = check_hypotheses

    def require(self, condition: Any, why: str) -> None:
        if self._check:
            super().require(condition, why)

    def finish(self) -> None:
        """Check that the generator has drawn everything that was given."""
        if self._used < len(self._given):
            raise ChoicesError(
                f"received {len(self._given)} choices, but {self._name} draws {self._used}; "
                f"the first that is left over is {_short(self._given[self._used])}"
            )

    def _next(self, drawn: str) -> tuple[Any, str]:
        """The next choice, and the end of a message about it."""
        self._used += 1
        rule = f"choice {self._used} of {self._name} is {drawn}"
        if self._used > len(self._given):
            raise ChoicesError(f"received {len(self._given)} choices, which are too few; {rule}")
        return self._given[self._used - 1], rule

    def _integer(self, low: int, high: int) -> int:
        given, rule = self._next(f"an integer in [{low}, {high}]")
        if type(given) is not int or not low <= given <= high:
            raise ChoicesError(f"received {_short(given)}; {rule}")
        return given

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        kind = f"a tensor of shape {shape} with entries" if shape else "a number"
        given, rule = self._next(f"{kind} in [{low}, {high}]")
        try:
            flat = list(_flat(given, shape, low, high))
        except ValueError as error:
            raise ChoicesError(f"received {error}; {rule}") from error
        return torch.tensor(flat, dtype=torch.float64).reshape(shape)


def _flat(given: Any, shape: Sequence[int], low: float, high: float) -> Iterator[float]:
    """The numbers of nested lists of that shape, in order."""
    if not shape:
        value = _float(given)
        if not low <= value <= high:
            raise ValueError(_short(given))
        yield value
        return
    if not isinstance(given, list | tuple) or len(given) != shape[0]:
        raise ValueError(f"{_short(given)} in place of a list of {shape[0]}")
    for row in given:
        yield from _flat(row, shape[1:], low, high)


def _float(number: Any) -> float:
    if isinstance(number, str):
        try:
            return exact_float(number)
        except ValueError as error:
            raise ValueError(str(error).removeprefix("received ")) from error
    if isinstance(number, bool) or not isinstance(number, int | float | Fraction):
        raise ValueError(f"{_short(number)} in place of a number")
    try:
        value = float(number)
        exact = math.isfinite(value) and Fraction(value) == Fraction(number)
    except OverflowError:
        exact = False
    if not exact:
        raise ValueError(f"{_short(number)}, which no float64 equals")
    return value


def _short(given: Any) -> str:
    """The first 80 characters of what was received."""
    try:
        return f"{given!r:.80}"
    except ValueError:  # Python does not write integers of more than 4300 digits
        return "a number of too many digits"
