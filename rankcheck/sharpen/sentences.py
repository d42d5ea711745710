"""Sentences on a sharpening, from its JSON, for its text and its page.

Every number is one of the JSON, rounded; a room is the inverse of a ratio. A number that was
recognised "looks like" something, and what holds on instances holds "on all that was tried". The
sentences end without a full stop, and are empty where there is nothing to say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, Literal

from rankcheck.claims.counterexample import rounded
from rankcheck.claims.signs import SIGNS
from rankcheck.engine.counterexamples.describe import approximately

Data = Mapping[str, Any]
#: What became of a relation. `open`: nothing is certified.
Standing = Literal["false", "sharp", "loose", "equal", "open"]

#: A bound whose ratio comes this close to 1 is called sharp.
SHARP = Fraction(1, 10**6)
#: A room of at least this factor is written as a factor, a smaller one in per cent.
FACTOR = Fraction(3, 2)
#: A limit is written with so many places, at most.
MOST_PLACES = 12
#: A number looks like so many things, at most.
LIKE = 3


def shown(ratio: str, digits: int = 10) -> str:
    """A ratio with so many digits, or its distance from 1 where it would read as 1.

    >>> shown("0.26013004751144445"), shown("0.99999999999999977"), shown("1")
    ('0.2601300475', '1 - 2.3e-16', '1')
    """
    value = Fraction(ratio)
    text = approximately(value, digits)
    if text != "1" or value == 1:
        return text
    return f"1 {'-' if value < 1 else '+'} {approximately(abs(1 - value), 2)}"


def _rounded(value: Fraction, digits: int, rounding: str) -> str:
    """A rational as a decimal number that is not larger, or not smaller."""
    context = Context(prec=digits, rounding=rounding)
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    shortest = quotient.normalize(context)
    return f"{shortest:f}" if -4 <= shortest.adjusted() < 8 else f"{shortest:e}"


def key(by: Sequence[str], values: Sequence[int]) -> str:
    """The sizes of a group of shapes.

    >>> key(["depth of net", "width of net"], [2, 3])
    'depth of net 2, width of net 3'
    """
    return ", ".join(f"{name} {value}" for name, value in zip(by, values, strict=True))


def standing(relation: Data) -> Standing:
    """What is proved of a relation, by its largest certified ratio or deviation."""
    if relation["refuted"]:
        return "false"
    if relation["best"] is None:
        return "open"
    if not SIGNS[relation["kind"]].bound:
        return "equal"
    return "sharp" if Fraction(relation["best"]["ratio"]) >= 1 - SHARP else "loose"


def headline(relation: Data) -> str:
    """What is known of the constant of a relation."""
    if relation["best"] is None:
        how = "false as written" if relation["refuted"] else "no ratio is certified"
        return f"{how}: {relation['why']}"
    if SIGNS[relation["kind"]].bound:
        return (
            f"false as written: {_beyond(relation)}" if relation["refuted"] else _within(relation)
        )
    if relation["refuted"]:
        apart = shown(relation["best"]["ratio"])
        return f"false as written: the sides differ by {apart} of the larger one"
    return "the two sides agree: on all that was tried, no difference is proved"


def _beyond(relation: Data) -> str:
    """What is known of a bound that fails."""
    ratio, reaches = Fraction(relation["best"]["ratio"]), _reaches(relation)
    if relation["growing"]:
        return f"{reaches}; no bound is in sight"
    if ratio > 1:
        enough = _rounded(Fraction(relation["best"]["high"]), 6, ROUND_CEILING)
        return f"{reaches}; with the right side times {enough} nothing that was tried breaks it"
    if ratio == 1 and SIGNS[relation["kind"]].strict:
        return f"{reaches}, and equal sides do not satisfy <"
    return f"it fails where its right side is not positive; elsewhere {reaches}"


def _within(relation: Data) -> str:
    """What is known of a bound that holds on all that was tried."""
    ratio, reaches = Fraction(relation["best"]["ratio"]), _reaches(relation)
    if relation["growing"]:
        return f"{reaches}; no bound is in sight"
    if ratio == 1:
        return f"{reaches}: equality is attained, and no factor below 1 on the right would do"
    if ratio <= 0:
        return f"{reaches}: on all that was tried, the left side is not proved to be positive"
    if ratio >= 1 - SHARP:
        most = _rounded(100 * (1 - ratio), 2, ROUND_CEILING)
        return f"{reaches}: the right side cannot be smaller by more than {most} %"
    room = _room(Fraction(relation["best"]["high"]))
    return f"{reaches}: on all that was tried, the right side could be {room} smaller"


def _reaches(relation: Data) -> str:
    grows = " and grows with the instance" if relation["growing"] else ""
    return f"lhs/rhs reaches {shown(relation['best']['ratio'])}{grows}"


def _room(high: Fraction) -> str:
    """By how much a right side could be smaller, rounded down."""
    if 1 / high >= FACTOR:
        return f"{_rounded(1 / high, 4, ROUND_FLOOR)} times"
    return f"{_rounded(100 * (1 - high), 3, ROUND_FLOOR)} %"


def even(relation: Data) -> bool:
    """Whether all groups of shapes have the same ratio, in the digits that are shown."""
    return len({shown(one["best"]["ratio"]) for one in relation["by"]}) == 1


def recognised(relation: Data) -> Sequence[Data]:
    """What the number looks like, the likeliest first; nothing if it is written out already."""
    best, found = relation["best"], relation["looks_like"]
    if best is None or (found and found[0]["text"] == shown(best["ratio"])):
        return []
    return list(found[:LIKE])


def looks_like(relation: Data) -> str:
    """What the number looks like."""
    names = [f"{one['text']} ({one['digits']} digits agree)" for one in recognised(relation)]
    return f"looks like {', or like '.join(names)}; that is no proof" if names else ""


def limit(trend: Data) -> str:
    """A limit with as many places as its error leaves, and the error; empty of growth.

    >>> limit({"limit": 1.38629436, "error": 0.0043})
    '1.3863 ± 0.0043'
    """
    if trend["limit"] is None:
        return ""
    error = f"{trend['error']:.2g}"
    places = 1 - math.floor(math.log10(trend["error"])) if trend["error"] > 0 else MOST_PLACES
    return f"{trend['limit']:.{min(max(places, 0), MOST_PLACES)}f} ± {error}"


def trend(by: Sequence[str], relation: Data) -> str:
    """What is extrapolated, unless all values are the same.

    Args:
        by: the names of the sizes that group shapes; a trend is one in the first.
    """
    found = relation["trend"]
    if found is None or even(relation):
        return ""
    size, value = found["next"]
    model = found["model"].rstrip(".")
    to = f"the limit is {limit(found)} ({model})" if limit(found) else model
    return f"extrapolated in {by[0]}: {to}; {value:.7g} is expected at {size}"


def unmeasured(relation: Data) -> str:
    """On how many instances a bound has no ratio; empty if on few, or on all."""
    away = round(100 * (1 - relation["measured"]))
    if not (0 < away < 100 and SIGNS[relation["kind"]].bound):
        return ""
    return f"at {away} % of the instances its right side is not positive; of those no ratio speaks"


def record(relation: Data) -> str:
    """Whether the record that the run began with is beaten."""
    before = relation["record"]
    if before is None:
        return ""
    best = relation["best"]
    if best is None or Fraction(best["ratio"]) <= Fraction(before):
        return f"the record before, {shown(before)}, stands"
    old, new = rounded(before, best["ratio"])
    return f"the record before, {old}, is beaten: {new}"


def between(dial: Data) -> tuple[Fraction, Fraction] | None:
    """The ends of what lies between the false values and those that survived.

    None if one of the two is missing, or they alternate, or nothing lies between two whole numbers.
    """
    if dial["false"] is None or dial["survived"] is None or not dial["monotone"]:
        return None
    false, survived = (list(map(Fraction, dial[name])) for name in ("false", "survived"))
    ends = (false[1], survived[0]) if false[1] < survived[0] else (survived[1], false[0])
    apart = ends[1] - ends[0]
    return ends if apart > (1 if dial["whole"] else 0) else None


def frontier(dial: Data) -> str:
    """Where a dial is proved false and where it survived, in a sentence without its full stop."""
    false, survived = dial["false"], dial["survived"]
    if false is None and survived is None:
        return "no value was decided"
    if false is None:
        return f"no value is proved false; survived {_values(survived)}"
    if survived is None:
        return f"proved false {_values(false)}; no value survived"
    gap = between(dial)
    said = f"proved false {_values(false)}; survived {_values(survived)}"
    if not dial["monotone"]:
        return f"{said}; the two alternate, so there is no one frontier"
    return said if gap is None else f"{said}; open between {gap[0]} and {gap[1]}"


def _values(ends: Sequence[str]) -> str:
    """The values that were tried in an interval."""
    return f"at {ends[0]}" if ends[0] == ends[1] else f"at all tried from {ends[0]} to {ends[1]}"


def closing(data: Data) -> str:
    """What the run did, in a sentence without its full stop."""
    counts, how = data["counts"], "interrupted after " if data["interrupted"] else ""
    budget = "" if data["budget"] is None else f" of {data['budget']:g}"
    rejected = f" ({counts['rejected']} rejected)" if counts["rejected"] else ""
    return (
        f"{how}{data['seconds']:.1f}{budget} s, {_many(data['shapes'], 'shape')}, "
        f"{_many(counts['evaluated'], 'instance')}{rejected}, seed {data['seed']}"
    )


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
