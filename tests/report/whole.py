"""A made-up ledger of the whole catalogue: a row for each claim, none lighter than usual."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

from rankcheck.catalogue.collect import project
from rankcheck.catalogue.entry import Entry
from rankcheck.claims.counterexample import Counterexample, Step
from rankcheck.claims.kinds import FALSE, KINDS
from rankcheck.verification.counts import Counts
from rankcheck.verification.ledger import Ledger, Mutants, RelationFacts, Row

NETWORK = (
    "depth 2, slope 0.123456789, W_1 = [[1, 0.12345678901234], [2, 1/3]], b_1 = [0, 1], "
    "W_2 = [[1, 2]], b_2 = [0], x = [2, 0.98765432109876]"
)
#: What a claim about all networks has in a run.
FOUND = {
    "swept": Counts(15360, 142),
    "drawn": Counts(24),
    "relations": tuple(
        RelationFacts(label, "leq", 0.98, 0.75, 1.0, sharpest=NETWORK)
        for label in ("the first relation", "the second relation")
    ),
    "reached": {"depth of net": dict.fromkeys(range(1, 6), 9)},
    "needs": ("every entry is positive",),
    "broken_by": dict.fromkeys(("every entry is positive", "exponent 2.04/L", "half"), NETWORK),
    "mutants": Mutants(2, 2),
}
STEP = Step("power", "schatten_power(J, Fraction(2, L))", "≈ 1.2345")


@cache
def whole() -> Ledger:
    """Every claim as it is expected to come out, with what its certificate proves."""
    rows = [_row(entry) for entry in project()]
    return Ledger.of(rows, profile="quick", seed=0, seconds=600.0)


def _row(entry: Entry) -> Row:
    verdict = KINDS[entry.kind].expects
    if verdict == "cited":
        return Row.of(entry, verdict)
    if entry.kind not in FALSE:
        return Row.of(entry, verdict, **FOUND)
    path = entry.file.parent / "certificates" / f"{entry.id}.json"
    found = Counterexample.of(json.loads(path.read_text("utf-8"))["smallest"])
    found = replace(found, steps=(STEP,) * 12)
    return Row.of(entry, verdict, counterexample=found, certificate=str(path))
