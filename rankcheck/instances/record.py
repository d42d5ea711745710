"""The record of an instance: the integers and tensors that a generator was given, in order.

A record is all that identifies an instance. It goes from the search to Hypothesis and into a
certificate, as exact numbers: a float is a dyadic rational, written `p/q`.
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
    """A tensor of shape `(*batch, *shape)` with entries in [low, high]."""

    values: torch.Tensor
    shape: tuple[int, ...]
    low: float
    high: float

    def describe(self) -> str:
        return f"a tensor of shape {self.shape} with entries in [{self.low}, {self.high}]"


@dataclass(frozen=True, eq=False)
class Record:
    """What a generator was given. `tensors` and `integers` are its two halves."""

    choices: tuple[Integer | Entries, ...]

    @property
    def integers(self) -> tuple[int, ...]:
        """The discrete shape."""
        return tuple(choice.value for choice in self.choices if isinstance(choice, Integer))

    @property
    def tensors(self) -> tuple[torch.Tensor, ...]:
        """The continuous entries: the leaves of a descent."""
        return tuple(choice.values for choice in self.choices if isinstance(choice, Entries))

    def with_tensors(self, tensors: Sequence[torch.Tensor]) -> Record:
        """The same record with other entries, in the same order and shapes.

        Raises:
            ValueError: if there are more or fewer tensors than the record has.
        """
        if len(tensors) != len(self.tensors):
            raise ValueError(f"a record takes {len(self.tensors)} tensors; received {len(tensors)}")
        left = iter(tensors)
        changed = tuple(
            choice
            if isinstance(choice, Integer)
            else Entries(next(left), choice.shape, choice.low, choice.high)
            for choice in self.choices
        )
        return Record(changed)

    def instance(self, index: int) -> Record:
        """The record of one instance of a batch with one leading axis."""
        return self.with_tensors([t[index].detach().cpu() for t in self.tensors])

    def select(self, index: torch.Tensor) -> Record:
        """The records of some instances of a batch, again as a batch."""
        return self.with_tensors([t[index] for t in self.tensors])

    def detach(self) -> Record:
        """The same numbers without a graph behind them, on the CPU."""
        return self.with_tensors([t.detach().cpu() for t in self.tensors])

    def to_json(self) -> list[dict[str, Any]]:
        """Plain JSON with exact numbers."""
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
            ValueError: if it is anything else, with the rule that it breaks.
        """
        if not isinstance(data, list):
            raise ValueError(f"a record is a list of choices; received {type(data).__name__}")
        return cls(tuple(_choice(item) for item in data))


_RATIONAL = re.compile(r"-?[0-9]+(/[0-9]+)?")


def exact_float(text: object) -> float:
    """Read a rational that is exactly a float.

    Raises:
        ValueError: if it is not one.
    """
    # No exponents: "1e999999999" is short, and the integer that it means is not.
    if not isinstance(text, str) or len(text) > 2500 or not _RATIONAL.fullmatch(text):
        raise ValueError(f"a number is written as a rational, like '-3/4'; received {text!r:.80}")
    try:
        exact = Fraction(text)
        value = float(exact)
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise ValueError(
            f"a number is written as a rational, like '-3/4'; received {text!r:.80}"
        ) from error
    if Fraction(value) != exact:
        raise ValueError(f"a number of a record is exactly a float64; received {text!r:.80}")
    return value


def _choice(item: object) -> Integer | Entries:
    if isinstance(item, Mapping) and set(item) == {"integer", "low", "high"}:
        value, low, high = item["integer"], item["low"], item["high"]
        if not all(type(n) is int for n in (value, low, high)) or not low <= value <= high:
            raise ValueError(
                f"an integer choice has low <= integer <= high; received {dict(item)!r}"
            )
        return Integer(value, low, high)
    if isinstance(item, Mapping) and set(item) == {"tensor", "shape", "low", "high"}:
        flat, shape = item["tensor"], item["shape"]
        if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError(f"a shape is a list of sizes; received {shape!r:.80}")
        if not isinstance(flat, list) or len(flat) != math.prod(shape):
            raise ValueError(
                f"a tensor of shape {shape} has {math.prod(shape)} entries; received {flat!r:.80}"
            )
        low, high = exact_float(item["low"]), exact_float(item["high"])
        values = torch.tensor([exact_float(v) for v in flat], dtype=torch.float64).reshape(shape)
        if bool(((values < low) | (values > high)).any()):
            raise ValueError(f"entries lie in [{low}, {high}]; received {flat!r:.80}")
        return Entries(values, tuple(shape), low, high)
    raise ValueError(
        f"a choice is {{integer, low, high}} or {{tensor, shape, low, high}}; received {item!r:.80}"
    )
