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
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from rankcheck.claims.claim import Claim
from rankcheck.claims.variants import dialled
from rankcheck.engine.hunt.arena import Shape
from rankcheck.engine.records.ratio import NotCertifiedError, attained
from rankcheck.engine.verification.counts import Counts
from rankcheck.sharpen.doubt import doubt
from rankcheck.sharpen.extremal import Extremal
from rankcheck.sharpen.search import Search
from rankcheck.sharpen.settings import Settings
from rankcheck.sharpen.small import made_small
from rankcheck.sharpen.task import Finding
from rankcheck.sharpen.values import WHOLE, Dial, Values, taken
from rankcheck.theory.instances.record import Record

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
        }


def frontier(
    claim: Claim, dial: Dial, settings: Settings, make: Callable[..., Search], until: float
) -> tuple[Frontier, Search, bool]:
    """Where a dial makes a claim false; the last search, with all counts; whether Ctrl-C ended it.

    A value at which no instance satisfied the hypotheses, in its time, counts as not tried. Without
    a budget each value has the number of tasks of the settings, and the answer does not
    depend on the clock.

    Args:
        make: makes the search of the claim at a value of the dial.
        until: the end of the budget on `time.monotonic()`.

    Raises:
        InputError: if the body has no such parameter, or does not take the ends of the interval.
        KeyboardInterrupt: if it comes before the first value.
    """
    turning = _Turning(claim, dial, settings, make, until, taken(claim, dial))
    interrupted = False
    try:
        turning.run()
    except KeyboardInterrupt:
        interrupted = True
    search, probes = turning.search, turning.probes
    if search is None:
        raise KeyboardInterrupt
    if not interrupted and (ends := turning.ends()) is not None:
        probes[ends[0]] = _smaller(probes[ends[0]], settings.shrink)
    search.counts = turning.counts
    tried = (probes[value] for value in sorted(probes))
    in_order = tuple(one for one in tried if one.refuted or one.instances)
    return Frontier(dial, turning.takes is WHOLE, in_order), search, interrupted


@dataclass(eq=False)
class _Turning:
    """Tries values of a dial.

    Attributes:
        takes: the numbers that the body takes.
        probes: the values that were tried.
        good: the best instances of the latest values, with their shapes.
        search: that of the latest value.
        counts: of all searches.
    """

    claim: Claim
    dial: Dial
    settings: Settings
    make: Callable[..., Search]
    until: float
    takes: Values
    probes: dict[Fraction, Probe] = field(default_factory=dict)
    good: list[tuple[Shape, Record]] = field(default_factory=list)
    search: Search | None = None
    counts: Counts = field(default_factory=Counts)

    def run(self) -> None:
        """Try both ends, then values between what is false and what survived, then the widest gaps.

        The gap is narrowed as long as there is time.
        """
        dial, until = self.dial, self.until
        budget = until - time.monotonic()
        self.probe(dial.low, END * budget)
        self.probe(dial.high, END * budget)
        stop = until - INSIDE * budget if budget < math.inf else math.inf
        while time.monotonic() < stop and (ends := self.ends()) is not None:
            middle = self.takes.between(*ends)
            narrow = abs(ends[1] - ends[0]) <= FINE * (dial.high - dial.low)
            if narrow or middle is None:
                break
            self.probe(middle, BETWEEN * budget)
        inside = _inside(sorted(self.probes), self.takes)
        for left, value in zip(range(len(inside), 0, -1), inside, strict=True):
            if time.monotonic() < until:
                self.probe(value, (until - time.monotonic()) / left)

    def probe(self, value: Fraction, seconds: float) -> None:
        """Try a value."""
        settings, given = self.settings, self.takes.given(value)
        self.search = search = self.make(dial=(self.dial.name, given), begin=(*self.good[:GOOD],))
        left = max(0.05, min(seconds, self.until - time.monotonic()))
        if left == math.inf:
            search.run(None, settings.tasks, enough=search.refuted)
        else:
            search.run((1 - DOUBT) * left, settings.tasks, enough=search.refuted)
            if not search.refuted():
                doubt(search, DOUBT * left)
        self.counts += search.counts
        best = max(
            search.best.values(),
            key=lambda one: (one.attained.refutes, one.attained.low),
            default=None,
        )
        extremal = None
        if best is not None:
            extremal = Extremal(best.instance(search.at), best.attained, best.key)
            self.good.insert(0, (best.shape, best.record))
        self.probes[value] = Probe(value, search.refuted(), extremal, search.counts.evaluated)
        if best is not None and best.attained.refutes:
            self.again(best)

    def again(self, finding: Finding) -> None:
        """An instance that refutes the statement at one value may do so where it survived."""
        for value, survived in self.probes.items():
            if survived.refuted:
                continue
            at = dialled(self.claim, self.dial.name, self.takes.given(value))
            instance = finding.instance(at)
            try:
                found = [one for one in attained(instance) if one.name == finding.name]
            except NotCertifiedError:  # a hypothesis that depends on the value
                continue
            if found and found[0].refutes:
                extremal = Extremal(instance, found[0], finding.key)
                self.probes[value] = replace(survived, refuted=True, best=extremal)

    def ends(self) -> tuple[Fraction, Fraction] | None:
        """The last value that is false, and the next one, which survived; None without such a pair.

        The values are gone through from the end of the interval that is false.
        """
        order = sorted(self.probes, reverse=not self.probes[self.dial.low].refuted)
        false = [place for place, value in enumerate(order) if self.probes[value].refuted]
        if not false or false[-1] == len(order) - 1:
            return None
        return order[false[-1]], order[false[-1] + 1]


def _smaller(probe: Probe, seconds: float) -> Probe:
    """A value with the instance that refutes the statement there made small."""
    best = probe.best
    if best is None or not seconds:
        return probe
    small = made_small(best.instance, best.attained.number, budget=seconds)
    [proved] = [one for one in attained(small) if one.number == best.attained.number]
    return replace(probe, best=Extremal(small, proved, best.key)) if proved.refutes else probe


def _inside(tried: list[Fraction], takes: Values) -> list[Fraction]:
    """Values in the widest gaps between those that were tried."""
    gaps = sorted(pairwise(tried), key=lambda pair: pair[0] - pair[1])
    values = (takes.between(*gap) for gap in gaps[:CHECKS])
    return [value for value in values if value is not None]
