"""A ledger as plain text: its rows as a table, a row as a line, and the totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rankcheck.claims.labels import relation_name
from rankcheck.claims.verdicts import VERDICTS
from rankcheck.engine.records.file import short
from rankcheck.engine.verification.counts import Counts
from rankcheck.engine.verification.ledger import RelationFacts, Row
from rankcheck.faces.terminal.plain import fitting

#: The columns, with their alignment: 100 characters for the longest ids, without what is proved.
HEADINGS = {
    "claim": "<",
    "kind": "<",
    "verdict": "<",
    "small": ">",
    "tried": ">",
    "best": ">",
    "killed": ">",
    "proved": ">",
    "sec": ">",
}
#: The columns that a narrow terminal does without, the first one first.
SPARED = ("kind", "sec", "tried", "proved", "small", "killed", "best")
#: To how many characters an id may be cut before a column is left out.
LEAST = 36


def cells(row: Row) -> tuple[str, ...]:
    """The cells of a row, in the order of `HEADINGS`; a cell without a value is empty."""
    mutants = row.mutants
    return (
        row.id,
        row.kind,
        row.verdict,
        "" if row.scope is None else _instances(row.scope.counts),
        _instances(row.drawn + row.swept + row.tight_swept),
        row.best,
        f"{mutants.killed}/{mutants.total}" if mutants.total else "",
        "" if row.proved is None else row.proved.short,
        f"{row.seconds:.1f}" if row.kind != "cited" else "",
    )


def _instances(counts: Counts) -> str:
    return count(counts.evaluated) if counts.evaluated else ""


def count(number: int) -> str:
    """A number in at most five characters: 12288, 123k, 1.23M."""
    if number < 100_000:
        return str(number)
    if number < 1_000_000:
        return f"{number / 1e3:.0f}k"
    return f"{number / 1e6:.3g}M"


def lines(rows: Iterable[Row], width: int | None = None) -> list[str]:
    """The table as lines of text: its headings, then the rows sorted by id.

    Args:
        width: how many characters fit in a line; then columns are left out, and an id that is too
            long goes on below its row. None for any number.
    """
    table = [tuple(HEADINGS), *(cells(row) for row in sorted(rows, key=lambda row: row.id))]
    columns = list(zip(HEADINGS, zip(*table, strict=True), strict=True))
    widths = {name: max(map(len, column)) for name, column in columns}
    if not any(dict(columns)["proved"][1:]):
        del widths["proved"]
    if width is not None:
        names = fitting(widths | {"claim": min(widths["claim"], LEAST)}, SPARED, width, 1)
        others = sum(1 + widths[name] for name in names[1:])
        widths = {name: widths[name] for name in names}
        widths["claim"] = min(widths["claim"], max(8, width - others))
    return [_line(dict(zip(HEADINGS, line, strict=True)), widths) for line in table]


def _line(line: Mapping[str, str], widths: Mapping[str, int]) -> str:
    """A row in columns of these widths; what its id has more stands in a line below."""
    parts = {name: f"{line[name]:{HEADINGS[name]}{width}}" for name, width in widths.items()}
    size = widths["claim"]
    more = [line["claim"][at : at + size] for at in range(size, len(line["claim"]), size)]
    first = " ".join([line["claim"][:size].ljust(size), *list(parts.values())[1:]])
    return "\n".join([first.rstrip(), *more])


def sentence(row: Row) -> str:
    """A row as a line: the verdict, the id, and the numbers."""
    _, kind, verdict, _, _, ratio, mutants, proved, seconds = cells(row)
    drawn, swept = _instances(row.drawn), _instances(row.swept + row.tight_swept)
    parts = [
        kind,
        row.scope.text if row.scope and row.scope.instances else "",
        drawn and f"{drawn} drawn",
        swept and _swept(row, swept),
        ratio and f"{'best' if row.counterexample is None else 'lhs / rhs'} {ratio}",
        mutants and f"mutants {mutants}",
        proved and f"proved {proved}",
        _asserted(row),
        row.weakness and f"strength unknown: {row.weakness}",
        "beats its record" if row.beaten else "",
        row.singly,
        *row.arithmetic,
        *dict.fromkeys(said for each in row.relations for said in each.hollow),
        seconds and f"{seconds} s",
    ]
    return f"{verdict:9}  {row.id}  ({', '.join(part for part in parts if part)})"


def _swept(row: Row, swept: str) -> str:
    """How many instances were swept, and at how many shapes if there are several."""
    return f"{swept} swept" + (f" at {row.shapes} shapes" if row.shapes > 1 else "")


def _asserted(row: Row) -> str:
    """The share of the instances on which a relation was asserted, unless it is nearly all."""
    share = row.asserted
    return "" if share is None or share >= 0.995 else f"asserted {share:.0%}"


def facts(row: Row) -> list[str]:
    """What a ledger says of a claim beyond its row in the table: a line for each fact."""
    block = [f"verdict: {row.verdict}{'' if row.expected else ', not as expected'}"]
    block += [] if row.counterexample is None else [row.counterexample.sentence]
    block += [] if row.scope is None else [f"enumerated: {row.scope.text}"]
    block += [f"{name}: {_tried(counts)}" for name, counts in _searches(row) if counts.total]
    for number, each in enumerate(row.relations):
        block += [_relation(number, each), *(f"  {said}" for said in each.hollow)]
        block += [] if each.beaten is None else [f"  {each.beaten}"]
    block += [
        f"reached, {name}: {_spread(counts, row.swept.evaluated)}"
        for name, counts in row.reached.items()
    ]
    block += [f"breaks without {name!r}" for name in row.needs]
    block += [] if row.proved is None else [f"proved: {row.proved.text}"]
    mutants = row.mutants
    block += [row.singly] if row.singly else []
    block += row.arithmetic
    block += [f"mutants: {mutants.killed} of {mutants.total} killed"] if mutants.total else []
    block += [f"strength of the guard: unknown, {row.weakness}"] if row.weakness else []
    return block


def _searches(row: Row) -> list[tuple[str, Counts]]:
    return [("drawn", row.drawn), ("swept", row.swept), ("swept, tight", row.tight_swept)]


def _tried(counts: Counts) -> str:
    reasons = "; ".join(f"{number} not: {why}" for why, number in counts.reasons.items())
    rejected = f", {counts.rejected} rejected" if counts.rejected else ""
    return f"{counts.evaluated} instances{rejected}{f' ({reasons})' if reasons else ''}"


def _relation(number: int, each: RelationFacts) -> str:
    parts = [f"asserted on {each.asserted:.1%}"]
    if each.ratio is not None:
        parts.append(f"largest lhs / rhs {each.ratio:.6g} outside the tight family")
    if each.tight_ratio is not None:
        parts.append(f"{each.tight_ratio:.6g} on it")
    if each.record is not None:
        parts.append(f"on record {short(each.record)}")
    if each.deviation is not None:
        parts.append(f"largest deviation {each.deviation:.1e}")
    return f"{relation_name(each.label, number)}: {', '.join(parts)}"


def _spread(counts: Mapping[int, int], instances: int) -> str:
    """How often each value was reached, in per cent of the instances on which it was counted."""
    counted = sum(counts.values())
    shares = ", ".join(f"{value} ({counts[value] / counted:.0%})" for value in sorted(counts))
    return shares + (f"; counted on {counted} of {instances}" if counted < instances else "")


def total(rows: Sequence[Row], seconds: float, profile: str, seed: int) -> str:
    """The totals of a ledger as a line."""
    good = Counter(row.verdict for row in rows if row.expected)
    bad = Counter(row.verdict for row in rows if not row.expected)
    counts = [f"{good[name]} {words.plural}" for name, words in VERDICTS.items() if good[name]]
    counts += [f"{bad[name]} {name.upper()}" for name in VERDICTS if bad[name]]
    claims = "1 claim" if len(rows) == 1 else f"{len(rows)} claims"
    return (
        f"{claims}: {', '.join(counts) or 'none verified'}"
        f" · {seconds:.1f} s · profile {profile} · seed {seed}"
    )


def messages(rows: Iterable[Row]) -> list[str]:
    """For each row that is not as expected, why; a paragraph a row."""
    return [message(row) for row in rows if not row.expected]


def message(row: Row) -> str:
    """Why a row is not as expected, or what it is where nothing says why."""
    return "\n".join(row.messages) or f"{row.id}: {row.verdict}"
