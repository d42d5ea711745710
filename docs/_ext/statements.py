"""The index of statements: of each document, in reading order, what the ledger says of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from written import one_line as plain

from rankcheck.claims.catalogue.collect import by_group
from rankcheck.claims.catalogue.entry import CatalogueError, Entry
from rankcheck.claims.catalogue.statements import Statement, statements, unindexed
from rankcheck.claims.kinds import FALSE, KINDS
from rankcheck.claims.reference import OWN, documents, headings
from rankcheck.decide.prove.file import Proofs
from rankcheck.files import project_folder

__all__ = ["pages"]

_HEAD = """\
# Statements, in reading order

What each document states, in the order in which one reads it, and what the ledger says of each
statement. The sentences are ours and shorter than those of the documents; the claims have the whole
statement. `rank`, `bottleneck`, `linear` and `separation` were read in text conversions without
page numbers, so a section or a slide stands for its pages. Of the papers in `field` hardly more
than abstracts were at hand: their statements are as recalled where the index says so. What is said
here is what the ledger expects and `rankcheck verify` finds:

| word | meaning |
| --- | --- |
| holds | claims of it were put to the test and not broken |
| proved at n shapes | at so many small shapes it is [true whatever is drawn](proved.md) |
| refuted | false as printed, in every fair reading that we found ([errata](errata.md)) |
| a step fails | a step of the printed proof is false; what becomes of the result |
| misprint | a sign, an index, a letter, or a condition that the context gives |
| guarded | nobody has proved it, and it was not broken |
| cited | it cannot be tested here, and the claim says why |
| no claim | a definition, a motivation, or what the row says |

A statement with several claims has several of these words, as its parts differ."""


def pages(entries: Sequence[Entry]) -> dict[str, str]:
    """`statements.md`, with how many statements there are of each kind, and a page a document."""
    groups = by_group(entries)
    found = {key: statements(project_folder() / key) for key in headings() if key != OWN}
    by_id = {entry.id: entry for entry in entries}
    for key, index in found.items():
        for misfit in unindexed(groups.get(key, ()), index, entries):
            raise CatalogueError(f"{key}: {misfit}")
    words = {key: [list(_words(one, by_id)) for one in index] for key, index in found.items()}
    made = {f"statements/{key}.md": _page(key, found[key], words[key], by_id) for key in found}
    tree = "\n".join(
        ["```{toctree}", ":hidden:", "", *(f"statements/{key}" for key in found), "```"]
    )
    own = len(groups.get(OWN, ()))
    parts = [
        _HEAD,
        _counts(words),
        f"{own} claims are about statements that were first written down here, most of them with a "
        "[proof](proofs.md); no document has them.",
        tree,
    ]
    return {"statements.md": "\n\n".join(parts) + "\n"} | made


def _counts(words: Mapping[str, Sequence[Sequence[str]]]) -> str:
    """A table: by document, how many statements have which word."""
    columns = ("holds", "proved", "refuted", "a step fails", "misprint", "guarded", "cited")
    columns += ("no claim",)
    heads = [column.removeprefix("a ").removesuffix(" fails") for column in columns]
    rows = ["| document | all | " + " | ".join(heads) + " |"]
    rows.append("| --- " * (len(columns) + 2) + "|")
    for key, index in words.items():
        count = Counter(column for row in index for column in columns if _has(row, column))
        cells = [str(count[column] or "") for column in columns]
        rows.append(f"| [{key}](statements/{key}.md) | {len(index)} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _has(words: Sequence[str], column: str) -> bool:
    return any(word.startswith(column) for word in words)


def _page(
    key: str,
    index: Sequence[Statement],
    words: Sequence[Sequence[str]],
    by_id: Mapping[str, Entry],
) -> str:
    title = headings()[key]
    parts = [f"# `{key}`, in reading order", f"{plain(title)}."]
    several = [one for one in documents().values() if one.folder == key and one.key != key]
    parts += ["\n".join(f"- `{one.key}`: {plain(str(one))}." for one in several)] if several else []
    rows: list[str] = []
    section = ""
    for statement, said in zip(index, words, strict=True):
        if statement.section != section:
            section = statement.section
            parts += ["\n".join(rows)] if rows else []
            parts.append(f"## {plain(section)}")
            rows = ["| where | statement | the ledger | claims |", "| --- | --- | --- | --- |"]
        claims = " ".join(_link(by_id[id_]) for id_ in statement.claims)
        cells = (plain(statement.at), plain(statement.says), plain("; ".join(said)), claims)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    parts += ["\n".join(rows)] if rows else ["No statement stands in its index yet."]
    return "\n\n".join(parts) + "\n"


def _link(entry: Entry) -> str:
    path = entry.file.relative_to(project_folder()).as_posix()
    return f"[`{entry.id}`](../../properties/{path})"


def _words(statement: Statement, by_id: Mapping[str, Entry]) -> Iterator[str]:
    """What the ledger says of a statement, the worst first."""
    if statement.none:
        yield f"no claim: {statement.none}"
        return
    entries = [by_id[id_] for id_ in statement.claims]
    for entry in entries:
        if entry.kind == "step":
            yield f"a step fails; the result {_becomes(entry)}"
        elif entry.kind in FALSE:
            yield "refuted" + (f"; right is `{entry.corrected_by}`" if entry.corrected_by else "")
    true = [entry for entry in entries if entry.kind not in FALSE]
    expected = Counter(KINDS[entry.kind].expects for entry in true)
    for verdict in ("holds", "guarded", "cited"):
        if expected[verdict]:
            yield verdict
    shapes = sum(found.number for entry in true if (found := Proofs.summary(entry)) is not None)
    if shapes:
        yield f"proved at {shapes} shape{'s' * (shapes > 1)}"
    misprints = sum(error.weight == "misprint" for entry in entries for error in entry.errata)
    if misprints:
        yield "misprint" if misprints == 1 else f"misprints: {misprints}"


def _becomes(entry: Entry) -> str:
    """What becomes of a result whose proof has a wrong step: stands, is open, ..."""
    return (entry.result or "open").split(":", 1)[0].replace("open", "is open")
