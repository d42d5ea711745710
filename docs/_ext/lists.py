"""The lists of all claims, of what is wrong in print, and of the verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from written import plain as escaped

from rankcheck.catalogue.collect import by_document, project_folder
from rankcheck.catalogue.entry import Entry
from rankcheck.claims.erratum import Erratum
from rankcheck.claims.kinds import FALSE, KINDS
from rankcheck.claims.reference import DOCUMENTS
from rankcheck.claims.verdicts import VERDICTS

__all__ = ["claims", "errata", "ledger"]

_HEAD = """\
# Errata

Be careful with such a list. The documents were read in text conversions, in which a dot, a bar, a
"not" or an "=" may be lost, and the quoted words are those of the text at hand. Papers are written
for readers who fill in what the context says. Most entries are slips that their authors would
correct at sight, and nearly all results stand, many of them with the same proof. A statement is
listed as false only if each fair reading of it that we found is false, inside its context; the
readings are given, so that a reader can object to them. If you know a reading in which a statement
is true, this list is wrong: please report it. The rule is in [accusations.md](accusations.md)."""

#: The sections in the order of their weight.
_SECTIONS = {
    "theorem": (
        "Results that are false as printed",
        "A stated result fails without a further hypothesis, or with the printed constant. The "
        "counterexamples are exact and replayed by the test suite.",
    ),
    "open": (
        "Steps of a proof that fail, and leave their result open",
        "The step is refuted, the result is not.",
    ),
    "stands with another constant": (
        "Steps of a proof that fail, where the result stands with another constant",
        "",
    ),
    "formula": ("Formulas and remarks beside the results", ""),
    "stands": ("Steps of a proof that fail, where the result stands", ""),
    "misprint": (
        "Misprints",
        "A sign, an index, a letter, or a condition that the context gives. The claim checks the "
        "corrected statement.",
    ),
}


def claims(entries: Sequence[Entry]) -> str:
    """The index of claims: a section for each document, a line for each claim."""
    out = ["# The claims"]
    for key, group in by_document(entries).items():
        document = DOCUMENTS.get(key)
        out += ["", f"## `{key}`" if key else "## Conjectures without a reference", ""]
        if document is not None:
            out += [f"{document}.", ""]
        out += ["| claim | where | kind | title | file |", "| --- | --- | --- | --- | --- |"]
        for entry in group:
            file = _link(entry.file, entry.file.relative_to(project_folder()).as_posix())
            cells = (f"`{entry.id}`", entry.where, entry.kind, entry.title, file)
            out.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(out) + "\n"


def errata(entries: Sequence[Entry]) -> str:
    """The errata, sorted by weight, then by document and place."""
    parts = [_HEAD]
    inside = [entry for group in by_document(entries).values() for entry in group]
    pairs = [(entry, erratum) for entry in inside for erratum in entry.errata]
    for key, (heading, text) in _SECTIONS.items():
        here = [pair for pair in pairs if _section(*pair) == key]
        if here:
            parts.append(f"## {heading}" + (f"\n\n{text}" if text else ""))
            parts += ["\n".join(_item(entry, erratum)) for entry, erratum in here]
    return "\n\n".join(parts) + "\n"


def ledger(text: str) -> str:
    """The page docs/ledger.md with its table of verdicts written anew."""
    before, mark, rest = text.partition("<!-- Made by `python docs/renew.py` -->\n")
    rows = ["| verdict | meaning | expected of |", "| --- | --- | --- |"]
    for name, words in VERDICTS.items():
        kinds = ", ".join(f"`{kind}`" for kind, facts in KINDS.items() if facts.expects == name)
        rows.append(f"| `{name}` | {words.meaning} | {kinds} |")
    return "\n".join([before + mark, *rows, "", "<!-- end -->"]) + rest.partition("<!-- end -->")[2]


def plain(text: str) -> str:
    """A text on one line that Markdown shows as it is, but for formulas and code."""
    return " ".join(escaped(text).split())


def _section(entry: Entry, erratum: Erratum) -> str:
    """The section of an erratum; that of a step goes by what becomes of the result."""
    if erratum.weight != "step":
        return erratum.weight
    return (entry.result or "open").split(":", 1)[0]


def _item(entry: Entry, erratum: Erratum) -> Iterator[str]:
    yield f"### `{entry.document}`, {plain(erratum.place or entry.where)}"
    yield ""
    yield f"- **Printed:** {plain(erratum.printed)}"
    yield f"- **Right:** {plain(erratum.right)}"
    yield f"- **How we know:** {_evidence(entry)}"
    for reading, why in entry.readings.items():
        yield f"- **Read as** {plain(reading)}: {plain(why)}"
    if entry.result is not None:
        yield f"- **The result:** {plain(entry.result)}"
    yield f"- **What survives:** {plain(erratum.survives)}"


def _evidence(entry: Entry) -> str:
    """The claim, and the certificate or the check that stands behind it."""
    claim = f"`{entry.id}` ({_link(entry.file, entry.file.name)})"
    if entry.kind not in FALSE:
        return f"the corrected statement is checked by {claim}"
    right = f"; `{entry.corrected_by}` is the corrected statement" if entry.corrected_by else ""
    stored = _link(entry.file.parent / "certificates" / f"{entry.id}.json", "certificate")
    return f"an exact counterexample, {stored}, to {claim}{right}"


def _link(path: Path, text: str) -> str:
    """A link from the folder docs to a file of the project."""
    return f"[{text}](../properties/{path.relative_to(project_folder()).as_posix()})"
