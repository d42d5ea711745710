"""A ledger as text."""

from dataclasses import replace

import pytest

from rankcheck.claims.counterexample import Counterexample
from rankcheck.engine.verification.ledger import Mutants, RelationFacts
from rankcheck.faces.terminal import table


def test_the_totals_name_every_verdict(row):
    verdicts = [
        ("bound", "holds"),
        ("refuted", "refuted"),
        ("step", "refuted"),
        ("conjecture", "guarded"),
        ("cited", "cited"),
        ("conjecture", "refuted"),
        ("bound", "failed"),
        ("bound", "undecided"),
        ("step", "failed"),
        ("bound", "guarded"),
    ]
    rows = [row(n, kind=kind, verdict=verdict) for n, (kind, verdict) in enumerate(verdicts)]
    assert table.total(rows, 1.0, "ci", 2).startswith(
        "10 claims: 1 hold, 2 refuted by certificate, 1 guarded, 1 cited, 1 REFUTED, 1 GUARDED, "
        "2 FAILED, 1 UNDECIDED"
    )
    assert len(table.messages(rows)) == 5
    assert table.messages(rows)[-1] == f"{rows[-1].id}: guarded"


@pytest.mark.parametrize(
    ("relations", "shown"),
    [
        ([RelationFacts(ratio=0.5), RelationFacts(deviation=1e-9, ratio=0.99999)], "1.0000"),
        ([RelationFacts(deviation=1e-17), RelationFacts(deviation=5.55e-15)], "5.5e-15"),
        ([RelationFacts(deviation=0.0)], "exact"),
        ([], ""),
    ],
)
def test_the_best_ratio_or_the_deviation(row, relations, shown):
    assert row(relations=tuple(relations)).best == shown


def test_a_refuted_row_shows_its_refutation(row):
    """Not what was seen before it: the largest ratio, and the share of what was looked at."""
    sides = {"lhs": "5/2", "rhs": "2", "excess": "1/2"}
    found = Counterexample(label="", kind="leq", **sides, description="", family="f()", bits=128)
    refuted = row(verdict="refuted", kind="conjecture", counterexample=found)
    assert (refuted.best_ratio, refuted.best) == (1.25, "1.2500")
    assert replace(refuted, counterexample=replace(found, kind="eq")).best == ""
    assert replace(refuted, counterexample=replace(found, rhs="-1")).best_ratio is None
    assert found.sentence in table.facts(refuted)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"mutants": Mutants()}, "it has no control"),
        ({"mutants": Mutants(0, 2)}, "none of its controls was caught"),
        ({"mutants": Mutants(), "unbroken": ("x",)}, "none of its controls was caught"),
        ({"relations": ()}, "it has no ratio and no tight family"),
        ({}, ""),
    ],
)
def test_a_guard_of_unknown_strength_says_why(row, values, why):
    guarded = row(verdict="guarded", kind="conjecture", **values)
    assert guarded.weakness == why
    assert ("strength unknown" in table.sentence(guarded)) == bool(why)
