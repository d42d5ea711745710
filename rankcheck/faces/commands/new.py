"""Write a file with a new claim, or make room for a new document.

An ID of one of rankcheck's documents (rank.my-claim) goes to properties/rank/my_claim.py of this
checkout, any other to my_claim.py in the working directory. An existing file is not touched. The
claim fails until its two sides are written.

--document KEY adds a document to properties/references.toml, with a folder for its claims and an
index of its statements, both empty. See docs/adding-a-document.md.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import fields
from pathlib import Path

from rankcheck.claims.catalogue.collect import project
from rankcheck.claims.catalogue.statements import INDEX
from rankcheck.claims.facts import is_id
from rankcheck.claims.kinds import KINDS
from rankcheck.claims.reference import OWN, REFERENCES, Document, documents, headings, parsed
from rankcheck.errors import InputError
from rankcheck.faces.terminal.plain import say
from rankcheck.files import project_folder, shown_path, write_text

HELP = "write a file with a new claim, to be filled in; add a document"

_INDEX = """\
# The statements of {title}, in reading order.
# A statement has claims, or says in none why it has none:
#
# [[statement]]
# at = "Thm 1"
# section = "1 Results"
# says = 'What it says in a sentence of your own: $\\|f\\| \\le 1$.'
# claims = ["{folder}.my-claim"]
#
# [[statement]]
# at = "Def. 1"
# section = "1 Results"
# says = "What a cost is."
# none = "definition"
"""

CHECKED = '''\
"""WHICH STATEMENT OF WHICH DOCUMENT, in words."""

from rankcheck import {imports}
from rankcheck.instances import instances


@instances
def {stem}_instances(source, *, size=(1, 4)):
    """WHAT AN INSTANCE IS; hypotheses hold by construction."""
    n = source.integer(*size)
    return source.tensor(n, n), source.tensor(n)


@{kind}(
    "{id}",{reference}
    instances={stem}_instances(),{options}
)
def test_{stem}(A, x{parameters}):
    r"""TITLE: a short sentence.

    THE STATEMENT in LaTeX: $\\|Ax\\| \\le \\|A\\|_F \\|x\\|$. What is not checked, and why.
    """
    raise NotImplementedError("write the two sides: return leq(lhs, rhs) or eq(lhs, rhs)")
'''

CITED = '''\
"""WHICH STATEMENT OF WHICH DOCUMENT, in words."""

from rankcheck import {imports}


@cited(
    "{id}",{reference}
    reason="WHY IT CANNOT BE CHECKED HERE",
)
def test_{stem}():
    r"""TITLE: a short sentence.

    THE STATEMENT in LaTeX.
    """
'''

_ERRATA = """
    errata=Erratum(
        printed="THE WORDS, AS PRINTED",
        right="WHAT IS RIGHT",
        survives="WHAT BECOMES OF THE RESULTS THAT REST ON IT",
        weight="{weight}",
    ),"""
#: What a document has besides its key.
_DESCRIBING = ("authors", "title", "venue", "year")
#: Further arguments of the decorator.
OPTIONS = {
    "construction": '\n    mutants={"THE WITNESS, BROKEN": {"witness": None}},',
    "refuted": _ERRATA.format(weight="theorem")
    + '\n    readings={"A READING OF THE WORDS": "WHY IT IS FALSE"},\n    corrected_by=None,',
    "step": _ERRATA.format(weight="step") + '\n    result="open: WHAT BECOMES OF THE RESULT",',
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck new`."""
    parser.add_argument(
        "id", metavar="ID", nargs="?", help="dotted, lower case, such as rank.my-claim"
    )
    parser.add_argument("--kind", choices=list(KINDS), help="default bound")
    document = parser.add_argument_group("a new document")
    document.add_argument("--document", metavar="KEY", help="such as jacot2023")
    document.add_argument("--authors", metavar="NAMES", help='such as "A. First, B. Second"')
    document.add_argument("--title", metavar="TEXT", help="the title of the document")
    document.add_argument("--venue", metavar="TEXT", help="arXiv:1234.56789, NeurIPS 2023, ...")
    document.add_argument("--year", metavar="N", type=int, help="of the version that is read")
    document.add_argument(
        "--folder", metavar="NAME", help="of its claims, if it shares one; default the key"
    )


def run(args: argparse.Namespace) -> int:
    """Write what was asked for and say what comes next."""
    _check_options(args)
    return _new_claim(args) if args.document is None else _new_document(args)


