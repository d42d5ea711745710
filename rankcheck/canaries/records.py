"""Canaries of records: what one says, what it does for a search, and what beats it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from rankcheck.canaries.canary import Canary
from rankcheck.canaries.known import FEW, declare, numbers, verified, wrong_in
from rankcheck.catalogue.kept import digest
from rankcheck.claims.claim import Claim
from rankcheck.claims.relations import Relation, leq
from rankcheck.claims.verdicts import Verdict
from rankcheck.counterexamples.instance import Instance
from rankcheck.instances.choices import read_choices
from rankcheck.records import Candidate, Records, attained, keep, renewed, stored_path

__all__ = ["CANARIES"]

#: No simple number, and none that a few random ones come near to.
PLACE = 4.7128
#: Its best ratio is 1/2, at 2, and falls off slowly.
_HALF: Callable[[Any], Relation] = lambda x: leq(2 * x, x * x + 4)  # noqa: E731
_WIDE = numbers(low=2.0)


def _instance(claim: Claim, number: float) -> Instance:
    return Instance(claim, _WIDE, read_choices(_WIDE, [number]))


def _kept(name: str, body: Any, number: float, folder: Path) -> Claim:
    """A claim whose record is held by a number."""
    claim = declare(name, body, _WIDE, folder)
    keep(claim, renewed(claim, Records.none(claim), [Candidate(_instance(claim, number))]).records)
    return claim


def _verified(
    body: Any, number: float, verdict: Verdict, says: str, folder: Path, **changes: Any
) -> str | None:
    """What is wrong with the row of a claim on record, of which fields of the best are changed."""
    claim = _kept("on record", body, number, folder)
    path = stored_path(claim)
    fields = json.loads(path.read_text(encoding="utf-8"))
    del fields["sha256"]
    fields["relations"][0]["best"] |= changes
    path.write_text(json.dumps({**fields, "sha256": digest(fields)}), encoding="utf-8")
    return wrong_in(verified(claim, FEW), verdict, says)


def _begins(folder: Path) -> str | None:
    """A spike of the ratio at one number, which the record has."""
    claim = _kept("a spike", lambda x: leq(1.0, 3 + 1e9 * (x - PLACE) ** 2), PLACE, folder)
    best = verified(claim, FEW).best_ratio
    return None if best == 1 / 3 else f"the best ratio is {best}, and on record is a third"


def _excused(folder: Path) -> str | None:
    """A bound that is attained at 2, on record and not on the tight family."""
    claim = _kept("attained at two", lambda x: leq(2.0, x), 2.0, folder)
    untight = replace(claim, loose=None, tight=numbers(low=4.0))
    return wrong_in(verified(untight, FEW), "failed", "is not tight on")


def _larger_only(folder: Path) -> str | None:
    claim = _kept("the larger one", _HALF, 2.0, folder)
    found = renewed(claim, Records.of(claim), [Candidate(_instance(claim, 3.0))])
    return f"a smaller ratio took its place: {found.better[0].new.ratio}" if found.better else None


def _enclosed(folder: Path) -> str | None:
    """Two thirds of a float are no two thirds; both ends enclose the ratio."""
    claim = declare("two thirds", lambda x: leq((2 / 3) * x, x), _WIDE, folder)
    [found] = attained(_instance(claim, 3.0))
    inside = found.low < Fraction(2, 3) < found.high
    return None if inside else f"2/3 is not between {found.low} and {found.high}"


CANARIES = (
    Canary("a record that its instance holds", "records",
           partial(_verified, _HALF, 2.0, "holds", "")),
    Canary("a record that says more than its instance", "records",
           partial(_verified, _HALF, 2.0, "failed", "it says that lhs / rhs is 0.6", ratio="0.6")),
    Canary("a record of another instance", "records",
           partial(_verified, _HALF, 2.0, "failed", "does not stand", choices=[3])),
    Canary("a record far below the best ratio", "records",
           partial(_verified, _HALF, 8.0, "failed", "is beaten: lhs / rhs is 0.5, and was")),
    Canary("a loose bound with a record of 1", "records",
           partial(_verified, lambda x: leq(x, x), 2.0, "failed", "take the reason away")),
    Canary("a tight family with room beside a record of 1", "records", _excused),
    Canary("a search that begins with its record", "records", _begins),
    Canary("a smaller ratio than on record", "records", _larger_only),
    Canary("a ratio between the ends of its balls", "records", _enclosed),
)  # fmt: skip
