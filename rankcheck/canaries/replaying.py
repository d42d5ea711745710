"""Canaries of certificates: each field of one is changed, and the check of this field says so.

The checksum is made anew, so that it hides none of the other checks.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rankcheck.canaries.canary import Canary
from rankcheck.canaries.known import declare, numbers, verified, wrong_in
from rankcheck.claims.claim import Claim
from rankcheck.claims.disjunctions import any_of
from rankcheck.claims.relations import Relation, leq
from rankcheck.counterexamples.certificate import digest, stored_path, write
from rankcheck.counterexamples.instance import Instance
from rankcheck.instances.choices import read_choices

__all__ = ["CANARIES"]

Fields = dict[str, Any]


def _false(x: Any) -> tuple[Relation, Relation]:
    """From 2 on the second of two is false, and of that both parts."""
    large, where = x.exp(), x >= 2
    parts = leq(1.5 * large, large, where=where), leq(2 * large, large, where=where)
    return leq(x, x), any_of(*parts, label="either")


def _stored(folder: Path) -> Claim:
    """A refuted claim with its certificate: of the number 3, and of 7 at worst."""
    claim = declare("a stored counterexample", _false, numbers(), folder, kind="refuted")
    small, worst = (Instance(claim, numbers(), read_choices(numbers(), [x])) for x in (3, 7))
    write(stored_path(claim).parent, small, worst)
    return claim


def _changed(change: Callable[[Fields], object], says: str, sign: bool, folder: Path) -> str | None:
    """What is wrong with the verdict on a certificate that is changed.

    Args:
        says: a part of the message; empty where the certificate has to prove its claim.
        sign: whether the checksum is made anew.
    """
    claim = _stored(folder)
    path = stored_path(claim)
    fields = json.loads(path.read_text(encoding="utf-8"))
    change(fields)
    if sign:
        fields["sha256"] = digest({name: fields[name] for name in fields if name != "sha256"})
    path.write_text(json.dumps(fields), encoding="utf-8")
    return _verdict(claim, says)


def _verdict(claim: Claim, says: str) -> str | None:
    return wrong_in(verified(claim), "failed" if says else "refuted", says)


def _cut_off(folder: Path) -> str | None:
    claim = _stored(folder)
    path = stored_path(claim)
    path.write_text(path.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    return _verdict(claim, "is not a certificate")


def _missing(folder: Path) -> str | None:
    claim = _stored(folder)
    stored_path(claim).unlink()
    return _verdict(claim, "no certificate at")


def _field(name: str, value: Any, says: str, *, of: str = "") -> Canary:
    """A field with another value; `of` is the section that it is in."""

    def set_field(fields: Fields) -> None:
        where = fields[of] if of else fields
        assert where[name] != value
        where[name] = value

    at = f"{of}, {name}" if of else name
    change = partial(_changed, set_field, says, True)
    return Canary(f"certificate: {at} {json.dumps(value)[:12]}", "replay", change)


def _elsewhere(change: Fields, says: str) -> Canary:
    """A certificate of another version of rankcheck, with other values in a section."""

    def set_fields(fields: Fields) -> None:
        fields["versions"]["rankcheck"] = "0.0.0"
        fields["smallest"].update(change)

    name = f"certificate of another version: {', '.join(change)}"
    return Canary(name, "replay", partial(_changed, set_fields, says, True))


def _nothing(fields: Fields) -> None: ...


#: What a section says besides its instance, with another value. Nothing but its own field differs.
_SECTION: Fields = {
    "description": "x = 4",
    "relation": 0,
    "kind": "lt",
    "label": "other",
    "lhs": "[45.19 +/- 0.01]",
    "rhs": "[40.17 +/- 0.01]",
    "excess": "10.05",
    "bits": 256,
    "also": [],
}

CANARIES = (
    Canary("a stored counterexample", "replay", partial(_changed, _nothing, "", False), short=True),
    Canary("certificate: checksum", "replay",
           partial(_changed, lambda fields: fields.update(path="elsewhere"),
                   "its checksum differs", False)),
    Canary("certificate: cut off", "replay", _cut_off),
    Canary("certificate: missing", "replay", _missing),
    _field("schema", 1, "is a certificate of schema 1"),
    _field("claim", "canary.other", "is a certificate of canary.other, not of"),
    _field("statement", "another statement", "the statement in"),
    _field("statement_sha256", "0" * 64, "the claim has changed since"),
    _field("family", "others()", "has an instance of others()", of="smallest"),
    _field("instance", [[3]], "do not fit the generator", of="smallest"),
    _field("instance", [9], "do not fit the generator", of="smallest"),
    _field("instance", [1], "does not refute", of="smallest"),
    _field("instance", [1], "does not refute", of="worst"),
    *(_field(name, value, f"says {name} ", of="smallest") for name, value in _SECTION.items()),
    _field("lhs", _SECTION["lhs"], "says lhs", of="worst"),
    _elsewhere({"description": "three", "bits": 256}, ""),
    _elsewhere({"lhs": "[30.1283053847815016113928 +/- 1e-20]"}, ""),
    _elsewhere({"rhs": "[20.07 +/- 1e-3]"}, "says rhs"),
    _elsewhere({"excess": "10.05"}, "says excess"),
    _elsewhere({"label": "other"}, "says label"),
)  # fmt: skip
