"""Canaries of the controls: mutants, dropped hypotheses, derived mutants."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from rankcheck.canaries.canary import Canary
from rankcheck.canaries.known import FEW, declare, integers, known, numbers, verified
from rankcheck.claims.claim import Claim, Need
from rankcheck.claims.relations import Relation, eq, leq
from rankcheck.counterexamples.instance import Instance
from rankcheck.instances.drivers import BatchSource
from rankcheck.verification.counts import Counts
from rankcheck.verification.ledger import Row

__all__ = ["CANARIES"]


def _multiple(x: Any, *, by: float = 1.0) -> Relation:
    return leq(by * x, x)


def _square(x: Any) -> Relation:
    """True from 1 on, and false below."""
    return leq(x, x * x)


def _lost(x: Any, *, by: float = 0.0) -> Relation:
    """Floats lose the last digits of x, and a number that is smaller than these."""
    return eq((x + by * 2.0**14) - by * 2.0**14, x)


def _open(x: Any, *, by: float = 0.0) -> Relation:
    """Balls do not decide the sign of what is zero."""
    zero = (x.exp().log() - x).sign() * 0
    return leq(x + by * (x + zero), x + by * zero)


def _raising(x: Any, *, by: float = 0.0) -> Relation:
    """The mutant raises on most instances, so that Hypothesis finds others."""
    if by and bool((x > 2).any()):
        raise ArithmeticError("the mutant raises")
    return leq(x, x)


def _with_room(room: float) -> Any:
    def body(x: Any) -> Relation:
        return leq(x, (1 + room) * x)

    return body


def _sharp_at_minus_one(n: Any, x: Any) -> Relation:
    """Sharp for the integer 23 and the entry -1, which no stage but the scope draws."""
    return leq(x * 0 + 1, torch.where((n == 23) & (x == -1), 1.0, 1.04))


def _two(x: Any) -> tuple[Relation, Relation]:
    return leq(x, x, label="sharp"), leq(x, 2 * x, label="roomy")


def _broken_by(name: str, row: Row) -> str | None:
    if name not in row.broken_by:
        return f"the control {name!r} was broken, and the row has no instance of it"
    return None


def _killed(number: int, total: int, row: Row) -> str | None:
    seen = row.mutants.killed, row.mutants.total
    return None if seen == (number, total) else f"of {seen[1]} mutants {seen[0]} were caught"


def _hunted(folder: Path) -> str | None:
    """A mutant that only its hunt breaks: the hunt says so of an instance that no search sees."""
    claim = declare("hunted", _multiple, numbers(), folder, mutants={"half": {"by": 0.5}})
    asked: list[Mapping[str, Any]] = []

    def hunter(control: Claim, seed: int) -> Any:
        asked.append(control.parameters)
        refuted = declare("hunted", partial(_multiple, by=2.0), numbers(), folder)
        source = BatchSource(0, None)
        numbers()(source)
        violation = Instance(refuted, numbers(), source.record)
        return SimpleNamespace(violation=violation, margin=None, counts=Counts())

    row = verified(claim, hunter=hunter)
    if not asked:
        return "a mutant that survived was not hunted"
    return None if row.verdict == "holds" else f"the verdict is {row.verdict}, and has to be holds"


#: Below 1, where squares are smaller.
_BELOW = numbers(low=0.25, high=0.5)

CANARIES = (
    known("mutants", "a mutant of no effect", _multiple, "failed",
          says="the mutant 'nothing' survives", mutants={"nothing": {"by": 1.0}}),
    known("mutants", "a mutant that is false", _multiple, "holds",
          look=partial(_broken_by, "two percent"), mutants={"two percent": {"by": 1.02}}),
    known("mutants", "a mutant that only rounding breaks", _lost, "failed",
          says="the mutant 'lost digits' survives", mutants={"lost digits": {"by": 1.0}}),
    known("mutants", "a mutant that balls leave open", _open, "failed",
          says="the mutant 'open' survives", mutants={"open": {"by": 2.0**-40}}, profile=FEW),
    known("mutants", "a mutant that raises", _raising, "failed",
          says="survives; it raised ArithmeticError", mutants={"raising": {"by": 1.0}},
          profile=FEW),
    Canary("a mutant that survives is hunted", "mutants", _hunted),
    known("needs", "a hypothesis that can be dropped", _square, "failed",
          says="without the hypothesis 'x at least 1' does not break the claim",
          needs={"x at least 1": Need(numbers())}),
    known("needs", "a hypothesis that is needed", _square, "holds",
          look=partial(_broken_by, "x at least 1"), needs={"x at least 1": Need(_BELOW)}),
    known("needs", "a hypothesis with parameters", _multiple, "holds",
          needs={"at most 1": Need(numbers(), {"by": 1.02})}),
    known("derived mutants", "a bound with 4 percent of room", _with_room(0.04), "failed",
          says="survives", loose=None, look=partial(_killed, 0, 1)),
    known("derived mutants", "a bound with 1 percent of room", _with_room(0.01), "holds",
          loose=None, look=partial(_killed, 1, 1)),
    known("derived mutants", "a bound that is sharp in the scope alone", _sharp_at_minus_one,
          "holds", integers(), loose=None, look=partial(_killed, 1, 1)),
    known("derived mutants", "two bounds, one with room", _two, "failed", says="roomy", loose=None,
          look=partial(_killed, 1, 2)),
    known("derived mutants", "an identity moved by 2 percent", lambda x: eq(x, x), "holds",
          loose=None, kind="identity", look=partial(_killed, 1, 1)),
)  # fmt: skip
