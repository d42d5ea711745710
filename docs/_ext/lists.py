"""The lists of all claims, and of what is wrong in print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from refutations import counterexample, found, objection, printed_and_right
from written import one_line

from rankcheck.claims.catalogue.collect import by_group
from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.erratum import Erratum
from rankcheck.claims.kinds import FALSE
from rankcheck.claims.reference import headings
from rankcheck.faces.report.networks import drawing
from rankcheck.faces.terminal.formulas import unicode
from rankcheck.files import project_folder

__all__ = ["claims", "errata"]

_HEAD = """\
# Errata

What was found wrong in print, the worst first, with an exact counterexample wherever something is
false. Nearly all results stand, most of them with the same proof.

{counts}

Be careful with such a list. The documents were read in text conversions, in which a dot, a bar, a
"not" or an "=" may be lost. Most entries are slips that their authors would correct at sight. A
statement is listed as false only if each fair reading of it that we found is false, inside its
context ([the rules](accusations.md)); if you know a reading in which it is true,
[object to it](accusations.md#object-to-a-reading)."""

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

#: What the entries of a section are called at the head of the page.
_BRIEFLY = {
    "theorem": "results that are false as printed",
    "open": "steps of a proof that fail and leave their result open",
    "stands with another constant": "step that fails, with another constant in the result",
    "formula": "formulas and remarks beside the results",
    "stands": "steps of a proof that fail, where the result stands as it is",
    "misprint": "misprints",
}


def claims(entries: Sequence[Entry]) -> str:
    """The index of claims: a section for each document, a line for each claim."""
    out: list[str] = []
    for key, group in by_group(entries).items():
        heading = headings().get(key)
        out += [f"## `{key}`" if key else "## Conjectures without a reference", ""]
        if heading is not None:
            out += [f"{heading}.", ""]
        out += ["| claim | where | kind | title | file |", "| --- | --- | --- | --- | --- |"]
        for entry in group:
            file = _link(entry.file, entry.file.relative_to(project_folder()).as_posix())
            where = entry.where if entry.document == key else str(entry.reference)
            cells = (f"`{entry.id}`", where, entry.kind, entry.title, file)
            out.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        out.append("")
    return "\n".join(out)


def errata(entries: Sequence[Entry]) -> str:
    """The errata by weight, and inside of a weight those that are seen at a glance first."""
    inside = [entry for group in by_group(entries).values() for entry in group]
    pairs = [(entry, erratum) for entry in inside for erratum in entry.errata]
    parts, counts = [], []
    for key, (heading, text) in _SECTIONS.items():
        here = sorted((pair for pair in pairs if _section(*pair) == key), key=_size)
        if here:
            anchor = "-".join(heading.lower().replace(",", "").split())
            counts.append(f"- [{len(here)} {_BRIEFLY[key]}](#{anchor})")
            parts.append(f"## {heading}" + (f"\n\n{text}" if text else ""))
            write = _folded if key == "misprint" else _item
            parts += ["\n".join(write(entry, erratum)).strip() for entry, erratum in here]
    return "\n\n".join([_HEAD.format(counts="\n".join(counts)), *parts]) + "\n"


def _section(entry: Entry, erratum: Erratum) -> str:
    """The section of an erratum; that of a step goes by what becomes of the result."""
    if erratum.weight != "step":
        return erratum.weight
    return (entry.result or "open").split(":", 1)[0]


def _size(pair: tuple[Entry, Erratum]) -> tuple[bool, int]:
    """Networks that are drawn before others, and short counterexamples before long ones.

    Misprints stay in the order of their documents.
    """
    known = found(pair[0])
    return (
        (False, 0)
        if known is None
        else (drawing(known.description) is None, len(known.description))
    )


def _item(entry: Entry, erratum: Erratum) -> Iterator[str]:
    yield f"### `{entry.document}`, {one_line(erratum.place or entry.where)}\n"
    yield from printed_and_right(erratum)
    shown, steps = counterexample(entry)
    yield from shown
    readings = len(entry.readings)
    said = [
        *(["the names in the body"] if steps else []),
        *([f"{readings} reading{'s' if readings > 1 else ''}"] if readings else []),
        "what survives",
    ]
    yield f"<details><summary>{', '.join(said).capitalize()}, and how to object</summary>\n"
    yield from steps
    yield from _details(entry, erratum)
    yield "\n" + objection()
    yield "</details>"


def _folded(entry: Entry, erratum: Erratum) -> Iterator[str]:
    """A misprint: its place, and one click away what it is."""
    place = unicode(erratum.place or entry.where)
    yield f"<details><summary>{escape(entry.document)}, {escape(place)}</summary>\n"
    yield from printed_and_right(erratum)
    yield from _details(entry, erratum)
    yield "\n</details>"


def _details(entry: Entry, erratum: Erratum) -> Iterator[str]:
    for reading, why in entry.readings.items():
        yield f"- **Read as** {one_line(reading)}: {one_line(why)}"
    if entry.result is not None:
        yield f"- **The result:** {one_line(entry.result)}"
    yield f"- **What survives:** {one_line(erratum.survives)}"
    yield f"- **How we know:** {_evidence(entry)}"


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
