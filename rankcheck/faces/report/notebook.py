"""HTML for notebooks: claims, rows, ledgers, hunts, counterexamples, sharpenings, proofs."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

from rankcheck.audit.result import Audit
from rankcheck.claims.claim import Claim
from rankcheck.decide.prove.result import Result
from rankcheck.engine.counterexamples.refutation import Refutation
from rankcheck.engine.hunt.result import Hunt
from rankcheck.engine.verification.ledger import Ledger, Row
from rankcheck.faces.report.audit import audit_fragment
from rankcheck.faces.report.page import ClaimPart, fragment, render
from rankcheck.faces.report.sharpening import sharpening_fragment
from rankcheck.sharpen.result import Sharpened


@singledispatch
def html(shown: object) -> str:
    """What a notebook shows of an object: a claim, a row, a ledger, a hunt, and so on.

    Raises:
        TypeError: for any other object.
    """
    raise TypeError(f"there is no page for {type(shown).__name__}")


@html.register
def _(shown: Claim) -> str:
    return fragment([Row.of(shown, "cited")], verified=False)


@html.register
def _(shown: Row) -> str:
    return fragment([_without_text(shown)])


@html.register
def _(shown: Ledger) -> str:
    return fragment(shown.rows, table=True)


@html.register
def _(shown: Hunt) -> str:
    tried = f"{shown.seconds:.1f} s, seed {shown.seed}"
    if shown.rounds:
        searched = f"{shown.counts.evaluated} instances of {shown.shapes} shapes"
        tried = f"{searched} in {shown.rounds} rounds, {tried}"
    row = Row.of(
        shown.claim,
        "undecided" if shown.counterexample is None else "refuted",
        counterexample=shown.counterexample,
        certificate=shown.certificate,
        messages=(shown.message, tried),
    )
    said = "gave up" if shown.verdict == "gave_up" else shown.verdict
    return fragment([_without_text(row)], verified=False, said=said)


def _without_text(row: Row) -> Row:
    """A row without the text of its counterexample, which is shown in its place."""
    return row if row.counterexample is None else replace(row, messages=row.messages[1:])


@html.register
def _(shown: Refutation) -> str:
    part = ClaimPart.of(Row.of(shown.claim, "refuted", certificate=shown.certificate), None)
    return render("counterexample_fragment.html", found=shown, part=part)


@html.register
def _(shown: Sharpened) -> str:
    return sharpening_fragment(shown.to_json())


@html.register
def _(shown: Result) -> str:
    return render("prove_fragment.html", shown=shown)


@html.register
def _(shown: Audit) -> str:
    return audit_fragment(shown)
