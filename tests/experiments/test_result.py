"""Results as JSON: what is written is read again, and what is no result is refused."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankcheck.errors import InstallationError
from rankcheck.experiments import records
from rankcheck.experiments.result import Result, Run, packed, rounded, unpacked
from rankcheck.stored import StoredError, parse
from tests.bad_input.strategies import mutated

from .toy import facts


def made(**values):
    runs = (
        Run("a", 1, {"depth": 3}, {"error": 1e-7, "at": {"x": 1, "y": 2}}, facts(), {"curve": [1]}),
        Run("a", 2, {"depth": 3}, {"error": 0.5, "at": {"x": 1, "y": 3}}, facts(rank=3)),
        Run("b", 1, {"depth": 4}, {"error": 0.25, "word": "ä", "list": [[1.5], []]}),
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
    text = made().to_text()
    assert Result.of_json(parse(text)) == made()
    assert Result.of_json(parse(text)).to_text() == text
    assert len(text.splitlines()) == 2 + 2  # a line for each part
    data = packed(made().runs[:2])
    assert data["measured"] == {"error": [1e-7, 0.5], "at": {"x": {"each": 1}, "y": [2, 3]}}
    assert data["drawn"] == [{"curve": [1]}]


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


@settings(max_examples=20)
@given(values=st.lists(PLAIN, min_size=1, max_size=2))
def test_any_measurement_is_unpacked_as_it_was_but_for_its_digits(values):
    found = [rounded(value) for value in values]
    assert rounded(found) == found
    assert _close(found, values)
    runs = tuple(Run("a", at, {}, {"m": value}) for at, value in enumerate(found))
    assert unpacked(parse(json.dumps(packed(runs)))) == runs


def _close(found, value):
    if isinstance(value, float):
        return math.isclose(found, value, rel_tol=5.1e-6, abs_tol=1e-320)
    if isinstance(value, list):
        return len(found) == len(value) and all(map(_close, found, value))
    if isinstance(value, dict):
        return list(found) == list(value) and all(_close(found[k], value[k]) for k in value)
    return found == value and type(found) is type(value)


@pytest.mark.parametrize("value", [math.nan, -math.inf])
@pytest.mark.parametrize(
    ("put", "place"),
    [
        (lambda v: {"measured": {"error": v}}, "measured.error"),
        (lambda v: {"drawn": {"curve": [[1.0, v]]}}, "drawn[0].curve[0][1]"),
        (lambda v: {"audit": facts(cost=v)}, "audit.cost"),
    ],
)
def test_a_number_that_is_not_finite_is_refused(value, put, place):
    run = Run(**{"part": "a", "seed": 1, "settings": {}, "measured": {}} | put(value))
    with pytest.raises(StoredError) as caught:
        made(runs=(run,)).to_text()
    assert str(caught.value).startswith(place)
    with pytest.raises(TypeError, match=r"a\.b\[0\] is a "):
        rounded({"a": {"b": [{value}]}})


@pytest.mark.parametrize(
    "change",
    [
        lambda data: None,
        lambda data: [],
        lambda data: {},
        lambda data: data | {"schema": 1},
        lambda data: data | {"more": 1},
        lambda data: data | {"seed": 1.5},
        lambda data: data | {"parts": {}},
        lambda data: data | {"parts": [1]},
        lambda data: data | {"parts": [data["parts"][0] | {"audit": {"cost": [1, 2]}}]},
        lambda data: data | {"parts": [data["parts"][0] | {"seeds": ["1", "2"]}]},
        lambda data: data | {"parts": [data["parts"][0] | {"seeds": [1, 2, 3]}]},
        lambda data: data | {"parts": [data["parts"][0] | {"measured": []}]},
        lambda data: data | {"parts": [data["parts"][0] | {"drawn": 1}]},
        lambda data: data | {"parts": [data["parts"][0] | {"measured": {"e": [math.nan, 1]}}]},
        lambda data: data | {"versions": {"torch": 2}},
        lambda data: {key: value for key, value in data.items() if key != "made"},
    ],
)
def test_what_is_no_result_is_refused(change):
    with pytest.raises(StoredError):
        Result.of_json(change(parse(made().to_text())))


@settings(max_examples=30)
@given(data=mutated(parse(made().to_text())))
def test_a_changed_result_is_refused_or_written_as_it_is_read(data):
    try:
        found = Result.of_json(data)
    except StoredError:
        return
    assert Result.of_json(parse(found.to_text())).to_text() == found.to_text()


@pytest.fixture
def record(tmp_path, monkeypatch):
    """`record(text)` writes the recorded result of toy.line."""
    monkeypatch.setattr(records, "RECORDED", tmp_path)
    records.recorded.cache_clear()
    yield (tmp_path / "toy.line.json").write_text
    records.recorded.cache_clear()


def test_a_record_is_that_of_its_name(record):
    record(made().to_text())
    assert records.recorded("toy.line") == made()
    record(made(experiment="toy.other").to_text())
    records.recorded.cache_clear()
    with pytest.raises(InstallationError, match=r"is of 'toy.other'"):
        records.recorded("toy.line")


@pytest.mark.parametrize("text", ["", "{}", "[1", '{"schema": 2}', "\x00"])
def test_a_record_that_cannot_be_read_is_a_fault_of_the_installation(record, text):
    record(text)
    with pytest.raises(InstallationError, match=r"toy\.line\.json cannot be read"):
        records.recorded("toy.line")
    with pytest.raises(InstallationError, match="No such file"):
        records.recorded("toy.nothing")


def test_a_result_in_place_of_the_recorded_one(record):
    record(made().to_text())
    with records.using(made(seed=1)):
        with records.using(made(seed=2)):
            assert records.current("toy.line").seed == 2
        assert records.current("toy.line").seed == 1
    assert records.current("toy.line").seed == 0


def test_what_the_audits_found_in_a_sentence():
    """Counts over all networks; a theorem that fails is named."""
    runs = made().runs
    assert "6 hold where they apply, and none fails" in made().theorems
    broken = facts(failing=("rank.sandwich",), findings={"holds": 2, "fails": 1})
    said = made(runs=(replace(runs[0], audit=broken), *runs[1:])).theorems
    assert "5 hold where they apply, and fail: rank.sandwich" in said
    assert made(runs=runs[2:]).theorems == ""
