"""Canaries of certificates: what one holds, and what is said of one with a field changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rankcheck.canaries.canary import Canary
from rankcheck.canaries.known import declare, numbers, vectors, verified, wrong_in
from rankcheck.catalogue.kept import digest
from rankcheck.claims.claim import Claim
from rankcheck.claims.relations import Relation, leq
from rankcheck.counterexamples.certificate import CertificateError, stored_path, write
from rankcheck.counterexamples.instance import Instance
from rankcheck.counterexamples.replay import replay
from rankcheck.counterexamples.reporting import report_violation
from rankcheck.instances.choices import read_choices
from rankcheck.versions import versions

__all__ = ["CANARIES"]

#: Of one entry and of many.
_VECTORS = vectors(size=(1, 300))


def _large(x: Any) -> Relation:
    """False by half of what the instance below has from the single number 5 on."""
    return leq(x.sum(-1), 3.0)


def _certified(folder: Path, choices: list[Any], **options: Any) -> Any:
    """The fields of the certificate of an instance."""
    claim = declare("made small", _large, _VECTORS, folder)
    violation = Instance(claim, _VECTORS, read_choices(_VECTORS, choices))
    report_violation(violation, folder, **options)
    return json.loads((folder / f"{claim.id}.json").read_text(encoding="utf-8"))


def _small(folder: Path) -> str | None:
    smallest = _certified(folder, [300, [8, -0.3125, 1.5, *[0] * 297]])["smallest"]["instance"]
    return None if smallest == [1, [5]] else f"the smallest instance is {smallest}"


def _exact(folder: Path) -> str | None:
    kept = _certified(folder, [1, ["8191/1024"]], budget=None)["smallest"]
    said = kept["instance"], kept["lhs"], kept["excess"]
    if said != ([1, ["8191/1024"]], "8191/1024", "4.9990234375"):
        return f"of 8191/1024 > 3 the certificate says {said}"
    smaller, larger = ([1, [4]], [2, [4, 1]])
    for choices in (smaller, larger):
        kept = _certified(folder, choices, budget=None)["smallest"]
    return None if kept["instance"] == smaller else "a larger counterexample took its place"


def _text(folder: Path) -> str | None:
    first, second = (
        declare("a text", body, numbers(), folder).statement_hash
        for body in (lambda x: leq(x, x), _large)
    )
    return "two bodies have one hash" if first == second else None


def _false(x: Any) -> tuple[Relation, Relation]:
    """From 2 on the second of two is false."""
    large = x.exp()
    return leq(x, x), leq(1.5 * large, large, where=x >= 2, label="the second")


def _stored(folder: Path) -> Claim:
    """A refuted claim with its certificate: of the number 3, and of 7 at worst."""
    claim = declare("a stored counterexample", _false, numbers(), folder, kind="refuted")
    small, worst = (Instance(claim, numbers(), read_choices(numbers(), [x])) for x in (3, 7))
    write(stored_path(claim).parent, small, worst)
    return claim


#: A field of a certificate with another value: the section that it is in, and what is then said.
Change = tuple[str, str, Any, str]


def _replayed(claim: Claim) -> str:
    """What a replay says against the certificate of a claim; empty if it proves the claim false."""
    try:
        replay(stored_path(claim), claim=claim)
    except CertificateError as error:
        return str(error)
    return ""


def _changed(changes: Sequence[Change], folder: Path, **head: Any) -> str | None:
    """What is wrong with the replay of a certificate, each time with one field changed.

    The checksum is made anew, so that it hides none of the other checks.

    Args:
        head: what else is changed in all of them.
    """
    claim = _stored(folder)
    path = stored_path(claim)
    text = path.read_text(encoding="utf-8")
    for section, name, value, says in changes:
        fields = json.loads(text) | head
        where = fields[section] if section else fields
        assert where[name] != value
        where[name] = value
        fields["sha256"] = digest({name: fields[name] for name in fields if name != "sha256"})
        path.write_text(json.dumps(fields), encoding="utf-8")
        said = _replayed(claim)
        if says not in said or bool(says) != bool(said):
            return f"with {name} {value!r} it has to say {says!r}, and says {said!r}"
    return None


def _verified(change: Callable[[str], str], says: str, folder: Path) -> str | None:
    """What is wrong with the verdict on a certificate whose text is changed.

    Args:
        says: a part of the message; empty where the certificate has to prove its claim.
    """
    claim = _stored(folder)
    path = stored_path(claim)
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    return wrong_in(verified(claim), "failed" if says else "refuted", says)


def _elsewhere(text: str) -> str:
    return json.dumps(json.loads(text) | {"path": "elsewhere"})


def _missing(folder: Path) -> str | None:
    claim = _stored(folder)
    stored_path(claim).unlink()
    return wrong_in(verified(claim), "failed", "no certificate at")


def _another_body(folder: Path) -> str | None:
    """The claim itself has another body than when its certificate was written."""
    claim = replace(_stored(folder), body=lambda x: leq(x, 1.0))
    return wrong_in(verified(claim), "failed", "the claim has changed since")


#: What a section says besides its instance, with another value. Nothing but its own field differs.
_SECTION: dict[str, Any] = {
    "description": "x = 4",
    "relation": 0,
    "kind": "lt",
    "label": "other",
    "lhs": "[45.19 +/- 0.01]",
    "rhs": "[40.17 +/- 0.01]",
    "excess": "10.05",
    "bits": 256,
}
_OTHER_CLAIMS: tuple[Change, ...] = (
    ("", "schema", 1, "is a certificate of schema 1"),
    ("", "claim", "canary.other", "is a certificate of canary.other, not of"),
    ("", "statement", "another statement", "the statement in"),
    ("smallest", "family", "others()", "has an instance of others()"),
)
_OTHER_INSTANCES: tuple[Change, ...] = (
    ("smallest", "instance", [[3]], "do not fit the generator"),
    ("smallest", "instance", [9], "do not fit the generator"),
    ("smallest", "instance", [1], "does not refute"),
    ("worst", "instance", [1], "does not refute"),
)
_OTHER_FIGURES: tuple[Change, ...] = (
    *(("smallest", name, value, f"says {name} ") for name, value in _SECTION.items()),
    ("worst", "lhs", _SECTION["lhs"], "says lhs"),
)
_OTHER_DIGITS: tuple[Change, ...] = (
    ("smallest", "description", "three", ""),
    ("smallest", "bits", 256, ""),
    ("smallest", "lhs", "[30.1283053847815016113928 +/- 1e-20]", ""),
    ("smallest", "rhs", "[20.07 +/- 1e-3]", "says rhs"),
    ("smallest", "excess", "10.05", "says excess"),
    ("smallest", "label", "other", "says label"),
)


def _of_another_version(folder: Path) -> str | None:
    """Balls may be rounded, and instances be described, in another way there."""
    return _changed(_OTHER_DIGITS, folder, versions=versions() | {"rankcheck": "0.0.0"})


CANARIES = (
    Canary("made small", "shrinking", _small),
    Canary("exact numbers", "certificates", _exact),
    Canary("the text of a body", "certificates", _text),
    Canary("a stored counterexample", "replay", partial(_verified, str, ""), short=True),
    Canary("a certificate that is cut off", "replay",
           partial(_verified, lambda text: text[:-20], "is not a certificate")),
    Canary("a certificate with another checksum", "replay",
           partial(_verified, _elsewhere, "its checksum differs")),
    Canary("no certificate", "replay", _missing),
    Canary("a certificate of another body", "replay", _another_body),
    Canary("certificates of other claims", "replay", partial(_changed, _OTHER_CLAIMS)),
    Canary("certificates of other instances", "replay", partial(_changed, _OTHER_INSTANCES)),
    Canary("certificates with other figures", "replay", partial(_changed, _OTHER_FIGURES)),
    Canary("certificates of another version", "replay", _of_another_version),
)  # fmt: skip
