"""The ledger in JSON: what is written is read again, and what is no ledger is one clear error."""

import json

import pytest

from rankcheck.claims.erratum import Erratum
from rankcheck.claims.kinds import KINDS
from rankcheck.claims.reference import Reference
from rankcheck.engine.verification.counts import Counts
from rankcheck.engine.verification.ledger import (
    Ledger,
    Mutants,
    RelationFacts,
    Row,
    read_ledger,
)
from rankcheck.errors import InputError

ROW = Row(
    id="t.a",
    title="A",
    kind="bound",
    verdict="holds",
    reference=Reference("rank", "p. 1"),
    drawn=Counts(60, 2, 0, {"x > 0": 2}),
    swept=Counts(512, 1, 3, {"x > 0": 1}),
    tight_swept=Counts(128),
    tight="ones()",
    relations=(
        RelationFacts("near", "leq", 0.9, 0.8, 1.0, record="0.75"),
        RelationFacts("same", "eq", 1.0, deviation=5.6e-15),
    ),
    reached={"depth": {1: 3, 2: 4}},
    errata=(Erratum("2 L", "L", "all", "misprint", "p. 2"), Erratum("L", "l", "all")),
    loose={"far": "a safety factor"},
    needs=("x >= 0",),
    mutants=Mutants(1, 2, ("weaker",)),
    messages=("one", "two"),
)


@pytest.fixture
def written(tmp_path):
    """Write a ledger of two rows, its data changed by a function; returns the path."""

    def write(change=lambda data: None):
        path = tmp_path / "ledger.json"
        other = Row(id="t.0", title="B", kind="cited", verdict="cited", reason="too long")
        Ledger.of([ROW, other], profile="quick", seed=3, seconds=1.5).write(path)
        data = json.loads(path.read_text(encoding="utf-8"))
        change(data)
        path.write_text(json.dumps(data), encoding="utf-8")
        return path

    return write


def test_what_is_written_is_read(written):
    ledger = read_ledger(written())
    assert (ledger.profile, ledger.seed, ledger.seconds) == ("quick", 3, 1.5)
    assert set(ledger.versions) >= {"python", "rankcheck", "torch"}
    assert [(row.id, row.verdict) for row in ledger.rows] == [("t.0", "cited"), ("t.a", "holds")]
    assert ledger.rows[1] == ROW
    assert all(row["expected"] for row in ledger.to_json()["claims"])
    assert ROW.counts == Counts(700, 3, 3, {"x > 0": 3})


EXPECTED = {"conjecture": "guarded", "refuted": "refuted", "step": "refuted", "cited": "cited"}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_expects_one_verdict(kind):
    verdicts = ("holds", "guarded", "refuted", "failed", "undecided", "cited")
    rows = [Row(id="t.a", title="A", kind=kind, verdict=each) for each in verdicts]
    assert [row.verdict for row in rows if row.expected] == [EXPECTED.get(kind, "holds")]


def test_fields_of_a_future_version_are_ignored(written):
    def change(data):
        data["machine"] = "m"
        data["claims"][1]["margin"] = 0.5
        data["claims"][1]["drawn"]["seconds"] = 1
        data["claims"][1]["mutants"]["slow"] = 0

    assert read_ledger(written(change)).rows[1] == ROW


def of_the_row(**values):
    return lambda data: data["claims"][1].update(values)


def of_the_relation(**values):
    return lambda data: data["claims"][1]["relations"][0].update(values)


ERRATUM = {"printed": "2 L", "right": "L", "survives": "all", "weight": "misprint", "place": None}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda data: data.update(schema=1),
            "a ledger of schema 1, .* reads schema 3; write",
        ),
        (
            lambda data: data["claims"][1].pop("verdict"),
            r"not a whole ledger of schema 3: claims\[1\]: verdict is missing",
        ),
        (of_the_row(verdict="genuine"), r"verdict is 'genuine'; it is one of holds, refuted,"),
        (of_the_row(swept=512), r"claims\[1\]: swept is 512; it is an object"),
        (of_the_relation(kind="gt"), r"relations\[0\].kind is 'gt'; it is one of leq, lt"),
        (of_the_row(reference={"key": "", "where": "p"}), r"claims\[1\]: reference: .* empty part"),
        (of_the_row(errata=[ERRATUM | {"right": ""}]), r"errata\[0\]: right= of an erratum is ''"),
        (of_the_row(reached={"depth": {"1": 0}}), "reached has a value that no instance had"),
        (of_the_relation(record="much"), r"relations\[0\]: its ratio is 'much'"),
        (lambda data: data.pop("versions"), "not a whole ledger of schema 3: versions is missing"),
        (lambda data: data.pop("claims"), "is JSON, but no ledger"),
    ],
)
def test_a_ledger_that_does_not_fit_is_one_error(written, change, said):
    path = written(change)
    with pytest.raises(InputError, match=said) as raised:
        read_ledger(path)
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_is_one_error(tmp_path):
    with pytest.raises(InputError, match=r"no ledger can be read from .*No such file"):
        read_ledger(tmp_path / "x.json")
    with pytest.raises(OSError, match="No such file or directory: "):
        Ledger((), "quick", 0, 0.0, {}).write(tmp_path / "no" / "x.json")
