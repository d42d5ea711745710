"""Polynomials that have a sign everywhere, because they are sums of squares.

A path that asks for the sign of such a polynomial need not split. Points in floats tell which
polynomials are worth a proof; the proof is exact.
"""

from __future__ import annotations

import numpy as np
from flint import fmpz_mpoly

from rankcheck.decide.algebra.ring import Ring
from rankcheck.decide.algebra.signs import ANY, NONE, PLUS, flipped, signs_text
from rankcheck.decide.prove.exact.goals import Ways
from rankcheck.decide.prove.proof import Goal

#: So many points are tried first.
POINTS = 64
#: Larger polynomials are not looked at.
TERMS = 60


class Lemmas:
    """Proves signs of polynomials in the entries, and keeps the proofs."""

    def __init__(self, ring: Ring, ways: Ways) -> None:
        self._ring, self._ways = ring, ways
        self.goals: list[Goal] = []

    def __call__(self, f: fmpz_mpoly) -> int:
        """The signs that f has everywhere."""
        if f.total_degree() < 2 or len(f) > TERMS or not self._ways.squares:
            return ANY
        values = self._values(f)
        if values is None or (values.min() < 0 < values.max()):
            return ANY
        sign = 1 if values.max() > 0 else -1
        strict = bool(np.abs(values).min() > 0)
        for wanted in ([PLUS] if strict else []) + [NONE | PLUS]:
            goal = self._proved(sign * f, wanted)
            if goal is not None:
                self.goals.append(goal)
                return wanted if sign > 0 else flipped(wanted)
        return ANY

    def _proved(self, f: fmpz_mpoly, signs: int) -> Goal | None:
        from rankcheck.decide.prove.sums.squares import squares

        found = squares(
            str(f),
            (),
            (),
            strict=signs == PLUS,
            seconds=min(self._ways.seconds, max(self._ways.left(), 0.0)),
        )
        if found is None:
            return None
        return Goal(polynomial=str(f), signs=signs_text(signs), certificate=found)

    def _values(self, f: fmpz_mpoly) -> np.ndarray | None:
        """f at some points, with zeros and signs among their entries; None if it has a root."""
        occurring = self._ring.occurring(f)
        if occurring[-1] >= self._ring.entries:
            return None
        points = np.random.default_rng(0).normal(size=(POINTS, len(occurring)))
        points[: POINTS // 2] = np.sign(np.round(points[: POINTS // 2]))
        total = np.zeros(POINTS)
        for exponents, coefficient in f.to_dict().items():
            powers = np.array([int(exponents[index]) for index in occurring])
            total = total + float(coefficient) * np.prod(points**powers, axis=1)
        return total if np.isfinite(total).all() else None
