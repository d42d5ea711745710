"""All paths through a function of variables, and its value at points."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import torch
from flint import arb, fmpq, fmpz_mpoly

from rankcheck.decide.algebra.cell import Cell, Stopped
from rankcheck.decide.algebra.quotient import Quotient, made, on
from rankcheck.decide.algebra.ring import Ring
from rankcheck.decide.algebra.signs import MINUS, NONE, PLUS


def paths(ring: Ring, run: Callable[[Sequence[Any]], Any]) -> list[tuple[Cell, Any]]:
    """Each path of a function of the ring's entries, with what it returns or how it ended."""
    found, waiting, seen = [], [()], set()
    while waiting:
        script = waiting.pop()
        cell = Cell(ring, {}, script)
        with on(cell):
            try:
                end = run([made(cell, x, ring.one) for x in ring.variables[: ring.entries]])
            except (Stopped, torch.linalg.LinAlgError) as stopped:
                end = stopped
        taken = tuple(fork.taken for fork in cell.trail)
        for place, fork in enumerate(cell.trail):
            if taken[:place] not in seen:
                seen.add(taken[:place])
                waiting.append((*taken[:place], 1 - fork.taken))
        found.append((cell, end))
    return found


def contains(cell: Cell, point: Sequence[Fraction]) -> bool:
    """Whether a point is on a path."""
    for fork in cell.trail:
        value = at(cell.ring, fork.of, point)
        sign = PLUS if value > 0 else MINUS if value < 0 else NONE
        if not sign & fork.options[fork.taken]:
            return False
    return True


def at(ring: Ring, p: fmpz_mpoly, point: Sequence[Fraction]) -> Any:
    """A polynomial at a point: a rational, or a ball if it has roots or logarithms."""
    values: list[Any] = [fmpq(x.numerator, x.denominator) for x in point]
    for generator in ring.defined:
        if generator.ball is not None:
            values.append(generator.ball)
            continue
        inside = arb(at_values(generator.of, values))
        if generator.kind == "log":
            values.append(inside.log())
        elif generator.kind == "exp":
            values.append((inside / generator.degree).exp())
        else:
            values.append(inside.root(generator.degree) if inside > 0 else fmpq(0))
    return at_values(p, values)


def at_values(p: fmpz_mpoly, values: Sequence[Any]) -> Any:
    total: Any = fmpq(0)
    for exponents, coefficient in p.to_dict().items():
        term: Any = fmpq(coefficient)
        for value, power in zip(values, exponents, strict=False):
            for _ in range(int(power)):
                term = term * value
        total = total + term
    return total


def value(cell: Cell, x: Any, point: Sequence[Fraction]) -> Any:
    """What a number of a path is at a point of it."""
    if isinstance(x, Quotient):
        return at(cell.ring, x.num, point) / at(cell.ring, x.den, point)
    return x
