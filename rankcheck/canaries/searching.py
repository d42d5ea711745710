"""Canaries of the stages of a search, each false where one stage alone looks, and of relations.

The scope has entries from {-1, 0, 1} and the least integers of a range, the sweep many instances,
and Hypothesis few, of which many are simple.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from rankcheck.canaries.canary import Canary
from rankcheck.canaries.known import (
    FEW,
    PROFILE,
    UNSCOPED,
    declare,
    integers,
    known,
    numbers,
    vectors,
    verified,
)
from rankcheck.claims.relations import LARGEST, Relation, eq, leq
from rankcheck.instances.source import Source, instances
from rankcheck.scalars import constant
from rankcheck.verification.ledger import Row

__all__ = ["CANARIES"]

#: No simple number lies this near to that one, and of many random ones some do.
PLACE, NEAR = 4.7123, 0.002
#: So many that some lie there.
MANY = replace(PROFILE, batches=8, size=4096)


@instances
def _shapes(source: Source, *, count: int) -> Any:
    """One of several shapes, and a number."""
    n = source.integer(0, count - 1)
    return constant(n, x := source.tensor(low=1.0, high=8.0)), x


@instances
def _options(source: Source) -> Any:
    sign = source.choice((1, -1, 0))
    return constant(sign, x := source.tensor()), x


@instances
def _only_negative(source: Source) -> Any:
    x = source.tensor(low=-8.0, high=8.0)
    source.require(x <= 0, "x is not positive")
    return x


@instances
def _nothing(source: Source) -> Any:
    """Of two choices, so that Hypothesis soon knows them all."""
    source.require(source.integer(0, 1) > 1, "the choice is larger than it can be")
    return source.tensor(low=-8.0, high=8.0)


def _off(x: Any) -> Relation:
    return leq(NEAR, (x - PLACE).abs())


def _off_at_one_shape(n: Any, x: Any) -> Relation:
    """False near a number, at one shape alone."""
    return leq(torch.where(n == 5, 0.25, 0.0), (x - PLACE).abs())


def _behind_rounding(x: Any) -> Relation:
    """False by 1e-12 on few numbers; on the others floats lose a term that is larger."""
    few = (x > 4.6) & (x < 5.6)
    lost = (x * 0 + 5e-12 + 2.0**16) - 2.0**16
    return eq(x + torch.where(few, x * 0 + 1e-12, lost), x + torch.where(few, x * 0, x * 0 + 5e-12))


def _not_minus_one(n: Any, x: Any) -> Relation:
    """False of the integer 23 and the entry -1, and of what lies near."""
    return leq(constant(1.0, x), (n - 23).abs() + (x + 1).abs() * 8)


def _not_in_the_middle(n: Any, x: Any) -> Relation:
    """False of integers that are neither among the least of a range nor likely in it."""
    return leq(torch.where(n >= 64, 2.0**24, 0.0), n + x * 0)


def _near(x: Any) -> Relation:
    return leq((-(x - PLACE).square()).exp(), 1.5)


def _sharp_at_most(x: Any) -> Relation:
    return leq(x, 8.5)


def _true(x: Any) -> Relation:
    return leq(x, x * x)


def _false(x: Any) -> Relation:
    return leq(x, x * 0)


def _hidden(x: Any) -> Relation:
    return leq(2 * x, x, scale=constant(1e20, x))


def _swept_all(row: Row) -> str | None:
    if row.swept.total != PROFILE.batches * PROFILE.size:
        return f"{row.swept.total} instances were swept of {PROFILE.batches * PROFILE.size}"
    return None if row.drawn.total else "none was drawn"


def _enumerated(number: int, row: Row) -> str | None:
    seen = None if row.scope is None else row.scope.counts.evaluated
    return None if seen == number else f"{seen} instances were enumerated, and there are {number}"


def _smallest(*parts: str) -> Callable[[Row], str | None]:
    """The counterexample of a row has these parts."""

    def look(row: Row) -> str | None:
        shown = "nothing" if row.counterexample is None else row.counterexample.description
        return None if all(part in shown for part in parts) else f"the smallest is {shown}"

    return look


def _some_rejected(row: Row) -> str | None:
    return None if row.counts.rejected else "the row says that none was rejected"


def _by_seed(folder: Path) -> str | None:
    """The best ratio of a sweep is that of the instance nearest to one number."""
    claim = declare("swept by seed", _near, numbers(), folder)
    first, again, other = (verified(claim, PROFILE, seed=seed).best_ratio for seed in (0, 0, 1))
    if first != again:
        return "two sweeps of one seed differ"
    return "the sweeps of two seeds are the same" if first == other else None


def _one_of_many(x: Any) -> tuple[Relation, Relation]:
    """False in the last entry of the last relation."""
    return leq(x, x), leq(torch.stack([x, x, 1.02 * x], -1), torch.stack([x, x, x], -1))


def _largest_integers(x: Any) -> Relation:
    """Their difference is larger than a tensor can hold."""
    return leq((x > 0).long() * LARGEST, -2)


def _bands(x: Any) -> Relation:
    return leq(1.02 * x, x, error=constant(torch.inf, x) if isinstance(x, torch.Tensor) else None)


CANARIES = (
    known("search", "true", _true, "holds", look=_swept_all, short=True),
    known("search", "false by 2 percent", lambda x: leq(1.02 * x, x), "refuted", short=True),
    known("search", "false by 1e-6", lambda x: leq(x + 1e-6 * x, x), "refuted"),
    known("search", "false by 1e-12", lambda x: leq(x + 1e-12 * x, x), "refuted"),
    known("search", "false only inside where", lambda x: leq(x, 2.0, where=x > 2), "refuted"),
    known("search", "false only outside where", lambda x: leq(x, 2.0, where=x <= 2), "holds"),
    known("search", "false only where it is rejected", lambda x: leq(x, 0.0), "holds",
          _only_negative(), look=_some_rejected),
    known("scope", "false of one small integer and one sign", _not_minus_one, "refuted",
          integers(), look=_smallest("= 23", "-1"), says="smallest: the first violation"),
    known("scope", "as many as there are", lambda x: leq(x, x * x + 1), "holds", vectors(),
          look=partial(_enumerated, 3 + 9), profile=replace(PROFILE, scope=2)),
    known("scope", "with each option", lambda n, x: leq(n * x, x * x + 1), "holds", _options(),
          look=partial(_enumerated, 3 * 3)),
    known("scope", "the smallest of many", lambda x: leq(x.abs().sum(-1), 0.0), "refuted",
          vectors(), look=_smallest("= [1]"), profile=replace(PROFILE, scope=2)),
    known("sweep", "false near one number", _off, "refuted", profile=MANY, short=True),
    known("sweep", "false at one shape of eight", _off_at_one_shape, "refuted", _shapes(count=8),
          profile=replace(UNSCOPED, batches=50, size=256)),
    known("sweep", "false behind rounding", _behind_rounding, "refuted",
          profile=replace(PROFILE, batches=50, size=4)),
    Canary("swept by seed", "sweep", _by_seed),
    known("draws", "false only for what Hypothesis draws", _not_in_the_middle, "refuted",
          integers(high=2**50), profile=replace(PROFILE, drawn=100)),
    known("tight family", "false on the tight family", _sharp_at_most, "refuted",
          tight=numbers(low=8.75, high=9.0)),
    known("tight family", "a tight family with room", lambda x: leq(x, 9.0), "failed",
          says="is not tight on", loose=None, tight=numbers(low=7.0, high=8.0)),
    known("tight family", "one of two bounds with room",
          lambda x: (leq(x, 9.0, label="the first"), leq(x, x)), "failed",
          says="the first is not tight on", loose=None, tight=numbers(low=7.0, high=8.0)),
    known("tight family", "a tight family without an instance", lambda x: leq(x, x), "failed",
          says="none of its instances satisfied", loose=None, tight=_nothing(), profile=FEW),
    known("vacuity", "every instance rejected", _false, "failed", _nothing(),
          says="no instance satisfied the hypotheses", profile=FEW),
    known("vacuity", "a relation that is never asserted",
          lambda x: (leq(x, x), leq(2 * x, x, where=x > 9, label="second")), "failed",
          says="second is asserted on 0 of"),
    known("vacuity", "a tolerance that hides the sides", _hidden, "failed", says="hides its sides"),
    known("relations", "false in one entry of one relation", _one_of_many, "refuted"),
    known("relations", "an identity with a smaller left side", lambda x: eq(x, 1.02 * x),
          "refuted"),
    known("relations", "integers far apart", _largest_integers, "refuted"),
    known("relations", "a tolerance without end", _bands, "refuted"),
)  # fmt: skip
