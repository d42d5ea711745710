"""The properties of a claim in the report of its test, for JUnit files and other plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.engine.verification.ledger import Row

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim

#: All properties begin so.
PREFIX = "rankcheck."
CLAIM, VERDICT = f"{PREFIX}claim", f"{PREFIX}verdict"


def properties_of(claim: Claim, row: Row | None = None) -> list[tuple[str, object]]:
    """The properties of a claim, as texts by name; without a row, its id alone.

    A figure that the claim does not have is left out.
    """
    if row is None:
        return [(CLAIM, claim.id)]
    mutants = row.mutants
    values: dict[str, str | None] = {
        "kind": row.kind,
        "verdict": row.verdict,
        "reference": None if claim.reference is None else str(claim.reference),
        "best_ratio": None if row.best_ratio is None else repr(row.best_ratio),
        "deviation": None if row.deviation is None else repr(row.deviation),
        "mutants": f"{mutants.killed}/{mutants.total}" if mutants.total else None,
        "proved": None if row.proved is None else row.proved.short,
    }
    known = [(f"{PREFIX}{name}", value) for name, value in values.items() if value is not None]
    return [(CLAIM, claim.id), *known]


def put(properties: list[tuple[str, object]], new: list[tuple[str, object]]) -> None:
    """Replace those of an item; a test that runs again keeps those of its last run."""
    properties[:] = [pair for pair in properties if not pair[0].startswith(PREFIX)] + new
