"""HTML for notebooks, of claims, rows, ledgers, hunts, sharpenings, proofs and audits."""

from __future__ import annotations

from functools import singledispatch

from markupsafe import escape

from rankcheck.audit.result import Audit
from rankcheck.claims.claim import Claim
from rankcheck.hunt.result import Hunt
from rankcheck.prove.result import Result
from rankcheck.report.audit import audit_fragment
from rankcheck.report.page import fragment
from rankcheck.report.sharpening import sharpening_fragment
from rankcheck.sharpen.result import Sharpened
from rankcheck.verification.ledger import Ledger, Row

__all__ = ["html"]


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
    return fragment([shown])


@html.register
def _(shown: Ledger) -> str:
    return fragment(shown.rows, table=True)


@html.register
def _(shown: Hunt) -> str:
    proved = shown.smallest if shown.smallest is not None and shown.smallest.proved else None
    section = shown.counterexample
    row = Row.of(
        shown.claim,
        "refuted" if proved is not None else "undecided",
        counterexample=section,
        certificate=shown.certificate,
        messages=(shown.message,),
    )
    return fragment([row], verified=False)


@html.register
def _(shown: Sharpened) -> str:
    return sharpening_fragment(shown.to_json())


@html.register
def _(shown: Result) -> str:
    return f'<pre class="rankcheck">{escape(shown.message)}</pre>\n'


@html.register
def _(shown: Audit) -> str:
    return audit_fragment(shown)
