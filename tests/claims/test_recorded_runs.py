"""Runs on record: what is selected, and records that cannot be read."""

import json

import pytest

from rankcheck.claims import trials
from rankcheck.claims.trials import recorded_runs
from rankcheck.errors import InputError
from rankcheck.theory.instances.drivers import BatchSource

RUNS = [
    {"part": "deep", "seed": 7, "settings": {"depth": 9}, "measured": {"error": 0.5}},
    {"part": "deep", "seed": 8, "settings": {"depth": 9}, "measured": {"error": 0.25}, "drawn": 1},
    {"part": "shallow", "seed": 7, "settings": {"depth": 2}, "measured": {"error": 0.125}},
]
DEEP = ((("depth", 9),),)


@pytest.fixture
def record(tmp_path, monkeypatch):
    """`record(text)` is the record of `rank.mine`; what it is given else is written as JSON."""
    monkeypatch.setattr(trials, "project_folder", lambda: tmp_path)
    trials._record.cache_clear()
    folder = tmp_path / "rank" / "recorded"
    folder.mkdir(parents=True)

    def write(data):
        text = data if isinstance(data, str) else json.dumps(data)
        (folder / "rank.mine.json").write_text(text, encoding="utf-8")

    yield write
    trials._record.cache_clear()


def drawn(where):
    return recorded_runs(experiment="rank.mine", where=where)(BatchSource(seed=0))


def test_runs_by_their_settings(record):
    record({"pilot": [1, 2], "runs": RUNS})
    first, second = drawn(DEEP)[0]
    assert (first.seed, second.measured["error"], first.describe()) == (7, 0.25, "deep 7")
    [found] = drawn(((),))
    assert len(found) == 3
    with pytest.raises(InputError, match="has the settings"):
        drawn(((("depth", 3),),))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "No such file"),
        ("", "Expecting value"),
        ("[1]", "it is an object"),
        ({"pilot": []}, "runs is missing"),
        ({"runs": RUNS}, "pilot is missing"),
        ({"pilot": [], "runs": 3}, "runs is 3"),
        ({"pilot": [], "runs": [{"part": "deep"}]}, "seed is missing"),
        ({"pilot": [], "runs": [RUNS[0] | {"measured": 3}]}, "measured is 3"),
        ({"pilot": [6, 7], "runs": RUNS}, "the run with seed 7 is one of the pilot"),
    ],
)
def test_a_record_that_cannot_be_read(record, data, said):
    if data is not None:
        record(data)
    with pytest.raises(InputError, match=r"the record .*rank\.mine\.json cannot be read") as error:
        drawn(DEEP)
    assert said in str(error.value)
