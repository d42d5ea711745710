"""Making room for the claims of a new document in a checkout of rankcheck."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

from rankcheck.claims.catalogue.statements import INDEX
from rankcheck.claims.reference import OWN, REFERENCES, Document, parsed
from rankcheck.errors import InputError
from rankcheck.files import project_folder, shown_path, write_text

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
