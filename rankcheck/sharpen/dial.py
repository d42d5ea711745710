"""A dial: for which values of a parameter of the body is the statement false?

Both ends of the interval are tried, then values between one at which it was proved to be false and
one at which it survived, until the budget is spent or the gap is small. Where it is proved to be
false there is an instance; where it survived, nothing is proved. That the answer changes once is
not assumed: values inside both intervals are tried as well, and if one of them comes out otherwise
the result says so.

The values are simple rationals; decimals where the body does not take a `Fraction`, and integers
where it takes no number between two of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from rankcheck.claims.claim import Claim
from rankcheck.claims.variants import dialled
from rankcheck.errors import InputError
from rankcheck.hunt.arena import Shape
from rankcheck.instances.record import Record
from rankcheck.records.ratio import NotCertifiedError, attained
from rankcheck.sharpen.doubt import doubt
from rankcheck.sharpen.extremal import Extremal
from rankcheck.sharpen.glance import glance
from rankcheck.sharpen.search import Search
from rankcheck.sharpen.settings import Settings
from rankcheck.sharpen.small import made_small
from rankcheck.sharpen.task import Finding
from rankcheck.verification.counts import Counts

__all__ = ["Dial", "Frontier", "Probe", "frontier"]

#: The search ends where the gap is smaller than this share of the interval.
FINE = Fraction(1, 256)
#: The share of the budget that each end has at most, and a value between; and the share that is
#: left for values inside the two intervals.
END, BETWEEN, INSIDE = 0.15, 0.1, 0.2
#: Of the seconds for a value, the share in which it is hunted if it has survived the others.
DOUBT = 0.4
#: Values inside the intervals that are tried.
CHECKS = 4
#: So many of the latest instances are what a value begins with.
GOOD = 8
#: Decimals have at most so many places.
DIGITS = 12


@dataclass(frozen=True)
class Dial:
    """A parameter of a body and an interval for it.

    Raises:
        InputError: if the interval is empty or upside down.
    """

    name: str
    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InputError(
                f"the interval of {self.name} is {self.low}..{self.high}; it goes from a number to "
                "a larger one"
            )

    @classmethod
    def parse(cls, text: str) -> Dial:
        """Read `NAME=LO..HI`; the ends are integers, decimals or fractions.

        >>> Dial.parse("exponent=-2..-1/3")
        Dial(name='exponent', low=Fraction(-2, 1), high=Fraction(-1, 3))

        Raises:
            InputError: if it is anything else.
        """
        name, equals, interval = text.partition("=")
        low, dots, high = interval.partition("..")
        try:
            if not (name.strip() and equals and dots):
                raise ValueError
            ends = Fraction(low.strip()), Fraction(high.strip())
        except (ValueError, ZeroDivisionError) as error:
            raise InputError(
                f"received the dial {text!r:.80}; a dial is NAME=LO..HI, as in exponent=-2..-1/3"
            ) from error
        return cls(name.strip(), *ends)


@dataclass(frozen=True, eq=False)
class Probe:
    """A value of the dial that was tried.

    Attributes:
        best: the instance with the largest proved ratio; above 1 it refutes the statement.
        instances: how many were evaluated.
    """

    value: Fraction
    refuted: bool
    best: Extremal | None
    instances: int

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "value": str(self.value),
            "refuted": self.refuted,
            "ratio": None if self.best is None else self.best.attained.written,
            "instance": None if self.best is None else self.best.to_json(),
            "instances": self.instances,
        }


@dataclass(frozen=True, eq=False)
class Frontier:
    """The values that were tried, in order, and what they say.

    Attributes:
        whole: whether the dial takes integers.
        false, survived: the interval of the values at which the statement was proved to be false,
            and of those at which it survived; None without one.
        monotone: whether the answer changes at most once.
    """

    dial: Dial
    whole: bool
    probes: tuple[Probe, ...]

    @property
    def monotone(self) -> bool:
        """Whether the answer changes at most once."""
        answers = [probe.refuted for probe in self.probes]
        return sum(a != b for a, b in pairwise(answers)) <= 1

    @property
    def certified(self) -> bool:
        """Whether balls prove a ratio at some value."""
        return any(probe.best is not None for probe in self.probes)

    @property
    def false(self) -> tuple[Fraction, Fraction] | None:
        """From the least to the largest value at which the statement was proved to be false."""
        return self._ends(refuted=True)

    @property
    def survived(self) -> tuple[Fraction, Fraction] | None:
        """From the least to the largest value at which it survived."""
        return self._ends(refuted=False)

    def _ends(self, *, refuted: bool) -> tuple[Fraction, Fraction] | None:
        values = [probe.value for probe in self.probes if probe.refuted == refuted]
        return (values[0], values[-1]) if values else None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        ends = {"false": self.false, "survived": self.survived}
        return {
            "name": self.dial.name,
            "low": str(self.dial.low),
            "high": str(self.dial.high),
            "whole": self.whole,
            "probes": [probe.to_json() for probe in self.probes],
            **{name: None if pair is None else list(map(str, pair)) for name, pair in ends.items()},
            "monotone": self.monotone,
            "sentence": "",
        }


def frontier(
    claim: Claim, dial: Dial, settings: Settings, make: Callable[..., Search], until: float
) -> tuple[Frontier, Search]:
    """Where a dial makes a claim false; and the last search, with the counts of all.

    Without a budget each value has the number of tasks of the settings, and the answer does not
    depend on the clock.

    Args:
        make: makes the search of the claim at a value of the dial.
        until: the end of the budget on `time.monotonic()`.

    Raises:
        InputError: if the body has no such parameter, or does not take the ends of the interval.
    """
    takes = taken(claim, dial)
    budget = until - time.monotonic()
    probes: dict[Fraction, Probe] = {}
    good: list[tuple[Shape, Record]] = []
    search: Search | None = None
    counts = Counts()

    def probe(value: Fraction, seconds: float) -> None:
        nonlocal search, counts
        search = make(dial=(dial.name, takes.given(value)), begin=tuple(good[:GOOD]))
        left = max(0.05, min(seconds, until - time.monotonic()))
        if left == math.inf:
            search.run(None, settings.tasks, enough=search.refuted)
        else:
            search.run((1 - DOUBT) * left, settings.tasks, enough=search.refuted)
            if not search.refuted() and settings.relations is None:
                doubt(search, DOUBT * left)
        counts += search.counts
        best = max(search.best.values(), key=lambda one: one.attained.low, default=None)
        wrong = [one for one in search.best.values() if one.attained.refutes]
        shown = max(wrong, key=lambda one: one.attained.low, default=best)
        extremal = None
        if shown is not None:
            extremal = Extremal(shown.instance(search.at), shown.attained, shown.key)
            good.insert(0, (shown.shape, shown.record))
        probes[value] = Probe(value, search.refuted(), extremal, search.counts.evaluated)
        if wrong and shown is not None:
            again(shown)

    def again(finding: Finding) -> None:
        """An instance that refutes the statement at one value may do so where it survived."""
        for value, survived in probes.items():
            if survived.refuted:
                continue
            instance = finding.instance(dialled(claim, dial.name, takes.given(value)))
            try:
                found = [one for one in attained(instance) if one.name == finding.name]
            except NotCertifiedError:  # a hypothesis that depends on the value
                continue
            if found and found[0].refutes:
                extremal = Extremal(instance, found[0], finding.key)
                probes[value] = replace(survived, refuted=True, best=extremal)

    probe(dial.low, END * budget)
    probe(dial.high, END * budget)
    stop = until - INSIDE * budget if budget < math.inf else math.inf
    upwards = probes[dial.low].refuted  # from what is false to what survived
    while time.monotonic() < stop:
        ends = _ends(probes, upwards)
        if ends is None or abs(ends[1] - ends[0]) <= FINE * (dial.high - dial.low):
            break
        middle = takes.between(*ends)
        if middle is None:
            break
        probe(middle, BETWEEN * budget)
    inside = _inside(sorted(probes), takes)
    for left, value in zip(range(len(inside), 0, -1), inside, strict=True):
        if time.monotonic() < until:
            probe(value, (until - time.monotonic()) / left)
    if (ends := _ends(probes, upwards)) is not None:
        probes[ends[0]] = _smaller(probes[ends[0]], settings.shrink)
    assert search is not None
    search.counts = counts
    in_order = tuple(probes[value] for value in sorted(probes))
    return Frontier(dial, takes is WHOLE, in_order), search


def _smaller(probe: Probe, seconds: float) -> Probe:
    """A value with the instance that refutes the statement there made small."""
    best = probe.best
    if best is None or not seconds:
        return probe
    small = made_small(best.instance, best.attained.number, budget=seconds)
    [proved] = [one for one in attained(small) if one.number == best.attained.number]
    return replace(probe, best=Extremal(small, proved, best.key)) if proved.refutes else probe


def _ends(probes: Mapping[Fraction, Probe], upwards: bool) -> tuple[Fraction, Fraction] | None:
    """The last value that is false, and the next one, which survived; None without such a pair.

    Args:
        upwards: whether false values come first.
    """
    order = sorted(probes, reverse=not upwards)
    false = [place for place, value in enumerate(order) if probes[value].refuted]
    if not false or false[-1] == len(order) - 1:
        return None
    return order[false[-1]], order[false[-1] + 1]


@dataclass(frozen=True)
class Values:
    """The numbers that a dial takes.

    Attributes:
        given: a rational as the body receives it.
        between: the simplest such number in the middle third between two; None if there is none.
    """

    given: Callable[[Fraction], Any]
    between: Callable[[Fraction, Fraction], Fraction | None]


def taken(claim: Claim, dial: Dial) -> Values:
    """What numbers a body takes for its parameter: rationals, decimals, or integers.

    Raises:
        InputError: if the claim has no such parameter, or it does not take the ends.
    """
    parameters = claim.parameters
    if dial.name not in parameters:
        known = ", ".join(parameters) or "none"
        raise InputError(
            f"{claim.id} has no dial {dial.name!r}; a dial is a keyword-only parameter of the "
            f"body, which has {known}"
        )
    value = parameters[dial.name]
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise InputError(
            f"{dial.name} of {claim.id} is {value!r:.60}; a dial is a parameter whose value is a "
            "number"
        )
    whole = dial.low.denominator == dial.high.denominator == 1
    middle = dial.low + (dial.high - dial.low) / 4
    middle += Fraction(1, 4) if middle.denominator == 1 else 0  # no integer
    error: Exception | None = None
    for values in (RATIONAL, DECIMAL, *([WHOLE] if whole else [])):
        try:
            value = values.given(dial.low if values is WHOLE else middle)
            glance(dialled(claim, dial.name, value))
        except InputError:
            raise
        except Exception as raised:  # whatever the body makes of a number of another kind
            error = raised
        else:
            return values
    raise InputError(
        f"{claim.id} raised {type(error).__name__} with {dial.name} = {dial.low}: {error}; a dial "
        "takes every number of its interval, or at least every integer"
    ) from error


def _between(a: Fraction, b: Fraction) -> Fraction:
    """The simplest rational in the middle third between two numbers.

    >>> _between(Fraction(2, 5), Fraction(1, 2))
    Fraction(4, 9)
    """
    third = (b - a) / 3
    return _simplest(*sorted((a + third, b - third)))


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """The rational with the least denominator in [low, high]."""
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -_simplest(-high, -low)
    floor = math.floor(low)
    if floor == low or floor + 1 <= high:
        return Fraction(math.ceil(low))
    return floor + 1 / _simplest(1 / (high - floor), 1 / (low - floor))


def _decimal(a: Fraction, b: Fraction) -> Fraction | None:
    """The decimal number with the fewest places in the middle third between two numbers."""
    low, high = sorted((a + (b - a) / 3, b - (b - a) / 3))
    for places in range(DIGITS):
        value = Fraction(math.ceil(low * 10**places), 10**places)
        if value <= high:
            return value
    return None


def _whole(a: Fraction, b: Fraction) -> Fraction | None:
    """An integer in the middle between two numbers, if there is one."""
    low, high = sorted((a, b))
    middle = Fraction((low + high) // 2)
    return middle if low < middle < high else None


RATIONAL = Values(lambda value: value if value.denominator > 1 else int(value), _between)
#: A float with few digits is the decimal number that was written (`rankcheck.balls.constants`).
DECIMAL = Values(float, _decimal)
WHOLE = Values(int, _whole)


def _inside(tried: list[Fraction], takes: Values) -> list[Fraction]:
    """Values in the widest gaps between those that were tried."""
    gaps = sorted(pairwise(tried), key=lambda pair: pair[0] - pair[1])
    values = (takes.between(*gap) for gap in gaps[:CHECKS])
    return [value for value in values if value is not None]
