"""Options of generators, checked where they are written rather than where they draw."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec

from rankcheck.theory.instances.source import Instances

P = ParamSpec("P")

#: The largest condition number of an option: beyond it float64 has no digits left.
WORST = 1e15


def validated(factory: Callable[P, Instances]) -> Callable[P, Instances]:
    """The factory, which raises ValueError where an option breaks its rule."""
    signature = inspect.signature(factory)

    @functools.wraps(factory)
    def checked(*args: P.args, **options: P.kwargs) -> Instances:
        made = factory(*args, **options)
        bound = signature.bind(*args, **options)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if (wrong := _complaint(name, value, bound.arguments)) is not None:
                raise ValueError(f"{factory.__name__}: received {name}={value!r}; {wrong}")
        return made

    return checked


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _complaint(name: str, value: Any, options: dict[str, Any]) -> str | None:
    """The rule that the value of an option breaks, if any."""
    if name == "size":
        pair = isinstance(value, tuple | list) and len(value) == 2
        if pair and all(_is_count(end, 1) for end in value) and value[0] <= value[1]:
            return None
        return "a range of sizes is (low, high) with integers 1 <= low <= high"
    if name == "count":
        return None if _is_count(value, 1) else "count is a positive integer"
    if name == "rank":
        size = options["size"]
        if value is None or (_is_count(value, 0) and value <= size[1]):
            return None
        return f"rank is None or an integer from 0 to the largest size, {size[1]}"
    if not isinstance(value, int | float) or isinstance(value, bool):
        return f"{name} is a number"
    return None if 1 <= value <= WORST else f"a condition number lies in [1, {WORST:g}]"
