r"""What closed form a certified ratio looks like. It never says what the number *is*.

The ratio of an instance is at most the supremum, and as close to it as the search came. So a form
is measured by the digits in which it agrees with the certified lower bound, and one that is proved
to be smaller is no candidate.

Many forms are tried, and with large integers some of them agree with any number: one of d digits of
information (`rankcheck.sharpen.forms`) agrees with a random number in d digits by chance. It is
offered if it agrees in `MARGIN` digits more. Of a number near 1, to which many ratios tend, the
digits that it shares with 1 do not count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from rankcheck import balls
from rankcheck.sharpen.forms import BITS, Form, forms, number
from rankcheck.sharpen.notation import LATEX, PLAIN

#: Digits of agreement beyond the information in a form. Of 2010 random numbers of 10 to 16 digits
#: between 1/10 and 10, 2.7 % are recognised with a margin of 4, 0.4 % with 5, and none with 6.
MARGIN = 6.0
#: Agreement is counted up to so many digits: those in which balls enclose a ratio (2⁻⁸⁰).
MOST = 24
#: Forms are offered beside the best one if they are at most so many digits behind.
BEHIND = 2.0
#: So many forms are offered at most, the most telling first.
LIKE = 3


@dataclass(frozen=True)
class LooksLike:
    """A closed form: plain text, LaTeX, and the digits in which the certified ratio agrees."""

    text: str
    latex: str
    digits: int


def recognise(low: Fraction, high: Fraction) -> tuple[LooksLike, ...]:
    """The closed forms that a supremum looks like, of which [low, high] is an attained ratio.

    Args:
        low, high: proved bounds of the ratio. The supremum is at least `low`.

    Raises:
        ValueError: if `low` is larger than `high`.
    """
    if low > high:
        raise ValueError(f"received the bounds {low} and {high}; the lower one comes first")
    if low <= 0:  # of these only zero is recognised, where it is proved
        return (LooksLike("0", "0", MOST),) if low == high == 0 else ()
    with balls.precision(BITS):
        candidates = [(_agreement(form.value, low, high), form) for form in forms(number(low))]
        offered = sorted(
            (one for one in candidates if _surplus(one) >= MARGIN), key=_surplus, reverse=True
        )
        chosen: list[tuple[float, Form]] = []
        for digits, form in offered:
            if _surplus((digits, form)) < _surplus(offered[0]) - BEHIND:
                break
            if not any(form.value.overlaps(other.value) for _, other in chosen):
                chosen.append((digits, form))
    return tuple(
        LooksLike(form.write(PLAIN), form.write(LATEX), int(digits))
        for digits, form in chosen[:LIKE]
    )


def _surplus(candidate: tuple[float, Form]) -> float:
    """The digits of agreement beyond the information in the form, and beyond those of 1."""
    digits, form = candidate
    from_one = abs(float((form.value - 1).mid()))
    shared = -math.log10(from_one) if 0 < from_one < 1 else 0.0
    return digits - shared - form.information


def _agreement(value: arb, low: Fraction, high: Fraction) -> float:
    """The digits in which a form agrees with the ratio; -inf if it is proved to be smaller."""
    if value < number(low):
        return -math.inf
    apart = (value - number(low)).max(number(high - low)) / value
    size = float(apart.mid())
    return min(float(MOST), -math.log10(size)) if size > 0 else float(MOST)