def _check_options(args: argparse.Namespace) -> None:
    """A claim has an id and its options, a document a key and its own."""
    if (args.id is None) == (args.document is None):
        named = "both a claim and a document" if args.id else "neither a claim nor a document"
        raise InputError(
            f"received {named}; rankcheck new takes the ID of a claim, or --document KEY"
        )
    other = ("kind",) if args.document else (*_DESCRIBING, "folder")
    for name in other:
        if getattr(args, name) is not None:
            what = "a claim" if args.document else "a document, which --document names"
            raise InputError(f"--{name} was given; it is an option of {what}")
    missing = [f"--{name}" for name in _DESCRIBING if getattr(args, name) is None]
    if args.document and missing:
        raise InputError(
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; a document has "
            "authors, a title, a venue and a year"
        )


def _new_document(args: argparse.Namespace) -> int:
    described = {name: getattr(args, name) for name in _DESCRIBING}
    document = Document(args.document, **described, folder=args.folder or args.document)
    for path in add_document(document):
        say(f"wrote {shown_path(path)}")
    id_, index = f"{document.folder}.my-claim", project_folder() / document.folder / INDEX
    say(
        f"next: its statements in {shown_path(index)}, and claims: rankcheck new {id_}\n"
        f'They refer to it as paper("{document.key}", "Thm 1"); docs/adding-a-document.md goes on'
    )
    return 0


def _new_claim(args: argparse.Namespace) -> int:
    if not is_id(args.id):
        raise InputError(
            f"{args.id!r} is no id; an id is lower-case words joined by dots and hyphens, like "
            "rank.cross-example"
        )
    known = {entry.id: entry for entry in project()}
    if args.id in known:
        raise InputError(f"{args.id} is declared at {known[args.id].place}; an id is used once")
    path = _place(args.id)
    if path.exists() or path.is_symlink():
        raise InputError(f"{path} exists, and is left as it is")
    write_text(path, text(args.id, args.kind or "bound"))
    shown = shown_path(path)
    say(f"wrote {shown}: fill in what stands in capitals, then: rankcheck verify {shown}")
    return 0


def text(id_: str, kind: str) -> str:
    """The text of the file."""
    document = id_.split(".")[0]
    if document in headings():
        # Of a folder with several documents the last one, which is the newest.
        *_, key = (one.key for one in documents().values() if one.folder == document)
        maker, reference = "paper", f'\n    paper("{key}", "PLACE"),'
    elif kind == "conjecture":
        maker, reference = "", ""
    else:
        maker, reference = "Reference", '\n    Reference("DOCUMENT", "PLACE"),'
    names = {kind, maker} - {""} | (set() if kind == "cited" else {"eq", "leq"})
    if "Erratum(" in OPTIONS.get(kind, ""):
        names.add("Erratum")
    return (CITED if kind == "cited" else CHECKED).format(
        id=id_,
        kind=kind,
        stem=_stem(id_),
        reference=reference,
        imports=", ".join(sorted(names, key=lambda name: (name.islower(), name))),
        options=OPTIONS.get(kind, ""),
        parameters=", *, witness=None" if kind == "construction" else "",
    )


def _stem(id_: str) -> str:
    return re.sub(r"\W", "_", id_.split(".", 1)[1])


def _place(id_: str) -> Path:
    """In the folder of its document, if this is a checkout that has one."""
    folder = project_folder() / id_.split(".")[0]
    checkout = (project_folder().parent / "pyproject.toml").exists()
    return (folder if checkout and folder.is_dir() else Path()) / f"{_stem(id_)}.py"


def add_document(document: Document) -> list[Path]:
    """Add a document to the list, with a folder for its claims and an index, if there is none yet.

    It comes last in the list. If it shares a folder, its statements go into the index there.

    Returns:
        the files that were written.

    Raises:
        InputError: this is no checkout of rankcheck, or the document does not fit into the list
            (`parsed`); then nothing is written.
    """
    root = project_folder()
    if not (root.parent / "pyproject.toml").exists():
        raise InputError(
            "this rankcheck is an installed package; documents are added in a checkout"
        )
    path, index = root / REFERENCES, root / document.folder / INDEX
    listed = path.read_text(encoding="utf-8")
    known, _ = parsed(listed, shown_path(path))
    if document.key in (*known, OWN):
        raise InputError(f"{document.key!r} is the key of a document already; it is used once")
    text = listed + _row(document)
    parsed(text, shown_path(path))
    index.parent.mkdir(exist_ok=True)
    written = []
    if not index.exists():
        title = " ".join(document.title.split())
        write_text(index, _INDEX.format(title=title, folder=document.folder))
        written.append(index)
    write_text(path, text)
    return [path, *written]


def _row(document: Document) -> str:
    """A document as a table of the list."""
    values = {field.name: getattr(document, field.name) for field in fields(document)}
    if document.folder == document.key:
        del values["folder"]
    # What JSON writes of a text or a number is TOML as well.
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
    return "\n".join(["", "[[document]]", *lines, ""])
