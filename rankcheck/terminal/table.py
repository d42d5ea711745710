"""A ledger as plain text: its rows as a table, a row as a line, and the totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rankcheck.verification.counts import Counts
from rankcheck.verification.ledger import Row

__all__ = ["HEADINGS", "best", "cells", "count", "lines", "messages", "sentence", "total"]

#: The columns, with their alignment: 100 characters for the longest ids.
HEADINGS = {
    "claim": "<",
    "kind": "<",
    "verdict": "<",
    "scope": ">",
    "tried": ">",
    "best": ">",
    "killed": ">",
    "sec": ">",
}
#: How the totals name the rows that are as expected, by verdict, and the others.
_GOOD = {
    "holds": "hold",
    "refuted": "refuted by certificate",
    "guarded": "guarded",
    "cited": "cited",
}
_BAD = {
    "refuted": "REFUTED",
    "failed": "FAILED",
    "undecided": "UNDECIDED",
}


def cells(row: Row) -> tuple[str, ...]:
    """The cells of a row, in the order of `HEADINGS`; a cell without a value is empty."""
    mutants = row.mutants
    return (
        row.id,
        row.kind,
        row.verdict,
        scope(row),
        _instances(row.drawn + row.swept + row.tight_swept),
        best(row),
        f"{mutants.killed}/{mutants.total}" if mutants.total else "",
        f"{row.seconds:.1f}" if row.kind != "cited" else "",
    )


def scope(row: Row) -> str:
    """How many instances were enumerated, and up to how many entries: `7767≤6`."""
    if row.scope is None or not row.scope.instances:
        return ""
    return f"{count(row.scope.instances)}≤{row.scope.entries}"


def best(row: Row) -> str:
    """The largest lhs / rhs of a bound, or the largest deviation of an identity."""
    if row.best_ratio is not None:
        return f"{row.best_ratio:.4f}"
    if row.deviation is None:
        return ""
    return "exact" if row.deviation == 0 else f"{row.deviation:.1e}"


def _instances(counts: Counts) -> str:
    return count(counts.evaluated) if counts.evaluated else ""


def count(number: int) -> str:
    """A number in at most five characters: 12288, 123k, 1.23M."""
    if number < 100_000:
        return str(number)
    if number < 1_000_000:
        return f"{number / 1e3:.0f}k"
    return f"{number / 1e6:.3g}M"


def lines(rows: Iterable[Row]) -> list[str]:
    """The table as lines of text: its headings, then the rows sorted by id."""
    table = [tuple(HEADINGS), *(cells(row) for row in sorted(rows, key=lambda row: row.id))]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [_line(line, widths).rstrip() for line in table]


def _line(line: Sequence[str], widths: Sequence[int]) -> str:
    return " ".join(
        f"{cell:{side}{width}}"
        for cell, side, width in zip(line, HEADINGS.values(), widths, strict=True)
    )


def sentence(row: Row) -> str:
    """A row as a line: the verdict, the id, and the numbers."""
    _, kind, verdict, small, _, ratio, mutants, seconds = cells(row)
    drawn, swept = _instances(row.drawn), _instances(row.swept + row.tight_swept)
    parts = [
        kind,
        small and f"scope {small}",
        drawn and f"{drawn} drawn",
        swept and f"{swept} swept",
        ratio and f"best {ratio}",
        mutants and f"mutants {mutants}",
        seconds and f"{seconds} s",
    ]
    return f"{verdict:9}  {row.id}  ({', '.join(part for part in parts if part)})"


def total(rows: Sequence[Row], seconds: float, profile: str, seed: int) -> str:
    """The totals of a ledger as a line."""
    good = Counter(row.verdict for row in rows if row.expected)
    bad = Counter(_BAD.get(row.verdict, row.verdict.upper()) for row in rows if not row.expected)
    counts = [f"{good[name]} {said}" for name, said in _GOOD.items() if good[name]]  # type: ignore[index]
    counts += [f"{bad[said]} {said}" for said in sorted(bad, key=_order)]
    claims = "1 claim" if len(rows) == 1 else f"{len(rows)} claims"
    return (
        f"{claims}: {', '.join(counts) or 'none verified'}"
        f" · {seconds:.1f} s · profile {profile} · seed {seed}"
    )


def _order(said: str) -> int:
    known = list(_BAD.values())
    return known.index(said) if said in known else len(known)


def messages(rows: Iterable[Row]) -> list[str]:
    """For each row that is not as expected, why; a paragraph a row."""
    return [
        "\n".join(row.messages) or f"{row.id}: {row.verdict}" for row in rows if not row.expected
    ]
