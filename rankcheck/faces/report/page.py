"""The page of a ledger, and that of one claim."""

from __future__ import annotations

import base64
import hashlib
import inspect
import pydoc
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rankcheck import files
from rankcheck.claims.catalogue.entry import Entry, at_prompt
from rankcheck.claims.facts import declared_id
from rankcheck.claims.kinds import FALSE, KINDS
from rankcheck.claims.labels import relation_name
from rankcheck.claims.proved import METHODS
from rankcheck.claims.reference import documents, headings
from rankcheck.claims.signs import SIGNS
from rankcheck.claims.verdicts import VERDICTS
from rankcheck.engine.records.file import short
from rankcheck.engine.verification.ledger import Ledger, RelationFacts, Row
from rankcheck.faces.report import markup, svg
from rankcheck.faces.report.instances import instance, shortened
from rankcheck.faces.report.networks import drawing
from rankcheck.faces.report.paths import public
from rankcheck.files import project_folder

_ROOM = __name__.rpartition(".")[0]
#: What docstrings write for the name of a function: its role, and the rooms it lies in.
_ROLE = re.compile(r":\w+:`[~!]?(?:\w+\.)*(\w+)`")
#: A page of so many claims, which is to stay within 2 MB, does without what instances reached.
WHOLE = 100
#: In a ledger of at most so many claims, the lists of its documents are open; their parts as well.
SOME, FEW = 40, 5
#: In this order are accusations listed, under these headings.
_WEIGHTS = {
    "theorem": "Stated results that are false as printed",
    "formula": "Formulas and remarks beside the results",
    "step": "Steps of proofs, whose results may stand",
    "misprint": "Misprints",
    "": "Declared false",
}


@dataclass(frozen=True)
class RelationPart:
    """One relation of a claim, as the page shows it."""

    name: str
    facts: RelationFacts


@dataclass(frozen=True)
class ClaimPart:
    """A claim as the page shows it: its row, and what its file says if that is known.

    Attributes:
        said: the verdict of a hunt, which stands in place of that of the row.
    """

    row: Row
    entry: Entry | None = None
    witness: str = ""
    relations: Sequence[RelationPart] = field(default_factory=tuple)
    verified: bool = True
    whole: bool = True
    said: str = ""

    @classmethod
    def of(
        cls, row: Row, entry: Entry | None, *, verified: bool = True, whole: bool = True
    ) -> ClaimPart:
        """Collect what belongs to a row.

        Args:
            whole: whether everything is shown; else what many claims have room for.
        """
        relations = [
            RelationPart(relation_name(facts.label, place), facts)
            for place, facts in enumerate(row.relations)
        ]
        return cls(row, entry, _docstring(entry), relations, verified, whole)

    @property
    def selector(self) -> str | None:
        """What a command takes for the claim; None if it was declared at a prompt."""
        file = Path(self.row.file)
        if not self.row.file or file.resolve().is_relative_to(project_folder()):
            return self.row.id
        if at_prompt(file):
            return None
        return shlex.quote(f"{public(self.row.file)}::{declared_id(self.row.id)}")

    @property
    def replay(self) -> str | None:
        """What proves the certificate again; None without one."""
        if self.row.certificate is None:
            return None
        path = public(self.row.certificate)
        if self.selector is None:
            return f"rankcheck.engine.counterexamples.replay({path!r}, claim=claim)"
        return f"rankcheck replay {shlex.quote(path)}"

    @property
    def statement(self) -> str:
        """The statement, unless it is the title."""
        row = self.row
        return "" if markup.is_title(row.statement, row.title) else row.statement

    @property
    def anchor(self) -> str:
        """The id of its element."""
        return f"claim-{self.row.id}"

    @property
    def controls(self) -> list[tuple[str, str, str]]:
        """What was made false on purpose: what it is, its name, and the instance that broke it."""
        broken = self.row.broken_by
        rows = [("without the hypothesis", name, broken.get(name, "")) for name in self.row.needs]
        others = [name for name in broken if name not in self.row.needs]
        return rows + [("with the change", name, broken[name]) for name in others]

    @property
    def weight(self) -> str:
        """How much a refutation weighs: that of its heaviest erratum."""
        weights = [erratum.weight for erratum in self.row.errata]
        return min(weights, key=list(_WEIGHTS).index, default="")

    @property
    def heaviness(self) -> int:
        """By what accusations are sorted: 0 is the heaviest."""
        return list(_WEIGHTS).index(self.weight)

    @property
    def instances(self) -> int:
        """How many instances satisfied the hypotheses."""
        return self.row.counts.evaluated + (
            0 if self.row.scope is None else self.row.scope.counts.evaluated
        )

    @property
    def sharpest(self) -> str | None:
        """The instance on which a relation came closest to equality."""
        bounds = [facts for facts in self.row.relations if facts.sharpest is not None]
        best = max(bounds, key=lambda facts: facts.tight_ratio or facts.ratio or 0.0, default=None)
        return None if best is None else best.sharpest


