"""pyproject.toml, `.ci` and CI.yml speak of the same three lanes of tests."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
README, CI, CHECK, PROJECT = (
    (ROOT / name).read_text("utf-8")
    for name in ("README.md", "CI.yml", ".ci/check", "pyproject.toml")
)
#: What each lane adds to the one before, by the expression that is given to -m.
FAST, SLOW, ALL = "not slow and not nightly", "not nightly", ""


def chosen(text):
    """The expressions of the lines that run pytest or `.ci/run`; None where there is none."""
    lines = re.findall(r"(?:\.ci/run|(?<![\w./])pytest)\b(?: [^\n`|]*)?", text)
    return [(re.findall(r'-m "([^"]*)"', line) or [None])[0] for line in lines]


def test_pytest_alone_runs_the_fast_lane():
    settings = tomllib.loads(PROJECT)["tool"]["pytest"]["ini_options"]
    options = settings["addopts"]
    assert options[options.index("-m") + 1] == FAST
    assert {"slow", "nightly"} <= {marker.partition(":")[0] for marker in settings["markers"]}
    assert re.findall(r"pip install .*&& (pytest.*)", README) == ["pytest -n 2"]
    [line] = [line for line in CHECK.splitlines() if line.startswith("pytest ")]
    assert chosen(line) == [SLOW]
    assert line.endswith(' "$@"')  # a later -m takes the place of this one


def test_every_change_runs_the_first_two_lanes_and_every_night_all():
    jobs = yaml.load(CI, yaml.BaseLoader)["jobs"]
    lanes = {
        name: [one for step in job["steps"] for one in chosen(step.get("run", ""))]
        for name, job in jobs.items()
    }
    assert {name: found for name, found in lanes.items() if found} == {
        "newcomer": [None],
        "check": [None],
        "docs": [SLOW],
        "coq": [ALL],
        "nightly": [ALL],
        "processors": [SLOW],
        "versions": [None],
    }
    assert "RANKCHECK_PROFILE:-ci}" in CHECK
    for step in jobs["newcomer"]["steps"][-2:]:
        assert step["run"] in README
    at_night = "github.event_name == 'schedule'"
    nightly = {name for name, job in jobs.items() if job.get("if") == at_night}
    assert {"nightly", "processors", "versions"} <= nightly
    assert not {"newcomer", "check"} & nightly
    assert "if" not in jobs["coq"]  # on every change, and every night
    assert ".ci/coq && coqc --version" in [step.get("run") for step in jobs["coq"]["steps"]]
