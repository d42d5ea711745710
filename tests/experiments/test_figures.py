"""Every experiment at its tiny scale, and every recorded result with its findings and figures."""

import dataclasses
import json
import math

import pytest

from rankcheck.experiments.known import NAMES, experiment
from rankcheck.experiments.pages import page
from rankcheck.experiments.records import recorded
from rankcheck.experiments.result import Result
from rankcheck.report.charts.experiments import figures


def numbers(value):
    """All numbers in nested lists and mappings."""
    if isinstance(value, dict):
        return [n for each in value.values() for n in numbers(each)]
    if isinstance(value, list | tuple):
        return [n for each in value for n in numbers(each)]
    return [value] if isinstance(value, int | float) else []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_tiny_scale_from_end_to_end(tiny, name):
    if name == "rank.figure-3":
        pytest.importorskip("sklearn", reason="has the images")
    result, _ = tiny(name)
    made = experiment(name)
    planned = [(part.name, seed) for part in made.parts("tiny", 0) for seed in part.seeds]
    assert [(run.part, run.seed) for run in result.runs] == planned
    for run in result.runs:
        assert run.audit.failing == ()
        assert run.audit.findings["holds"] > 10
        values = numbers(dataclasses.asdict(run))
        assert all(map(math.isfinite, values))
    assert Result.of_json(json.loads(result.to_text())).runs == result.runs
    quantities = [one.quantity for one in made.findings(result)]
    assert len(quantities) == len(set(quantities)) > 1
    assert figures(result)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", ["tiny", "small", "paper"])
def test_another_seed_shares_no_run(name, scale):
    seeds = [
        {seed for part in experiment(name).parts(scale, number) for seed in part.seeds}
        for number in (0, 1, 7)
    ]
    assert len(set().union(*seeds)) == sum(map(len, seeds))


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_an_experiment_shows_its_figures(name):
    """In their order, with data and labels, and with what people have written of it."""
    result, said = recorded(name), page(name)
    drawn = figures(result)
    assert [figure.path.stem for figure in said.figures] == [f"{name}-{each}" for each in drawn]
    assert all(figure.path.is_file() and figure.caption for figure in said.figures)
    assert said.question.strip()
    assert said.notes.startswith("- ")
    assert said.differences.startswith("- ")
    for figure in drawn.values():
        for axes in figure.axes:
            assert axes.has_data()
            assert axes.get_title() or axes.get_ylabel()
