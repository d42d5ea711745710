"""Boxes again: every box of a subdivision is enclosed in whole numbers, without rounding.

Nothing is shared with what found the subdivision, and the enclosures need not be the same: a box
that is not proved at once is halved a few times more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from rankcheck.prove.checking.enclosures import At, Box, Form, Problem, Range
from rankcheck.prove.checking.errors import UnsoundError
from rankcheck.prove.proof import Boxes, Definition, Fact

__all__ = ["check_boxes"]

#: A box is halved so often more before it is given up.
MORE = 10
_MOST_HALVINGS = 10_000


def check_boxes(
    goal: str,
    facts: Sequence[Fact],
    definitions: Sequence[Definition],
    box: Mapping[str, Range],
    certificate: Boxes,
    *,
    strict: bool = False,
) -> None:
    """Check that a polynomial is not negative, or positive, in a box where the facts hold.

    Args:
        box: the range of each entry that occurs.

    Raises:
        UnsoundError: if the certificate does not show it.
    """
    problem = Problem(goal, facts, definitions, box, strict=strict)
    checker = _Checker(problem)
    count = 0
    left = []
    for letter, place, around in _leaves(certificate.subdivision, problem):
        count += 1
        if letter == "s":
            checker.check_copy(place, around)
        else:
            left.append((letter, place))
    for letter, place in left:
        if letter == "x":
            checker.check_off(place)
        else:
            checker.check(place)
    if count != certificate.boxes:
        raise UnsoundError(
            f"a subdivision has {count} boxes, and is said to have that many: {certificate.boxes}"
        )


def _leaves(text: str, problem: Problem) -> Iterator[tuple[str, Box, list[Box]]]:
    """The boxes of a subdivision that are not halved, with what they are and the boxes around."""
    words = iter(text.split())
    waiting: list[tuple[Box, int]] = [(problem.box, 0)]
    around: list[Box] = []
    while waiting:
        place, depth = waiting.pop()
        del around[depth:]
        word = next(words, None)
        if word is None:
            raise UnsoundError("a subdivision ends before its last box; each half is one or two")
        if word in (".", "x", "s"):
            yield word, place, around
            continue
        if not re.fullmatch(r"0|[1-9][0-9]{0,8}", word) or f"x{word}" not in problem.place:
            raise UnsoundError(f"{word!r:.20} is neither a box nor a variable with a range")
        if depth >= _MOST_HALVINGS:
            raise UnsoundError(f"a box is halved more than {_MOST_HALVINGS} times")
        around.append(place)
        first, second = _halves(place, problem.place[f"x{word}"])
        waiting += [(second, depth + 1), (first, depth + 1)]
    if next(words, None) is not None:
        raise UnsoundError("a subdivision goes on after its last box")


def _halves(place: Box, i: int) -> tuple[Box, Box]:
    low, high = place[i]
    middle = (low + high) / 2
    return (
        (*place[:i], (low, middle), *place[i + 1 :]),
        (*place[:i], (middle, high), *place[i + 1 :]),
    )


class _Checker:
    """Checks one box after the other."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.facts = problem.facts

    def check_off(self, place: Box, more: int = MORE) -> None:
        """Check that a fact fails everywhere in a box."""
        if any(low > high for low, high in place):
            return
        at = At(self.problem, place)
        for form, signs in self.facts:
            low, high = at.ends(form)
            possible = {"-": low < 0, "0": low <= 0 <= high, "+": high > 0}
            if not any(possible[sign] for sign in signs):
                return
        if not (more and self.problem.entries):
            raise UnsoundError(f"no fact is seen to fail in the box {_shown(self.problem, place)}")
        i = max(range(self.problem.entries), key=lambda j: place[j][1] - place[j][0])
        for half in _halves(place, i):
            self.check_off(half, more - 1)

    def check(self, place: Box, more: int = MORE) -> None:
        """Check that the goal has its sign in a box."""
        at = At(self.problem, place)
        if at.proved():
            return
        if not (more and self.problem.entries):
            sign = "positive" if self.problem.strict else "not negative"
            raise UnsoundError(
                f"a goal is not seen to be {sign} in the box {_shown(self.problem, place)}"
            )
        for half in _halves(place, at.along()):
            self.check(half, more - 1)

    def check_copy(self, place: Box, around: Sequence[Box]) -> None:
        """Check that a box is a smaller copy of one around it, by a scaling that changes no sign.

        A point of it where the goal is negative, scaled up, leaves it inside the other one, where
        the goal is negative, too. This doubles some entry, and can so be done finitely often. Facts
        that the scaling does not leave as they are put no box off.
        """
        scalings = [self._weights(place, other) for other in reversed(around)]
        kept = [self._kept(weights) for weights in scalings if weights and not self.problem.strict]
        facts = max((facts for facts in kept if facts is not None), key=len, default=None)
        if facts is not None:
            self.facts = facts
            return
        raise UnsoundError(
            f"the box {_shown(self.problem, place)} is no smaller copy of one around it; a scaling "
            "to it changes no sign of the goal, which is not strict"
        )

    def _weights(self, place: Box, other: Box) -> list[Fraction] | None:
        """Weights of the entries: how often each was halved towards 0."""
        weights = []
        for (low, high), (least, most) in zip(place, other, strict=True):
            if (low, high) == (least, most):
                weights.append(Fraction(0))
                continue
            if not ((low == least == 0 < most) or (high == most == 0 > least)):
                return None
            ratio = (most - least) / (high - low)
            weights.append(Fraction(ratio.numerator.bit_length() - 1))
            if ratio != 1 << (ratio.numerator.bit_length() - 1):
                return None
        return weights

    def _kept(self, weights: list[Fraction]) -> list[tuple[Form, str]] | None:
        """The facts that change, scaled, by positive factors only; None if the goal does not."""
        for made, form in zip(self.problem.defined, self.problem.under, strict=True):
            number = len(weights)
            weight = form.weight(weights) if form else Fraction(0)
            if weight is None and number in self.problem.needed:
                return None
            weights.append((weight or Fraction(0)) / max(1, made.degree))
        goal = self.problem.goal.weight(weights)
        if goal is None or goal <= 0:
            return None
        return [(form, signs) for form, signs in self.facts if form.weight(weights) is not None]


def _shown(problem: Problem, place: Box) -> str:
    ends = zip(problem.ring.names, place, strict=False)
    return " × ".join(
        f"{name} in [{float(low):.6g}, {float(high):.6g}]" for name, (low, high) in ends
    )
