"""The record of an instance: the integers and tensors that a generator drew, in order.

A generator and a record determine an instance. Records pass between the drivers of a generator
(sweep, Hypothesis, replay) and into certificates. Their text is exact: a float is a dyadic
rational, written `p/q`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import torch

from rankcheck.text import rational_text


@dataclass(frozen=True)
class Integer:
    """An integer that was drawn from [low, high]."""

    value: int
    low: int
    high: int

    def describe(self) -> str:
        return f"the integer {self.value}"


@dataclass(frozen=True, eq=False)
class Entries:
    """A tensor with entries in [low, high], or those of a batch: shape `(n, *shape)`."""

    values: torch.Tensor
    shape: tuple[int, ...]
    low: float
    high: float

    def describe(self) -> str:
        return f"a tensor of shape {self.shape} with entries in [{self.low}, {self.high}]"


@dataclass(frozen=True, eq=False)
class Record:
    """What a generator drew: integers and tensors, in order.

    >>> values = torch.tensor([1.0, 0.5], dtype=torch.float64)
    >>> record = Record((Integer(2, 1, 4), Entries(values, (2,), -8.0, 8.0)))
    >>> record.integers, record.tensors
    ((2,), (tensor([1.0000, 0.5000], dtype=torch.float64),))
    """

    choices: tuple[Integer | Entries, ...]

    @property
    def integers(self) -> tuple[int, ...]:
        """The integers alone: the discrete shape of the instance."""
        return tuple(choice.value for choice in self.choices if isinstance(choice, Integer))

    @property
    def tensors(self) -> tuple[torch.Tensor, ...]:
        """The tensors alone: the continuous entries."""
        return tuple(choice.values for choice in self.choices if isinstance(choice, Entries))

    def with_tensors(self, tensors: Sequence[torch.Tensor]) -> Record:
        """The same record with other entries, in the same order and shapes.

        Raises:
            ValueError: if there are more or fewer tensors than the record has.
        """
        if len(tensors) != len(self.tensors):
            raise ValueError(
                f"received {len(tensors)} tensors for a record that has {len(self.tensors)}"
            )
        left = iter(tensors)
        changed = tuple(
            choice
            if isinstance(choice, Integer)
            else Entries(next(left), choice.shape, choice.low, choice.high)
            for choice in self.choices
        )
        return Record(changed)

    @property
    def count(self) -> int:
        """How many instances a batch has; 1 without tensors."""
        return len(self.tensors[0]) if self.tensors else 1

    def instance(self, index: int) -> Record:
        """The record of one instance of a batch, on the CPU and without gradients."""
        return self.at(index).detach()

    def at(self, index: int) -> Record:
        """The record of one instance of a batch."""
        return self.with_tensors([t[index] for t in self.tensors])

    def as_batch(self) -> Record:
        """The record of one instance as that of a batch."""
        return self.with_tensors([t.unsqueeze(0) for t in self.tensors])

    def select(self, index: torch.Tensor) -> Record:
        """The batch of the records at these indices of a batch."""
        return self.with_tensors([t[index] for t in self.tensors])

    def detach(self) -> Record:
        """The same numbers on the CPU, without gradients."""
        return self.with_tensors([t.detach().cpu() for t in self.tensors])

    def to_json(self) -> list[dict[str, Any]]:
        """Plain JSON with exact numbers and with the ranges.

        `rankcheck.instances.write_choices` writes the shorter form, which a person can type.
        """
        return [
            {"integer": choice.value, "low": choice.low, "high": choice.high}
            if isinstance(choice, Integer)
            else {
                "tensor": [rational_text(v) for v in choice.values.detach().reshape(-1).tolist()],
                "shape": list(choice.shape),
                "low": rational_text(choice.low),
                "high": rational_text(choice.high),
            }
            for choice in self.choices
        ]

    @classmethod
    def from_json(cls, data: object) -> Record:
        """Read what `to_json` wrote.

        Raises:
            ValueError: if it is anything else.
        """
        if not isinstance(data, list):
            raise ValueError(f"received {type(data).__name__}; a record is a list of choices")
        return cls(tuple(_choice(item) for item in data))


#: A tensor has at most so many axes.
AXES = 64
LONGEST = 2**31
_RATIONAL = re.compile(r"-?[0-9]+(/[0-9]+)?")


def exact_float(text: object) -> float:
    """Read the text of a rational number that a float64 equals.

    >>> exact_float("-3/4")
    -0.75

    Raises:
        ValueError: if it is anything else.
    """
    # No exponents: "1e999999999" is a short text for an integer that fills the memory.
    if not isinstance(text, str) or len(text) > 2500 or not _RATIONAL.fullmatch(text):
        raise ValueError(f"received {text!r:.80}; a number is written as a rational, like '-3/4'")
    try:
        exact = Fraction(text)
        value = float(exact)
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise ValueError(
            f"received {text!r:.80}; a number is written as a rational, like '-3/4'"
        ) from error
    if Fraction(value) != exact:
        raise ValueError(f"received {text!r:.80}, which no float64 equals")
    return value


def _choice(item: object) -> Integer | Entries:
    if isinstance(item, Mapping) and set(item) == {"integer", "low", "high"}:
        value, low, high = item["integer"], item["low"], item["high"]
        if not all(type(n) is int for n in (value, low, high)) or not low <= value <= high:
            raise ValueError(
                f"received {dict(item)!r:.80}; an integer choice has low <= integer <= high"
            )
        return Integer(value, low, high)
    if isinstance(item, Mapping) and set(item) == {"tensor", "shape", "low", "high"}:
        flat, shape = item["tensor"], item["shape"]
        if (
            not isinstance(shape, list)
            or len(shape) > AXES
            or not all(type(n) is int and n >= 0 for n in shape)
        ):
            raise ValueError(
                f"received the shape {shape!r:.80}; a shape is a list of at most {AXES} sizes"
            )
        if not isinstance(flat, list) or len(flat) != math.prod(shape):
            raise ValueError(
                f"received {flat!r:.80}; a tensor of shape {shape} has {math.prod(shape)} entries"
            )
        if any(n > LONGEST for n in shape):  # beside an axis of length 0
            raise ValueError(f"received the shape {shape!r:.80}; an axis is at most {LONGEST} long")
        low, high = exact_float(item["low"]), exact_float(item["high"])
        values = torch.tensor([exact_float(v) for v in flat], dtype=torch.float64).reshape(shape)
        if bool(((values < low) | (values > high)).any()):
            raise ValueError(f"received {flat!r:.80}; the entries lie in [{low}, {high}]")
        return Entries(values, tuple(shape), low, high)
    raise ValueError(
        f"received {item!r:.80}; a choice is {{integer, low, high}} or {{tensor, shape, low, high}}"
    )
