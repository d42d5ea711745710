"""The recorded results in the repository: each is what its experiment, as it is now, makes."""

from importlib.util import find_spec

import pytest

from rankcheck.experiments.known import _MODULES, NAMES
from rankcheck.experiments.recording import RecordedExperiment, faults
from rankcheck.experiments.records import RECORDED, recorded
from rankcheck.experiments.run import command_line
from rankcheck.stored import read_json

RECORDS = [path.stem for path in sorted(RECORDED.glob("*.json"))]
#: The experiments that are written; all of them have a module once it is.
WRITTEN = [name for name in NAMES if find_spec(_MODULES[name]) is not None]


def test_every_experiment_has_a_record_and_every_record_an_experiment():
    assert sorted(WRITTEN) == RECORDS


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_that_of_the_experiment_as_it_is_now(name):
    """Names, settings and seeds of its parts are the present ones, and no theorem fails."""
    result = recorded(name)
    assert (result.experiment, result.scale, result.seed) == (name, "small", 0)
    assert result.command == command_line(name, "small", 0)
    assert faults(result) == []


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_written_as_it_is_read(name):
    assert recorded(name).to_json() == read_json(RECORDED / f"{name}.json")


@pytest.mark.parametrize("name", RECORDS)
def test_the_provenance_of_a_record(name):
    found = RecordedExperiment(name).provenance()
    assert found.file == f"rankcheck/experiments/recorded/{name}.json"
    assert {"python", "torch", "numpy", "rankcheck"} <= set(found.versions)
    assert found.runs > 0
    assert found.seconds > 0
