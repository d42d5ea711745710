"""The tables of proofs and of records, made from some that are not in the repository."""

import importlib
import sys

import pytest

from rankcheck.claims.catalogue.collect import project
from rankcheck.claims.proved import Proved
from rankcheck.engine.records.file import Group, Held, Records, RelationRecord

from .pages import DOCS

sys.path.insert(0, str(DOCS / "_ext"))
proved, records = map(importlib.import_module, ("proved", "records"))
ENTRIES = {entry.id: entry for entry in project()}
FIRST, SECOND, FALSE = "rank.jacobian-bounds-cost", "rank.cross-example", "rank.sum-cost-as-printed"
OPEN = "separation.density-lower-bound"


def summary(**fields):
    common = {"method": "algebra", "shapes": {"algebra": 2}, "at": "depth 1", "largest": "depth 2"}
    return Proved(**common | {"open": 1, "mutants": 2} | fields)


def test_proofs_are_counted_and_stand_in_tables(monkeypatch):
    """What is false is none of the claims that may be proved."""
    known = {FIRST: summary(stale=True), OPEN: summary(shapes={"algebra": 1, "squares": 3}, open=0)}
    monkeypatch.setattr(proved.Proofs, "summary", lambda entry: known.get(entry.id))
    text = proved.tables([ENTRIES[name] for name in (FIRST, SECOND, FALSE, OPEN)])
    assert "Of 3 claims that may be true and are put to the test, 2 are proved" in text
    assert "1 of them at one where a mutant cannot be proved; in all at 6 shapes" in text
    assert f"Nothing is proved of `{SECOND}`." in text


def held(ratio, description="x = [1, 2]"):
    return Held(
        ratio=ratio, family="f()", choices=[1], description=description, lhs="1", rhs="2", bits=128
    )


def bound(best, label="", **more):
    name = label or "relation 1"
    return RelationRecord(name=name, label=label, kind="leq", best=best, **more)


@pytest.fixture
def kept(monkeypatch):
    """`kept(known)`: as if these records stood beside the claims."""

    def use(known):
        def of(entry):
            none = Records.none(entry)
            return type(none)(**{**vars(none), "relations": known.get(entry.id, ())})

        monkeypatch.setattr(records.Records, "of", of)

    return use


def test_open_bounds_come_with_the_room_that_is_left(kept):
    label = next(iter(ENTRIES[OPEN].loose))
    groups = (Group(key=(1,), best=held("0.2")), Group(key=(2,), best=held("0.25")))
    low = bound(held("0.25", "x" * 1000), label, by=("depth",), groups=groups)
    kept({OPEN: (bound(held("0.8")), low), FIRST: (bound(held("0.99999999")),)})
    text = records.still_open([ENTRIES[OPEN], ENTRIES[FIRST]])
    assert "Of 3 bounds on record, 2 are open." in text
    first, second = text.split("\n## ")[1:]
    assert "lhs / rhs = 0.25; room for a factor of 4" in first
    assert "lhs / rhs = 0.8; room for a factor of 1.25" in second
