"""A badge of a ledger for shields.io: how many claims are as expected."""

from __future__ import annotations

from collections.abc import Sequence

from rankcheck.claims.verdicts import VERDICTS
from rankcheck.verification.ledger import Row

__all__ = ["FIELDS", "badge"]

#: What a badge has, and nothing else (https://shields.io/badges/endpoint-badge).
FIELDS = ("schemaVersion", "label", "message", "color")


def badge(rows: Sequence[Row]) -> dict[str, object]:
    """The badge of a ledger, as shields.io reads it.

    It is red if a claim is refuted or failed and should not be, yellow if claims are undecided,
    and grey if there are none.
    """
    wrong = [row for row in rows if not row.expected]
    claims = f"{len(rows)} claim{'s' * (len(rows) != 1)}"
    if not rows:
        message, color = "no claims", "lightgrey"
    elif not all(VERDICTS[row.verdict].open for row in wrong):
        message, color = f"{len(wrong)} of {claims} not as expected", "red"
    elif wrong:
        message, color = f"{len(wrong)} of {claims} undecided", "yellow"
    else:
        message, color = f"{claims} as expected", "brightgreen"
    return dict(zip(FIELDS, (1, "rankcheck", message, color), strict=True))
