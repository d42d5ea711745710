"""What is proved: of which claims, at which shapes, and what the mutants say of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from written import plain as escaped

from rankcheck.claims.catalogue.collect import by_group
from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.kinds import FALSE
from rankcheck.claims.proved import METHODS, Proved
from rankcheck.claims.reference import headings
from rankcheck.decide.prove.file import Proofs

__all__ = ["tables"]


def tables(entries: Sequence[Entry]) -> str:
    """By document, each claim with a proof; how many have one, by method; which have none."""
    true = [entry for entry in entries if entry.kind not in FALSE and entry.kind != "cited"]
    proved = {entry.id: found for entry in true if (found := Proofs.summary(entry)) is not None}
    told = sum(found.open > 0 for found in proved.values())
    shapes = sum(found.number for found in proved.values())
    methods = Counter(name for found in proved.values() for name in found.shapes)
    by = "; ".join(f"{METHODS[name]}: {methods[name]}" for name in METHODS if methods[name])
    parts = [
        f"Of {len(true)} claims that may be true and are put to the test, {len(proved)} are proved "
        f"at some shape, {told} of them at one where a mutant cannot be proved; in all at {shapes} "
        f"shapes. By method, of which a claim may have several: {by}.",
    ]
    for key, members in by_group(true).items():
        cells = [_cells(entry, proved[entry.id]) for entry in members if entry.id in proved]
        rows = [f"| {' | '.join(row)} |" for row in cells]
        title = headings().get(key, key or "Without a reference")
        if rows:
            head = "| claim | proved by | shapes | says most for | largest | mutants |"
            table = "\n".join([head, "| --- | --- | --- | --- | --- | --- |", *rows])
            parts += [f"## {title[:1].upper()}{title[1:]}", table]
        without = ", ".join(f"`{entry.id}`" for entry in members if entry.id not in proved)
        if without:
            parts.append(f"Nothing is proved of {without}. That says nothing against them.")
    return "\n\n".join(parts)


def _cells(entry: Entry, found: Proved) -> Iterator[str]:
    stale = ", of an earlier text" if found.stale else ""
    yield f"`{entry.id}`{stale}"
    yield METHODS[found.method]
    yield str(found.number)
    yield escaped(found.at)
    yield "" if found.largest == found.at else escaped(found.largest)
    if not found.mutants:
        yield "none"
    elif not found.open:
        yield f"0 of {found.mutants}: says little"
    else:
        yield f"{found.open} of {found.mutants}"
