"""Results as JSON: what is written is read again, and what is no result is refused."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankcheck.errors import InstallationError
from rankcheck.experiments import records
from rankcheck.experiments.base import audit_findings
from rankcheck.experiments.result import Result, Run, check_finite, rounded
from rankcheck.stored import StoredError, parse

from .toy import facts


def made(**values):
    runs = (
        Run("a", 1, {"depth": 3}, {"error": 1e-7, "steps": 5, "ranks": [1, 2]}, facts()),
        Run("a", 2, {"depth": 3}, {"error": 0.5}, facts(), {"curve": [[1.5, 2]]}),
        Run("b", 1, {"depth": 4}, {"error": 0.25, "word": "ä"}),
    )
    usual = {
        "experiment": "toy.line",
        "scale": "small",
        "seed": 0,
        "command": "rankcheck experiment toy.line",
        "device": "cpu",
        "versions": {"torch": "2"},
        "seconds": 12.5,
        "made": "2026-01-01",
        "runs": runs,
    }
    return Result(**usual | values)


def test_what_is_written_is_read_again():
    found = Result.of_json(parse(json.dumps(made().to_json())))
    assert found == made()
    assert Result.of_json(found.to_json()).to_json() == found.to_json()


def test_runs_by_their_settings():
    assert [run.seed for run in made().where(depth=3)] == [1, 2]
    assert made().where(depth=3, width=1) == ()
    assert made().where() == made().runs


NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**60), 2**60)
PLAIN = st.recursive(
    NUMBERS | st.booleans() | st.none() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@settings(max_examples=30)
@given(value=PLAIN)
def test_numbers_have_six_digits_and_all_else_stays(value):
    found = rounded(value)
    assert rounded(found) == found
    assert json.loads(json.dumps(found)) == found
    assert _close(found, value)


def _close(found, value):
    if isinstance(value, float):
        return math.isclose(found, value, rel_tol=5.1e-6, abs_tol=1e-320)
    if isinstance(value, list):
        return len(found) == len(value) and all(map(_close, found, value))
    if isinstance(value, dict):
        return list(found) == list(value) and all(_close(found[k], value[k]) for k in value)
    return found == value and type(found) is type(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("put", "place"),
    [
        (lambda v: {"measured": {"error": v}}, "runs[0].measured.error"),
        (lambda v: {"drawn": {"curve": [[1.0, v]]}}, "runs[0].drawn.curve[0][1]"),
        (lambda v: {"audit": facts(cost=v)}, "runs[0].audit.cost"),
    ],
)
def test_a_number_that_is_not_finite_is_refused(value, put, place):
    run = Run(**{"part": "a", "seed": 1, "settings": {}, "measured": {}} | put(value))
    with pytest.raises(ValueError, match="a result has finite numbers") as caught:
        made(runs=(run,)).to_json()
    assert str(caught.value).startswith(f"{place} is ")


def test_python_reads_nan_and_a_result_does_not():
    text = json.dumps(made().to_json()).replace("1e-07", "NaN")
    assert "NaN" in text
    with pytest.raises(StoredError, match=r"runs\[0\].measured.error is nan"):
        Result.of_json(parse(text))


@pytest.mark.parametrize("value", [{1, 2}, b"x", 1j, object()])
def test_what_is_no_json_is_refused(value):
    with pytest.raises(TypeError, match=r"a\.b\[0\] is a .*; a result is plain JSON"):
        rounded({"a": {"b": [value]}})
    with pytest.raises(StoredError, match="plain JSON"):
        check_finite([value])


@pytest.mark.parametrize(
    "change",
    [
        lambda data: None,
        lambda data: [],
        lambda data: {},
        lambda data: data | {"schema": 2},
        lambda data: data | {"schema": True, "runs": {}},
        lambda data: data | {"more": 1},
        lambda data: data | {"seed": 1.5},
        lambda data: data | {"seed": 1 << 80},
        lambda data: data | {"runs": {}},
        lambda data: data | {"runs": [1]},
        lambda data: data | {"runs": [data["runs"][0] | {"audit": {"cost": 1}}]},
        lambda data: data | {"runs": [data["runs"][0] | {"seed": "1"}]},
        lambda data: data | {"runs": [data["runs"][0] | {"measured": []}]},
        lambda data: data | {"versions": {"torch": 2}},
        lambda data: data | {"seconds": math.inf},
        lambda data: {key: value for key, value in data.items() if key != "made"},
    ],
)
def test_what_is_no_result_is_refused(change):
    with pytest.raises(StoredError):
        Result.of_json(change(made().to_json()))


@pytest.fixture
def record(tmp_path, monkeypatch):
    """`record(text)` writes the recorded result of toy.line."""
    monkeypatch.setattr(records, "RECORDED", tmp_path)
    records.recorded.cache_clear()
    yield (tmp_path / "toy.line.json").write_text
    records.recorded.cache_clear()


def test_a_record_is_that_of_its_name(record):
    record(json.dumps(made().to_json()))
    assert records.recorded("toy.line") == made()
    record(json.dumps(made(experiment="toy.other").to_json()))
    records.recorded.cache_clear()
    with pytest.raises(InstallationError, match=r"is of 'toy.other'; a record is named after its"):
        records.recorded("toy.line")


@pytest.mark.parametrize("text", ["", "{}", "[1", '{"schema": 1}', "\x00"])
def test_a_record_that_cannot_be_read_is_a_fault_of_the_installation(record, text):
    record(text)
    with pytest.raises(InstallationError, match=r"the recorded result .* cannot be read"):
        records.recorded("toy.line")
    with pytest.raises(InstallationError, match="No such file"):
        records.recorded("toy.nothing")


def test_a_result_in_place_of_the_recorded_one(record):
    record(json.dumps(made().to_json()))
    with records.using(made(seed=1)):
        assert records.current("toy.line").seed == 1
        with records.using(made(seed=2)):
            assert records.current("toy.line").seed == 2
        assert records.current("toy.line").seed == 1
    assert records.current("toy.line").seed == 0


def test_what_the_audits_found_ends_the_findings():
    """Counts over all networks, and what balancing would save; a theorem that fails is said."""
    runs = made().runs
    [theorems, saved] = audit_findings(made())
    assert theorems.quantity == "Theorems, evaluated on each of the 2 trained networks"
    assert (theorems.ours, theorems.agrees) == ("6 hold, 2 do not apply, none fails", None)
    assert saved.ours == "0.5 to 0.5, median 0.5"
    broken = facts(failing=("rank.sandwich",), findings={"holds": 2, "fails": 1})
    [theorems, _] = audit_findings(made(runs=(replace(runs[0], audit=broken), *runs[1:])))
    assert (theorems.ours, theorems.agrees) == ("5 hold, 1 do not apply, 1 fail", False)
    assert theorems.note == "A theorem that fails shows a bug: rank.sandwich."
    assert audit_findings(made(runs=runs[2:])) == []
