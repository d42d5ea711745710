"""A page for each claim, made from the text of its file; and links from claim ids to these pages.

The files of claims are read, not run, but for those that are declared false: their certificates are
replayed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from refutations import counterexample, objection, printed_and_right
from sphinx import addnodes
from sphinx.application import Sphinx
from written import plain, write

from rankcheck.claims.catalogue.collect import project
from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.kinds import FALSE, KINDS
from rankcheck.decide.prove.file import Proofs
from rankcheck.engine.records.file import Records
from rankcheck.files import project_folder

_NO_LINK = (
    addnodes.desc_signature,
    addnodes.pending_xref,
    nodes.FixedTextElement,
    nodes.literal,
    nodes.math,
    nodes.raw,
    nodes.reference,
    nodes.title,
)
#: The colours of a drawing that stands in no page.
_ALONE = re.compile(r' style="[^"]*"')
_PROOF = re.compile(r"`?docs/proofs/([\w-]+)\.md`?")


def page(entry: Entry, *, certified: bool) -> str:
    """The page of a claim as Markdown, for the folder docs/claims.

    Args:
        certified: whether a certificate is stored beside its file.
    """
    return "\n".join(["---", "orphan: true", "---", "", *_lines(entry, certified=certified)]) + "\n"


def _lines(entry: Entry, *, certified: bool) -> Iterator[str]:
    inner = entry.file.relative_to(project_folder()).as_posix()
    yield f"# {plain(entry.title)}"
    kind = f"**{entry.kind}**: {KINDS[entry.kind].meaning}"
    yield f"\n`{entry.id}` · {kind} · [all claims](../claims.md)\n"
    if entry.reference is not None:
        document = entry.reference.document or entry.reference.key
        yield f"{plain(entry.reference.where)} of {plain(str(document))}.\n"
    yield "## Statement\n"
    yield _PROOF.sub(r"[docs/proofs/\1.md](../proofs/\1.md)", plain(entry.statement)) + "\n"
    yield from _checks(entry)
    yield from _errata(entry)
    if entry.readings:
        yield "## Readings\n"
        for reading, why in entry.readings.items():
            yield f"- **Read as** {plain(reading)}: {plain(why)}"
        yield ""
    if entry.kind in FALSE:
        yield objection("../")
    if entry.corrected_by:
        yield f"**Corrected by** `{entry.corrected_by}`.\n"
    yield "## File\n"
    yield f"[properties/{inner}](../../properties/{inner})"
    if certified:
        stored = f"{Path(inner).parent.as_posix()}/certificates/{entry.id}.json"
        yield f"and its counterexample, [{entry.id}.json](../../properties/{stored}):"
        yield f"`rankcheck replay properties/{stored}`"
    yield f"\n`````python\n{_source(entry)}\n`````\n"


def _errata(entry: Entry) -> Iterator[str]:
    """What is wrong in print, and the counterexample."""
    for number, erratum in enumerate(entry.errata, 1):
        yield f"## Erratum{f' {number}' if len(entry.errata) > 1 else ''}\n"
        yield f"{plain(erratum.place)}.\n" if erratum.place else ""
        yield from printed_and_right(erratum)
        yield f"**What survives:** {plain(erratum.survives)}\n"
    shown, steps = counterexample(entry, "../")
    if shown:
        yield "## Counterexample\n"
        yield from shown
        yield "<details><summary>The names in the body</summary>\n" if steps else ""
        yield from steps
        yield "</details>\n" if steps else ""


def _checks(entry: Entry) -> Iterator[str]:
    """The instances, the witness and the controls, as a list."""
    remarks = entry.remarked(Records.of(entry).shown)
    items = {
        "Instances": f"`{entry.instances}`" if entry.instances else None,
        "Tight family": f"`{entry.tight}`" if entry.tight else None,
        "Witness": f"`{entry.witness}`" if entry.witness else None,
        **{f"Without “{plain(name)}”": f"`{how}`" for name, how in entry.needs.items()},
        **{f"Mutant “{plain(name)}”": f"`{how}`" for name, how in entry.mutants.items()},
        **{label.capitalize(): plain(text) for label, text in remarks.items()},
        "Proved": plain(_proved(entry)),
    }
    known = {name: text for name, text in items.items() if text}
    if known:
        yield "## How it is checked\n"
        yield from (f"- **{name}:** {' '.join(text.split())}" for name, text in known.items())
        yield ""


def _proved(entry: Entry) -> str:
    """What the proofs prove that are kept beside a claim; empty without any."""
    proved = Proofs.summary(entry)
    return "" if proved is None else f"{proved.text}. Nothing is said of other shapes."


def _source(entry: Entry) -> str:
    """The text of the claim's function, with its decorators."""
    text = entry.file.read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == entry.name:
            first = min(part.lineno for part in (node, *node.decorator_list))
            return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
    raise ValueError(f"{entry.place} has no function {entry.name} at its top level")


