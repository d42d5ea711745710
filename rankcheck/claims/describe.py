"""Instances and numbers as a person reads and retypes them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import torch

from rankcheck.balls import BallArray
from rankcheck.claims.claim import Claim


def describe_instance(claim: Claim, instance: tuple[Any, ...]) -> str:
    """The parts of an instance under the names that the body gives them."""
    return "; ".join(
        describe_part(name, part) for name, part in zip(claim.parameters, instance, strict=True)
    )


def describe_part(name: str, part: Any) -> str:
    """One part of an instance: `x = [1, -1/2]`, or what a network says of itself."""
    describe = getattr(part, "describe", None)
    if describe is not None and not isinstance(part, BallArray):
        return str(describe())
    return f"{name} = {describe_number(part)}"


def describe_number(value: Any) -> str:
    """A number, an array or a sequence of them, exactly: floats with all their digits."""
    if isinstance(value, BallArray):
        return value.describe()
    if isinstance(value, torch.Tensor):
        return describe_number(value.detach().tolist())
    if isinstance(value, list | tuple):
        return "[" + ", ".join(describe_number(item) for item in value) + "]"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, int | Fraction | str | bool):
        return str(value)
    return repr(value)
