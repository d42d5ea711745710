"""The recorded results in the repository: each is what its experiment, as it is now, makes."""

import pytest

from rankcheck.experiments.known import NAMES, experiment
from rankcheck.experiments.recording import RecordedExperiment, faults
from rankcheck.experiments.records import RECORDED, recorded
from rankcheck.experiments.run import command_line

RECORDS = [path.stem for path in sorted(RECORDED.glob("*.json"))]


def test_every_experiment_has_a_record_and_every_record_an_experiment():
    assert sorted(NAMES) == RECORDS
    assert sum(path.stat().st_size for path in RECORDED.iterdir()) <= 150_000


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_that_of_the_experiment_as_it_is_now(name):
    """Names, settings and seeds of its parts are the present ones, and no theorem fails."""
    result = recorded(name)
    seed = experiment(name).pilots
    assert (result.experiment, result.scale, result.seed) == (name, "small", seed)
    assert result.command == command_line(name, "small", seed)
    assert result.pilot
    assert not {run.seed for run in result.runs} & set(result.pilot)
    assert faults(result) == []


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_written_as_it_is_read(name):
    assert recorded(name).to_text() == (RECORDED / f"{name}.json").read_text("utf-8")


@pytest.mark.parametrize("name", RECORDS)
def test_the_provenance_of_a_record(name):
    found = RecordedExperiment(name).provenance()
    assert found.file == f"rankcheck/experiments/recorded/{name}.json"
    assert {"python", "torch", "numpy", "rankcheck"} <= set(found.versions)
    assert found.runs > 0
    assert found.seconds > 0
