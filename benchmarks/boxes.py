"""Boxes after splitting by activation pattern against plain bisection, on the same boxes.

The bound is ``|Jf(x)| <= (1 + ε) ‖θ‖² / 2`` for networks of depth 2 with one input and one output,
weights in [1/4, 1], biases and x in [−1, 1]. Here each pattern and each sign of the Jacobian is a
path with facts. Plain bisection takes the units that may be at their kink as [0, 1], has no
derivatives, and halves the longest side; it is given the same arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial, reduce
from itertools import product

import numpy as np

from benchmarks.measuring import Ratio, timed
from rankcheck.algebra.polynomials import parse, text
from rankcheck.prove.boxes.boxes import boxes
from rankcheck.prove.boxes.intervals import Interval, plus, power, times
from rankcheck.prove.proof import Fact

BATCH = 2048
Range = tuple[Fraction, Fraction]


def ranges(units: int) -> dict[str, Range]:
    """x0 is the point; each unit has a weight in, a weight out and a bias, in this order."""
    weight, other = (Fraction(1, 4), Fraction(1)), (Fraction(-1), Fraction(1))
    found = {"x0": other}
    for unit in range(units):
        found |= {
            f"x{3 * unit + 1}": weight,
            f"x{3 * unit + 2}": weight,
            f"x{3 * unit + 3}": other,
        }
    return found


def by_patterns(units: int, slack: Fraction) -> int:
    """How many boxes prove the bound on all paths together."""
    count = 0
    cost = " + ".join(f"x{i}^2" for i in range(1, 3 * units + 1))
    for pattern in product((True, False), repeat=units):
        facts = tuple(
            Fact(of=f"x0*x{3 * unit + 1} + x{3 * unit + 3}", signs="+" if on else "-0")
            for unit, on in enumerate(pattern)
        )
        paths = [f"x{3 * unit + 1}*x{3 * unit + 2}" for unit in range(units) if pattern[unit]]
        for sign in (1, -1):
            goal = {one: value * (1 + slack) / 2 for one, value in parse(cost).items()}
            for path in paths:
                goal |= {one: -sign * value for one, value in parse(path).items()}
            found = boxes(text(goal), facts, (), ranges(units), strict=False, most=10**6)
            assert found.certificate is not None
            count += found.boxes
    return count


def by_bisection(units: int, slack: Fraction, most: int) -> tuple[int, bool]:
    """How many boxes prove it without patterns, and whether that was the end."""
    box = ranges(units)
    left = np.array([[[float(low)], [float(high)]] for low, high in box.values()])
    count, (names, factor) = 1, (list(box), float(1 + slack) / 2)
    while left.shape[2] and count < most:
        some, left = left[..., -BATCH:], left[..., :-BATCH]
        entry = {name: (some[i, 0], some[i, 1]) for i, name in enumerate(names)}
        cost = reduce(plus, (power(entry[name], 2) for name in names[1:]))
        jacobian = reduce(plus, (_path(entry, unit) for unit in range(units)))
        size = np.maximum(np.abs(jacobian[0]), np.abs(jacobian[1]))
        open_ = some[..., factor * cost[0] < size]
        along = (open_[:, 1] - open_[:, 0]).argmax(axis=0)
        each = np.arange(len(along))
        first, second = open_.copy(), open_.copy()
        first[along, 1, each] = second[along, 0, each] = open_[along, :, each].mean(axis=1)
        left = np.concatenate([left, first, second], axis=2)
        count += len(along)
    return count, not left.shape[2]


def _path(entry: dict[str, Interval], unit: int) -> Interval:
    """What a unit adds to the Jacobian."""
    into, out, bias = (entry[f"x{3 * unit + i}"] for i in (1, 2, 3))
    low, high = plus(times(into, entry["x0"]), bias)
    active = (low > 0).astype(float), (high > 0).astype(float)
    return times(times(into, out), active)


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """Plain bisection against boxes by patterns; where it does not end, at least so much."""
    for units, slack, most in (
        (1, Fraction(1, 2) if quick else Fraction(1, 20), 10**6),
        *([] if quick else [(2, Fraction(1, 2), 10**7)]),
    ):
        here, count = timed(partial(by_patterns, units, slack), 3)
        there, (plain, ended) = timed(partial(by_bisection, units, slack, most))
        unit = "unit" if units == 1 else "units"
        what = f"|Jf| <= {float(1 + slack):.3g} ‖θ‖²/2, {units} {unit}: {count} boxes"
        against = f"bisection: {plain} boxes{'' if ended else ', not all'}"
        yield Ratio(what, against, there / here)
