"""BibTeX of the documents that claims cite, and of rankcheck itself."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from rankcheck._version import __version__
from rankcheck.claims.reference import OWN, Document, Reference, documents

#: As CITATION.cff has them, which the wheel does not bring.
TITLE = (
    "rankcheck: a referee for theorems on representation cost, rank and depth of neural networks"
)
_ACCENTS = {"\u0301": "'", "\u0300": "`", "\u0302": "^", "\u0308": '"', "\u030c": "v "}


def bibliography(references: Iterable[Reference]) -> str:
    """The entries of the documents that are cited, each once, and then that of rankcheck.

    A document that rankcheck does not know is named in a comment.
    """
    cited = list(references)
    known = documents()
    entries = [
        _entry(known[key])
        for key in dict.fromkeys(reference.key for reference in cited)
        if key in known and key != OWN
    ]
    unknown = dict.fromkeys(one.key for one in cited if one.key not in known)
    comments = [f"% not known to rankcheck: {' '.join(key.split())}" for key in unknown]
    own = known[OWN]
    fields = {
        "author": f"{{{own.authors}}}",
        "title": f"{{{TITLE}}}",
        "year": str(own.year),
        "note": f"Version {__version__}",
    }
    return "\n\n".join([*comments, *entries, _written("misc", OWN, fields)])


def cite_key(document: Document) -> str:
    """What a document is cited by: `jacot2023implicit`."""
    last = document.authors.partition(",")[0].split()[-1]
    first = next(word for word in re.findall(r"\w+", document.title) if len(word) > 2)
    plain = unicodedata.normalize("NFD", f"{last}{document.year}{first}".lower())
    return plain.encode("ascii", "ignore").decode()


def _entry(document: Document) -> str:
    fields = {
        "author": " and ".join(map(_author, document.authors.split(", "))),
        "title": f"{{{_tex(document.title)}}}",
    }
    kind, number = "misc", re.fullmatch(r"arXiv:(\S+)", document.venue)
    if re.fullmatch(r"[A-Za-z]+ \d{4}", document.venue):
        kind, fields["booktitle"] = "inproceedings", document.venue.split()[0]
    elif number:
        fields |= {"eprint": number[1], "archiveprefix": "arXiv"}
    else:
        fields["howpublished"] = _tex(document.venue)
    return _written(kind, cite_key(document), fields | {"year": str(document.year)})


def _author(name: str) -> str:
    first, _, last = name.rpartition(" ")
    return _tex(f"{last}, {first}")


def _tex(text: str) -> str:
    """Accents as BibTeX has them, and what means something in LaTeX escaped."""
    out = ""
    for character in unicodedata.normalize("NFD", text):
        if character in _ACCENTS:
            out = f"{out[:-1]}{{\\{_ACCENTS[character]}{out[-1]}}}"
        else:
            out += "\\" + character if character in "#$%&_" else character
    return out


def _written(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name:13} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])