def pages() -> dict[str, str]:
    """The pages of all claims, by file name."""
    return {
        f"{entry.id}.md": page(
            entry, certified=(entry.file.parent / "certificates" / f"{entry.id}.json").exists()
        )
        for entry in project()
    }


def _generate(app: Sphinx) -> None:
    made = pages()
    write(Path(app.srcdir) / "claims", made)
    app.env.claim_ids = {name.removesuffix(".md") for name in made}  # type: ignore[attr-defined]


def _link(app: Sphinx, doctree: nodes.document) -> None:
    """Make the id of a claim a link to its page, in a code span or in the text."""
    here = app.env.docname
    ids = _ids(app)
    for literal in list(doctree.findall(nodes.literal)):
        if literal.astext() in ids and _linkable(literal):
            literal.replace_self(_reference(here, literal.astext(), literal.deepcopy()))
    pattern = re.compile(rf"(?<![\w./-])({'|'.join(map(re.escape, ids))})(?![\w/-])")
    for text in list(doctree.findall(nodes.Text)):
        parts = pattern.split(text.astext())
        if len(parts) > 1 and _linkable(text):
            text.parent.replace(
                text,
                [
                    _reference(here, part, nodes.Text(part)) if i % 2 else nodes.Text(part)
                    for i, part in enumerate(parts)
                ],
            )


def _draw(app: Sphinx, doctree: nodes.document) -> None:
    """Put the drawings of networks into the page itself: they take its colours, light or dark."""
    for image in list(doctree.findall(nodes.image)):
        file = Path(app.srcdir) / "errata" / Path(image["uri"]).name
        if file.parent.name in Path(image["uri"]).parts and file.suffix == ".svg":
            text = _ALONE.sub("", file.read_text(encoding="utf-8"), count=1)
            image.replace_self(nodes.raw("", text, format="html"))


def _ids(app: Sphinx) -> list[str]:
    """The ids of all claims, each before its own beginnings."""
    known: set[str] = app.env.claim_ids  # type: ignore[attr-defined]
    return sorted(known, reverse=True)


def _linkable(node: nodes.Node) -> bool:
    """Whether a link may stand here: not in code, in a heading, in a formula or in a link."""
    parent = node.parent
    while parent is not None:
        if isinstance(parent, _NO_LINK):
            return False
        parent = parent.parent
    return True


def _reference(here: str, name: str, shown: nodes.Node) -> nodes.Node:
    """A link to the page of a claim; on this page itself, what is shown."""
    if here == f"claims/{name}":
        return shown
    return addnodes.pending_xref(
        "",
        shown if isinstance(shown, nodes.Element) else nodes.inline("", "", shown),
        refdomain="std",
        reftype="doc",
        refdoc=here,
        reftarget=f"/claims/{name}",
        refexplicit=True,
        refwarn=True,
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", _generate)
    app.connect("doctree-read", _link)
    app.connect("doctree-read", _draw)
    app.add_css_file("errata.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
