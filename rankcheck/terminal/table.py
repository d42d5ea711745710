"""A ledger as plain text: the cells of its rows, and its sum in a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rankcheck.verification.ledger import Row

#: The columns, with their alignment: 100 characters for the longest ids.
HEADINGS = {
    "claim": "<",
    "kind": "<",
    "verdict": "<",
    "drawn": ">",
    "swept": ">",
    "best": ">",
    "killed": ">",
    "sec": ">",
}
#: What a row says of an identity.
_EQUAL = "equal to "
#: How the sum speaks of a verdict, in this order.
_SUMMED = {
    "holds": "hold",
    "refuted": "refuted by certificate",
    "guarded": "guarded",
    "cited": "cited",
    "failed": "FAILED",
    "undecided": "UNDECIDED",
}


def cells(row: Row) -> tuple[str, ...]:
    """A row of the table; nothing where there is nothing to say."""
    mutants = row.mutants
    return (
        row.id,
        row.kind,
        row.verdict,
        count(row.drawn) if row.drawn else "",
        count(row.swept) if row.swept else "",
        best(row),
        f"{mutants.killed}/{mutants.total}" if mutants.total else "",
        f"{row.seconds:.1f}" if row.kind != "cited" else "",
    )


def best(row: Row) -> str:
    """The best ratio lhs / rhs of a bound; how closely an identity was seen to hold."""
    if row.best_ratio is not None:
        return f"{row.best_ratio:.4f}"
    if row.tight is None or not row.tight.startswith(_EQUAL):
        return ""
    deviation = row.tight.removeprefix(_EQUAL)
    return "exact" if float(deviation) == 0 else deviation


def count(number: int) -> str:
    """A number in at most five characters: 12288, 123k, 1.23M."""
    if number < 100_000:
        return str(number)
    if number < 1_000_000:
        return f"{number / 1e3:.0f}k"
    return f"{number / 1e6:.3g}M"


def lines(rows: Iterable[Row]) -> list[str]:
    """The table as lines of text, sorted by id, under its headings."""
    table = [tuple(HEADINGS), *(cells(row) for row in sorted(rows, key=lambda row: row.id))]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [_line(line, widths).rstrip() for line in table]


def _line(line: Sequence[str], widths: Sequence[int]) -> str:
    return " ".join(
        f"{cell:{side}{width}}"
        for cell, side, width in zip(line, HEADINGS.values(), widths, strict=True)
    )


def sentence(row: Row) -> str:
    """A row in a line of its own: what was done, and how it ended."""
    _, kind, verdict, drawn, swept, ratio, mutants, seconds = cells(row)
    parts = [
        kind,
        drawn and f"{drawn} drawn",
        swept and f"{swept} swept",
        ratio and f"best {ratio}",
        mutants and f"mutants {mutants}",
        seconds and f"{seconds} s",
    ]
    return f"{verdict:9}  {row.id}  ({', '.join(part for part in parts if part)})"


def total(rows: Sequence[Row], seconds: float, profile: str, seed: int) -> str:
    """The sum of a ledger in a line."""
    verdicts = Counter(row.verdict for row in rows)
    counts = [f"{verdicts[name]} {said}" for name, said in _SUMMED.items() if verdicts[name]]  # type: ignore[index]
    claims = "1 claim" if len(rows) == 1 else f"{len(rows)} claims"
    return (
        f"{claims}: {', '.join(counts) or 'none verified'}"
        f" · {seconds:.1f} s · profile {profile} · seed {seed}"
    )


def messages(rows: Iterable[Row]) -> list[str]:
    """What is to be said of the rows that are not as expected, a paragraph each."""
    return [
        "\n".join(row.messages) or f"{row.id}: {row.verdict}" for row in rows if not row.expected
    ]