def _docstring(entry: Entry | None) -> str:
    """The first paragraph about the witness of a claim, if it is a function of rankcheck."""
    if entry is None or entry.witness is None or not entry.witness.startswith("rankcheck."):
        return ""
    text = (inspect.getdoc(pydoc.locate(entry.witness)) or "").partition("\n\n")[0]
    return _ROLE.sub(r"\1", text)


def ledger_page(ledger: Ledger, entries: Iterable[Entry] = ()) -> str:
    """A ledger as one HTML page that needs no other file.

    Args:
        entries: the claims as their files declare them, for witnesses, and families by name.
    """
    known = {entry.id: entry for entry in entries}
    whole = len(ledger.rows) < WHOLE
    parts = [ClaimPart.of(row, known.get(declared_id(row.id)), whole=whole) for row in ledger.rows]
    return render("ledger.html", ledger=ledger, whole=whole, **_shared(parts))


def fragment(
    rows: Sequence[Row], *, verified: bool = True, table: bool = False, said: str = ""
) -> str:
    """Some claims as HTML for a notebook.

    Args:
        table: only the table, without the parts of the claims.
        said: the verdict of a hunt, in place of those of the rows.
    """
    parts = [replace(ClaimPart.of(row, None, verified=verified), said=said) for row in rows]
    return render("fragment.html", table=table, **_shared(parts))


def _shared(parts: Sequence[ClaimPart]) -> dict[str, Any]:
    """What all pages show."""
    groups: dict[str, list[ClaimPart]] = {}
    for part in parts:
        groups.setdefault(part.row.group, []).append(part)
    known = documents()
    wrong = [part for part in parts if part.row.kind in FALSE]
    slips = [part for part in parts if part.row.kind not in FALSE and part.row.errata]
    return {
        "parts": parts,
        "groups": groups,
        "headings": {key: headings().get(key, key) for key in groups},
        "documents": {part.row.document: str(known.get(part.row.document, "")) for part in wrong},
        "counts": Counter(part.row.verdict for part in parts),
        "unexpected": [part for part in parts if not part.row.expected],
        "wrong": sorted(wrong, key=_accusation),
        "slips": sorted(slips, key=_accusation),
        "weights": _WEIGHTS,
        "some": len(parts) <= SOME,
        "few": len(parts) <= FEW,
    }


def _accusation(part: ClaimPart) -> tuple[int, str, list[tuple[int, str]]]:
    """By what accusations are sorted; Prop. 9 comes before Prop. 10."""
    pieces = re.findall(r"\d+|\D+", part.row.where)
    place = [(int(one), "") if one.isdecimal() else (0, one) for one in pieces]
    return part.heaviness, part.row.document, place


def render(template: str, **values: Any) -> str:
    """A template with these values, filters and globals of all pages among them."""
    return _environment().get_template(template).render(**values) + "\n"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(_ROOM),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script, style = _file("page.js"), _file("page.css") + svg.STYLE
    environment.globals |= {
        "script": Markup(script),
        "style": Markup(style),
        "scoped": Markup(_scoped(style)),
        "policy": f"default-src 'none'; style-src 'unsafe-inline'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        "generator": Markup(files.GENERATOR),
        "verdicts": VERDICTS,
        "kinds": KINDS,
        "methods": METHODS,
        "false_kinds": FALSE,
    }
    environment.filters |= {
        "prose": markup.prose,
        "words": markup.words,
        "line": markup.line,
        "instance": instance,
        "drawing": drawing,
        "holds": lambda kind: SIGNS[kind].holds,
        "public": public,
        "count": lambda whole: f"{whole:,}".replace(",", " "),
        "shortened": shortened,
        "ratio": short,
        "fragment": lambda text: quote(text, safe=""),
    }
    return environment


#: Someone else's page has colours of its own: a part of it brings ink and paper, and is as light or
#: dark as JupyterLab and VS Code say that they are.
_PART = """
.rankcheck { color: var(--ink); background: var(--paper); padding: .5rem .75rem; }
[data-jp-theme-light="true"] .rankcheck, .vscode-light .rankcheck { color-scheme: light; }
[data-jp-theme-light="false"] .rankcheck, .vscode-dark .rankcheck { color-scheme: dark; }
"""


def _scoped(style: str) -> str:
    """The style for a part of someone else's page."""
    variables, _, rules = style.partition("\n}\n")
    return f"{variables.replace(':root', '.rankcheck')}\n}}\n.rankcheck {{{rules}}}{_PART}"


def _file(name: str) -> str:
    return resources.files(_ROOM).joinpath("templates", name).read_text("utf-8")


def _digest(script: str) -> str:
    """What a browser compares a script with before it runs it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
