"""Canaries of what a certificate holds: exact numbers, a small instance, the text of its claim."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rankcheck.canaries.canary import Canary
from rankcheck.canaries.known import declare, numbers, vectors
from rankcheck.claims.relations import Relation, leq
from rankcheck.counterexamples.instance import Instance
from rankcheck.counterexamples.reporting import report_violation
from rankcheck.instances.choices import read_choices

__all__ = ["CANARIES"]


#: Of one entry and of many.
_VECTORS = vectors(size=(1, 300))


def _large(x: Any) -> Relation:
    """False by half of what the instance below has from the single number 5 on."""
    return leq(x.sum(-1), 3.0)


def _certified(folder: Path, choices: list[Any], **options: Any) -> Any:
    """The fields of the certificate of an instance."""
    claim = declare("made small", _large, _VECTORS, folder)
    violation = Instance(claim, _VECTORS, read_choices(_VECTORS, choices))
    report_violation(violation, folder, **options)
    return json.loads((folder / f"{claim.id}.json").read_text(encoding="utf-8"))


def _small(folder: Path) -> str | None:
    smallest = _certified(folder, [300, [8, -0.3125, 1.5, *[0] * 297]])["smallest"]["instance"]
    return None if smallest == [1, [5]] else f"the smallest instance is {smallest}"


def _exact(folder: Path) -> str | None:
    kept = _certified(folder, [1, ["8191/1024"]], budget=None)["smallest"]
    said = kept["instance"], kept["lhs"], kept["excess"]
    if said != ([1, ["8191/1024"]], "8191/1024", "4.9990234375"):
        return f"of 8191/1024 > 3 the certificate says {said}"
    smaller, larger = ([1, [4]], [2, [4, 1]])
    for choices in (smaller, larger):
        kept = _certified(folder, choices, budget=None)["smallest"]
    return None if kept["instance"] == smaller else "a larger counterexample took its place"


def _text(folder: Path) -> str | None:
    first, second = (
        declare("a text", body, numbers(), folder).statement_hash
        for body in (lambda x: leq(x, x), _large)
    )
    return "two bodies have one hash" if first == second else None


CANARIES = (
    Canary("made small", "shrinking", _small),
    Canary("exact numbers", "certificates", _exact),
    Canary("the text of a body", "certificates", _text),
)
