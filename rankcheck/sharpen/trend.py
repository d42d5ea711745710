r"""Where suprema go that belong to growing sizes: a limit with its error, or growth.

Models are fitted through as many of the last values as they have coefficients:

* polynomials in 1/n, c_0 + c_1/n + … + c_k/n^k (Richardson's extrapolation), where the differences
  decay fast enough to be told from growth;
* c + a qⁿ (Aitken's and Shanks' extrapolation);
* c + a n^p with any p, and c + a log n between p < 0 and p > 0.

The model is the one that predicts the last value best from those before it, where an error that
`NOISE` in the values explains is no merit. What is said has to agree with all models that predict
about as well: if one of them has a limit and another has none, nothing is said. The error of the
limit is the largest of three estimates: how far it moves with the noise; how far it is from the
limits of those other models; and how much it moved with the last value, times the number of steps
in which such a move decays. It is no proof: powers of log n in the remainder deceive it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import numpy as np

#: The relative error of the values: a search comes so close to a supremum.
NOISE = 1e-6
#: Values are equal if they differ by so many times the noise, in so many places at least.
EQUAL, PLACES = 4.0, 3
#: So many consecutive values are needed.
LEAST = 4
#: Models that predict at most so many times worse than the best one have a say.
RIVALS = 4.0
#: The highest degree in 1/n.
DEGREE = 4
#: Exponents of n are sought up to this one, and up to this one growth is called logarithmic.
STEEPEST, LOGARITHMIC = 16.0, 0.05
#: A limit that is approached more slowly than with this exponent of n cannot be told from growth.
SLOW = -0.25
#: The error is so many times the largest of its estimates.
SAFETY = 2.0

Points = Sequence[tuple[int, float]]


@dataclass(frozen=True)
class Trend:
    """What the values seem to do.

    Attributes:
        by: what the size is called.
        limit, error: the limit, and by how much it may be wrong; None if the values grow.
        next: the next size, and the value predicted there.
        model: what it rests on, in words.
    """

    by: str
    limit: float | None
    error: float | None
    next: tuple[int, float]
    model: str


@dataclass(frozen=True)
class Fit:
    """A model with its coefficients; `moves` is in how many steps a move of the limit decays."""

    at: Callable[[float], float]
    limit: float | None
    words: str
    moves: float


Model: TypeAlias = Callable[[Points], Fit | None]


@dataclass(frozen=True)
class Judged:
    """A model, its error in predicting the last value, and the fit through the last ones."""

    score: float
    fit: Fit
    before: Fit
    shaken: float


def trend(values: Sequence[tuple[int, Fraction | float]], by: str = "n") -> Trend | None:
    """What the last consecutive values seem to do; None where nothing can be said.

    Args:
        values: sizes with the largest ratio there, in any order.
        by: what the size is called in sentences.
    """
    run = _consecutive(values)
    if len(run) < LEAST:
        return None
    noise = NOISE * max(abs(value) for _, value in run)
    found = _constant(run, noise, by) or _extrapolated(run, noise, by)
    steps = [after - before for (_, before), (_, after) in pairwise(run)]
    if found is not None and found.limit is None and min(steps) < -EQUAL * noise:
        return None  # up and down: at some size the search has not come to the end
    return found


def _consecutive(values: Sequence[tuple[int, Fraction | float]]) -> list[tuple[int, float]]:
    """The last values at consecutive sizes from 1 on."""
    run: list[tuple[int, float]] = []
    for n, value in sorted(((n, float(value)) for n, value in values), reverse=True):
        if n < 1 or not math.isfinite(value) or (run and n != run[0][0] - 1):
            break
        run.insert(0, (n, value))
    return run


def _constant(run: Points, noise: float, by: str) -> Trend | None:
    """The last values, if at least three of them are equal up to the noise."""
    last = run[-1][1]
    equal = 0
    while equal < len(run) and abs(run[-1 - equal][1] - last) <= EQUAL * noise:
        equal += 1
    if equal < PLACES:
        return None
    spread = max(abs(value - last) for _, value in run[-equal:])
    words = f"constant from {by} = {run[-equal][0]} on"
    return Trend(by, last, spread + noise, (run[-1][0] + 1, last), words)


def _extrapolated(run: Points, noise: float, by: str) -> Trend | None:
    models = [_polynomial(k, by) for k in range(1, DEGREE + 1)]
    judged = [_judged(model, run, noise) for model in (*models, _geometric(by), _power(by))]
    able = sorted((one for one in judged if one is not None), key=lambda one: one.score)
    able = [one for one in able if one.score <= RIVALS * able[0].score]
    if not able or len({one.fit.limit is None for one in able}) > 1:
        return None
    best = able[0]
    if not best.fit.words:
        return None
    following = run[-1][0] + 1
    after = (following, best.fit.at(following))
    if best.fit.limit is None:
        return Trend(by, None, None, after, best.fit.words)
    assert best.before.limit is not None
    error = SAFETY * max(
        best.shaken,
        abs(best.fit.limit - best.before.limit) * best.fit.moves,
        *(abs(best.fit.limit - one.fit.limit) for one in able if one.fit.limit is not None),
    )
    heights = [value for _, value in run]
    if error > max(heights) - min(heights):  # it would say less than the values themselves
        return None
    return Trend(by, best.fit.limit, error, after, best.fit.words)


def _judged(model: Model, run: Points, noise: float) -> Judged | None:
    """How well a model predicts the last value; None if it says nothing, or not the same twice.

    Ratios are positive, so growth without bound is upwards.
    """
    fit, before = model(run), model(run[:-1])
    if fit is None or before is None or (fit.limit is None) != (before.limit is None):
        return None
    if fit.limit is None and run[-1][1] < run[-2][1]:
        return None
    n, last = run[-1]
    predicted = before.at(n)
    explained, shaken = noise, noise
    for place in range(len(run)):
        moved = [(m, value + noise * (i == place)) for i, (m, value) in enumerate(run)]
        then, earlier = model(moved), model(moved[:-1])
        if then is None or earlier is None or (then.limit is None) != (fit.limit is None):
            return None
        explained += abs(earlier.at(n) - predicted) * (place < len(run) - 1)
        if then.limit is not None and fit.limit is not None:
            shaken += abs(then.limit - fit.limit)
    return Judged(max(abs(predicted - last), explained), fit, before, shaken)


def _polynomial(k: int, by: str) -> Model:
    def model(run: Points) -> Fit | None:
        slow = _power(by)(run)
        if len(run) < k + 1 or (slow is not None and slow.limit is None):
            return None
        sizes, values = zip(*run[-k - 1 :], strict=True)
        powers = np.vander([1 / n for n in sizes], increasing=True)
        coefficients = np.linalg.solve(powers, values)

        def at(n: float) -> float:
            return float(np.polynomial.polynomial.polyval(1 / n, coefficients))

        words = f"a polynomial of degree {k} in 1/{by}"
        return Fit(at, float(coefficients[0]), words, max(1.0, sizes[-1] / (k + 1)))

    return model


def _geometric(by: str) -> Model:
    def model(run: Points) -> Fit | None:
        if len(run) < 3:
            return None
        (_, a), (_, b), (n, c) = run[-3:]
        if b == a or (q := (c - b) / (b - a)) in (0.0, 1.0) or abs(q) > 1e6:
            return None
        limit = c + (c - b) * q / (1 - q)

        def at(m: float) -> float:
            return limit + (c - limit) * q ** (m - n)

        if abs(q) < 1:
            words = f"a limit that is approached by a factor of {q:.3g} in each step of {by}"
            return Fit(at, limit, words, max(1.0, 1 / (1 - abs(q))))
        return Fit(at, None, f"it grows by a factor of {q:.3g} in each step of {by}", 1.0)

    return model


def _power(by: str) -> Model:
    def model(run: Points) -> Fit | None:
        if len(run) < 3:
            return None
        (k, a), (m, b), (n, c) = run[-3:]
        if b == a or (c - b) / (b - a) <= 0:
            return None
        p = _exponent(k, m, n, (c - b) / (b - a))
        if p is None:
            return None
        slope = (c - b) / _between(m, n, p)

        def at(x: float) -> float:
            return c + slope * _between(n, x, p)

        if p < SLOW:
            limit = c - slope * n**p / p
            return Fit(at, limit, f"a limit that is approached as {by}^{p:.3g}", float(n))
        if p < -LOGARITHMIC:
            return Fit(at, None, "", 1.0)
        how = f"log {by}" if p <= LOGARITHMIC else by if f"{p:.3g}" == "1" else f"{by}^{p:.3g}"
        return Fit(at, None, f"it grows as {how}", 1.0)

    return model


def _between(m: float, n: float, p: float) -> float:
    """(n^p - m^p)/p, and log(n/m) for p = 0."""
    log = math.log(n / m)
    return m**p * (math.expm1(p * log) / p if p else log)


def _exponent(k: int, m: int, n: int, ratio: float) -> float | None:
    """The p with (n^p - m^p)/(m^p - k^p) equal to a ratio, which grows with p, by bisection."""
    low, high = -STEEPEST, STEEPEST

    def excess(p: float) -> float:
        return _between(m, n, p) / _between(k, m, p) - ratio

    if excess(low) > 0 or excess(high) < 0:
        return None
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    return (low + high) / 2
