"""The page of records, made from records that are not in the repository."""

import importlib
import sys

import pytest

from rankcheck.catalogue.collect import project
from rankcheck.records import Group, Held, Records, RelationRecord

from .pages import DOCS

sys.path.insert(0, str(DOCS / "_ext"))
records = importlib.import_module("records")
ENTRIES = {entry.id: entry for entry in project()}
OPEN, CLOSED = "separation.density-lower-bound", "rank.jacobian-bounds-cost"


def held(ratio, description="x = [1, 2]"):
    return Held(
        ratio=ratio, family="f()", choices=[1], description=description, lhs="1", rhs="2", bits=128
    )


def bound(ratio, label="", **more):
    best = held(ratio, **{key: more.pop(key) for key in ("description",) if key in more})
    name = label or "relation 1"
    return RelationRecord(name=name, label=label, kind="leq", best=best, **more)


@pytest.fixture
def page(monkeypatch):
    def made(known):
        def of(entry):
            none = Records.none(entry)
            return type(none)(**{**vars(none), "relations": known.get(entry.id, ())})

        monkeypatch.setattr(records.Records, "of", of)
        return records.page([ENTRIES[OPEN], ENTRIES[CLOSED]])

    return made


def test_open_bounds_come_first_with_the_room_that_is_left(page):
    label = next(iter(ENTRIES[OPEN].loose))
    groups = (Group(key=(1,), best=held("0.2")), Group(key=(2,), best=held("0.25")))
    text = page(
        {
            OPEN: (bound("0.8"), bound("0.25", label, by=("depth",), groups=groups)),
            CLOSED: (bound("0.99999999"),),
        }
    )
    assert "Of 3 bounds on record, 2 are open." in text
    first, second = text.split("\n## ")[1:3]
    assert first.startswith(f"`{OPEN}`, {label}\n")
    assert "- **Proved:** lhs / rhs = 0.25; room for a factor of 4\n- **Shape:** depth 2" in first
    assert "- **Held by:** `x = [1, 2]`" in first
    assert f"- **Why it is not sharp:** {ENTRIES[OPEN].loose[label][:10]}" in first
    assert f"`rankcheck replay properties/separation/records/{OPEN}.json`" in first
    assert "lhs / rhs = 0.8; room for a factor of 1.25" in second
    assert "Shape" not in second
    closed = text.split("\n## ")[3]
    assert closed.startswith("Closed")
    assert closed.rstrip().endswith("| 1 |")


def test_long_instances_are_cut_off_and_none_is_no_record(page):
    text = page({OPEN: (bound("-0.5", description="x" * 1000),)})
    assert f"`{'x' * records.LONGEST} …`" in text
    assert "lhs / rhs = -0.5\n" in text
    assert "Of 0 bounds on record, 0 are open." in page({})
