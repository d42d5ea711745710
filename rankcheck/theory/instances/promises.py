"""Promises: what is true of all that a generator draws, whatever draws it.

A claim relies on its generator: a hypothesis that an instance does not satisfy turns a theorem into
a refuted statement. So every option of a generator says what it promises, as a sentence and as a
predicate. The sentences stand in the docstring and in docs/generators.md. A test evaluates the
predicates on what sweeps, Hypothesis, enumerations and hunts draw, on floats and on balls.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from rankcheck.balls import is_ball, provably_less

G = TypeVar("G", bound=Callable[..., Any])

#: How far two sides that are equal on paper may be apart in floats, relative to their size and 1.
ROUNDING = 2.0**-30
#: The attribute of a generator, and of its factory, that holds the promises.
PROMISED = "__rankcheck_promises__"


@dataclass(frozen=True)
class Promise:
    """What holds for every instance.

    Attributes:
        says: a sentence without its full stop, for people.
        holds: of the options (their values as attributes) and the arguments of a claim's body, a
            bool or bools, all of them true.
    """

    says: str
    holds: Callable[..., Any]


def promises(*always: Promise, **by_option: Promise) -> Callable[[G], G]:
    """Declare what a generator promises: whatever its options are, and for each option.

    It stands between `@instances` and the generator, and adds the sentences to the docstring.

    >>> @promises(size=Promise("there are so many entries", lambda o, x: x.shape[-1] == o.size))
    ... def vectors(source, *, size):
    ...     '''Vectors.'''
    >>> print(vectors.__doc__)
    Vectors.
    <BLANKLINE>
    Promises:
        size: there are so many entries.
    """
    declared = [*(("always", promise) for promise in always), *by_option.items()]

    def mark(generator: G) -> G:
        lines = "\n".join(f"    {name}: {promise.says}." for name, promise in declared)
        doc = inspect.cleandoc(generator.__doc__ or "")
        generator.__doc__ = f"{doc}\n\nPromises:\n{lines}"
        generator.__dict__[PROMISED] = tuple(declared)
        return generator

    return mark


def promises_of(generator: Any) -> tuple[tuple[str, Promise], ...]:
    """The promises of a generator or its factory, each with its option, or with "always"."""
    declared: tuple[tuple[str, Promise], ...] = getattr(generator, "__dict__", {}).get(PROMISED, ())
    return declared


# What predicates are made of


def inside(ends: tuple[int, int], *numbers: int) -> bool:
    """Whether all numbers lie in the range."""
    return all(ends[0] <= number <= ends[1] for number in numbers)


def at_most(a: Any, b: Any) -> Any:
    """Where a ≤ b: up to `ROUNDING` in floats; on balls wherever a > b is not proved."""
    if is_ball(a) or is_ball(b):
        return ~provably_less(b, a)
    a, b = torch.as_tensor(a), torch.as_tensor(b)
    return a <= b + ROUNDING * (1 + a.abs() + b.abs())


def same(a: Any, b: Any) -> Any:
    """Where a = b: up to `ROUNDING` in floats; exactly on rationals."""
    return at_most(a, b) & at_most(b, a)


def within(ends: tuple[float, float], values: Any) -> Any:
    """Where the values lie in the range."""
    return at_most(ends[0], values) & at_most(values, ends[1])


def is_identity(A: Any) -> Any:
    """Whether the entries are those of the identity."""
    return same(A, torch.eye(A.shape[-1], dtype=torch.float64))


def has_slope(slopes: str, slope: Any) -> Any:
    """Whether a slope, a number or an array, is one of these."""
    if slopes == "relu":
        return slope == 0
    low = slope >= 0 if slopes == "nonnegative" else slope > -1
    return low & (slope < (0 if slopes == "negative" else 1))


#: How the promise of the option `slopes` begins.
SLOPES = 'the slope lies in (−1, 1); it is 0 for "relu", ≥ 0 for "nonnegative", < 0 for "negative"'
