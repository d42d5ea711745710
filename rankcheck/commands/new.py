"""Write a file with a new claim, to be filled in.

An ID of one of rankcheck's documents (rank.my-claim) goes to properties/rank/my_claim.py of this
checkout, any other to my_claim.py in the working directory; --file names another place. An existing
file is not touched. The claim fails until its two sides are written.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from rankcheck.catalogue.collect import project, project_folder
from rankcheck.catalogue.entry import shown_path
from rankcheck.claims.facts import is_id
from rankcheck.claims.kinds import KINDS
from rankcheck.claims.reference import DOCUMENTS
from rankcheck.errors import InputError
from rankcheck.terminal.plain import say

HELP = "write a file with a new claim, to be filled in"

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
#: Further arguments of the decorator.
OPTIONS = {
    "construction": '\n    mutants={"THE WITNESS, BROKEN": {"witness": None}},',
    "refuted": _ERRATA.format(weight="theorem")
    + '\n    readings={"A READING OF THE WORDS": "WHY IT IS FALSE"},\n    corrected_by=None,',
    "step": _ERRATA.format(weight="step") + '\n    result="open: WHAT BECOMES OF THE RESULT",',
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck new`."""
    parser.add_argument("id", metavar="ID", help="dotted, lower case, such as rank.my-claim")
    parser.add_argument("--kind", choices=list(KINDS), default="bound", help="default bound")
    parser.add_argument("--file", metavar="FILE", type=Path, help="where to write it")


def run(args: argparse.Namespace) -> int:
    """Write the file and say what comes next."""
    if not is_id(args.id):
        raise InputError(
            f"{args.id!r} is no id; an id is lower-case words joined by dots and hyphens, like "
            "rank.cross-example"
        )
    known = {entry.id: entry for entry in project()}
    if args.id in known:
        raise InputError(f"{args.id} is declared at {known[args.id].place}; an id is used once")
    path = args.file or _place(args.id)
    if path.suffix != ".py":
        raise InputError(f"{path} does not end in .py; a file of claims is a Python file")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text(args.id, args.kind))
    except FileExistsError as error:
        raise InputError(f"{path} exists, and is left as it is; --file names another") from error
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from error
    shown = shown_path(path)
    say(f"wrote {shown}: fill in what stands in capitals, then: rankcheck verify {shown}")
    return 0


def text(id_: str, kind: str) -> str:
    """The text of the file."""
    document = id_.split(".")[0]
    if document in DOCUMENTS:
        maker, reference = "paper", f'\n    paper("{document}", "PLACE"),'
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
