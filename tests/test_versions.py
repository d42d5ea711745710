"""benchmarks/versions.py: ledgers of several versions, and whether their verdicts are the same."""

from dataclasses import replace
from pathlib import Path

import pytest

from rankcheck.engine.verification.ledger import Ledger, RelationFacts, Row

ROOT = Path(__file__).parent.parent


@pytest.fixture
def versions(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import versions  # type: ignore[import-not-found,unused-ignore]

    return versions


#: What a row computes from its relations, and where a relation has it.
FACTS = {"best_ratio": "ratio", "deviation": "deviation"}


@pytest.fixture
def write(tmp_path):
    """`write("old", {"rank.a": values, ...}, seed=…)`: the path of a ledger with these rows."""

    def ledger(name, rows, python="3.11.7", **changes):
        made = []
        for id_, values in rows.items():
            facts = {FACTS[name]: values.pop(name) for name in FACTS if name in values}
            common = {"id": id_, "title": "A title", "kind": "bound", "verdict": "holds"}
            made.append(Row(**common | values, relations=(RelationFacts(**facts),)))
        whole = Ledger.of(made, profile="quick", seed=0, seconds=1.0)
        whole = replace(whole, versions={**whole.versions, "python": python}, **changes)
        path = tmp_path / f"{name}.json"
        whole.write(path)
        return str(path)

    return ledger


def test_equal_verdicts_with_other_numbers(versions, write, capsys, tmp_path):
    first = write("first", {"a": {"best_ratio": 1.0}, "b": {"best_ratio": 0.5}, "c": {}})
    rows = {
        "a": {"best_ratio": 0.75},
        "b": {"best_ratio": 0.5625},
        "c": {"seconds": 9.0, "deviation": 0.0},
    }
    page = tmp_path / "page.md"
    assert versions.main([first, write("other", rows, "3.14.1"), "--markdown", str(page)]) == 0
    head, _, one, two = capsys.readouterr().out.splitlines()
    assert head.startswith("| ledger | python | torch |")
    assert one.startswith("| first | 3.11.7 | ")
    assert two.startswith("| other | 3.14.1 | ")
    assert two.endswith(" | 3 | equal | 0.25 (a) | inf (c) |")
    assert page.read_text().splitlines()[-1] == two


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"a": {}}, "other: b is missing"),
        ({"a": {}, "b": {}, "c": {}}, "other: c is in this ledger only"),
        (
            {"a": {}, "b": {"verdict": "failed", "messages": ("nothing was asserted",)}},
            "other: b: verdict holds became failed (nothing was asserted)",
        ),
        ({"a": {"kind": "identity"}, "b": {}}, "other: a: kind bound became identity"),
    ],
)
def test_each_difference_is_named(versions, write, capsys, rows, said):
    first, other = write("first", {"a": {}, "b": {}}), write("other", rows)
    same = write("same", {"a": {}, "b": {}})
    assert versions.main([first, same, other]) == 1
    table, named = capsys.readouterr().out.split("\n\n")
    assert named == f"{said}\n"
    assert [line.split(" | ")[8] for line in table.splitlines()[3:]] == ["equal", "1 differ"]


def test_what_cannot_be_compared(versions, write, capsys):
    first, other = write("first", {"a": {}}), write("other", {"a": {}}, seed=1)
    assert versions.main([first, other]) == 2
    assert "differ in their seed (first: 0, other: 1)" in capsys.readouterr().err
    assert versions.main([first, first]) == 2
    assert "name at least two" in capsys.readouterr().err
    assert versions.main([first, f"{first}.none"]) == 2
    assert "no ledger can be read" in capsys.readouterr().err
