"""The declared facts of a claim, as its entry in the catalogue and its row have them too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from rankcheck.claims.erratum import Erratum
from rankcheck.claims.kinds import Kind
from rankcheck.claims.reference import Reference
from rankcheck.stored import shown

#: What may become of the result that a wrong step was to prove.
OUTCOMES = ("stands", "stands with another constant", "open")
#: Files are named after a claim, and a file name has at most 255 bytes.
LONGEST_ID = 200
_ID = re.compile(r"[a-z0-9][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*)+")
#: What follows the id where dials of the claim are set, as in `mine.claim[k=2]`.
_SETTING = re.compile(r"\[[\w.,=+÷-]{1,200}\]$")
#: The facts that come from the name and the docstring of a claim, and from its first two arguments.
HEAD = ("id", "kind", "title", "statement", "reference")


def is_id(text: str) -> bool:
    """Whether a text is the id of a claim; files are named after it.

    >>> is_id("rank.cross-example"), is_id("../rank.cross-example")
    (True, False)
    """
    return len(text) <= LONGEST_ID and _ID.fullmatch(text) is not None


def declared_id(text: str) -> str:
    """The id of a claim, without a setting of its dials: `mine.claim` of `mine.claim[k=2]`."""
    return _SETTING.sub("", text)


def check_id(text: str) -> None:
    """Refuse a text in a file that is not the id of a claim.

    Raises:
        ValueError: with the rule.
    """
    if not is_id(declared_id(text)):
        raise ValueError(
            f"it is of the claim {shown(text)}; the id of a claim is lower-case words joined by "
            "dots and hyphens"
        )


def _remark(label: str) -> Any:
    """A fact that is shown under this label wherever a claim is shown, if there is one."""
    return field(default=None, metadata={"label": label})


@dataclass(frozen=True, eq=False, kw_only=True)
class Facts:
    """The declared facts of a claim.

    A field that is added here is an argument of the decorators as soon as their options name it
    (`declare.Checked`, `declare.Accused`). It is read from the text of a file by its annotation,
    and stands in `rankcheck list --json` and in ledgers; with a label it is also shown.

    Attributes:
        id: dotted, lower case, `document.name`.
        title: the first paragraph of the docstring of the body.
        statement: the rest of the docstring, in LaTeX; the title if there is no more.
        reference: the document and the place in it; None for a conjecture without one.
        loose: why the derived mutant cannot be killed (the bound is known not to be sharp): a
            reason, or reasons by the label of a relation.
        reason: why a cited statement cannot be checked here.
        no_ball: which operation has no ball form, or None.
        audit: what audits of trained networks do with a claim about a network: on what and under
            which hypotheses they evaluate it (`rankcheck.audit.theorems.table` has the words), or
            "left out: " and why not.
        effort: multiplies the number of instances that a profile gives to a claim.
        corrected_by: the id of the claim that is right, where this one is false as printed.
        errata: what is wrong in print, and what is right.
        readings: of a printed statement that is refuted, each fair reading of it and why that
            reading is false as well.
        result: of a wrong step of a proof, what becomes of the result that it was to prove: one of
            `OUTCOMES`, a colon, and why.
    """

    id: str
    kind: Kind
    title: str
    statement: str = ""
    reference: Reference | None = None
    loose: str | Mapping[str, str] | None = _remark("not sharp")
    reason: str | None = _remark("not checked here")
    no_ball: str | None = _remark("not in balls")
    audit: str | None = _remark("in audits")
    effort: float = 1.0
    corrected_by: str | None = None
    errata: tuple[Erratum, ...] = ()
    readings: Mapping[str, str] = field(default_factory=dict)
    result: str | None = _remark("result")

    @property
    def remarks(self) -> dict[str, str]:
        """The facts that have a label, by their labels."""
        return self.remarked({})

    def remarked(self, records: Mapping[str, str]) -> dict[str, str]:
        """The same, with what is on record of the bounds that are not sharp.

        Args:
            records: by the name of a bound (`relation_name`), its best ratio.
        """
        texts = {}
        for item in fields(Facts):
            value = getattr(self, item.name)
            if "label" in item.metadata and value:
                numbered = _numbered(value, records) if item.name == "loose" else value
                texts[item.metadata["label"]] = _text(numbered)
        return texts

    def loose_because(self, label: str) -> str | None:
        """Why the relation of that label is known not to be sharp, if it is."""
        return self.loose.get(label) if isinstance(self.loose, Mapping) else self.loose

    @property
    def declared(self) -> dict[str, Any]:
        """The facts by name, for another object with the same ones; mappings are copied."""
        values = {item.name: getattr(self, item.name) for item in fields(Facts)}
        return {name: dict(v) if isinstance(v, Mapping) else v for name, v in values.items()}

    @property
    def document(self) -> str:
        """The key of its document; empty without a reference."""
        return "" if self.reference is None else self.reference.key

    @property
    def group(self) -> str:
        """What lists have it under: the folder of its document, or the key of an unknown one."""
        known = None if self.reference is None else self.reference.document
        return self.document if known is None else known.folder

    @property
    def where(self) -> str:
        """The place in the document."""
        return "" if self.reference is None else self.reference.where


def _numbered(
    loose: str | Mapping[str, str], records: Mapping[str, str]
) -> str | Mapping[str, str]:
    """Each reason why a bound is not sharp, with the number that is on record."""
    if isinstance(loose, Mapping):
        return {
            name: f"{why} (record {records[name]})" if name in records else why
            for name, why in loose.items()
        }
    if not records:
        return loose
    if len(records) == 1:
        [ratio] = records.values()
        return f"{loose} (record {ratio})"
    return f"{loose} (records: {', '.join(f'{name} {ratio}' for name, ratio in records.items())})"


def _text(value: str | Mapping[str, str]) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{label}: {why}" for label, why in value.items())
    return value
