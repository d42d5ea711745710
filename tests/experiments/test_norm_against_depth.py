"""bottleneck.figure-1: what is trained and measured, against numpy, and its record."""

import dataclasses

import numpy as np
import pytest
from safetensors.numpy import load_file

from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.experiments.figures.norm_against_depth import (
    EXPERIMENT,
    curves,
    falling,
    ranges,
    slope_of,
)
from rankcheck.experiments.figures.tasks import latent_task
from rankcheck.experiments.records import recorded
from rankcheck.experiments.result import Run
from rankcheck.experiments.run import run_experiment
from rankcheck.experiments.stack import generators
from rankcheck.report.charts.experiments import figures

NAME = "bottleneck.figure-1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("norms")


@pytest.fixture(scope="module")
def tiny(folder):
    return run_experiment(NAME, "tiny", folder=folder)


@pytest.fixture(scope="module")
def record():
    return recorded(NAME)


def test_all_parts_are_trained(tiny):
    expected = [(p.name, seed) for p in EXPERIMENT.parts("tiny", 0) for seed in p.seeds]
    assert [(run.part, run.seed) for run in tiny.runs] == expected
    assert all(run.audit is not None and run.audit.failing == () for run in tiny.runs)


@pytest.mark.parametrize("scale", ["tiny", "small", "paper"])
def test_another_seed_shares_no_run(scale):
    first, second = (EXPERIMENT.parts(scale, seed) for seed in (0, 1))
    assert not {s for p in first for s in p.seeds} & {s for p in second for s in p.seeds}
    assert len({part.name for part in first}) == len(first)


def test_the_measurements_are_those_of_the_kept_network(tiny, folder):
    for run in tiny.runs:
        found = load_file(folder / "networks" / f"{run.part}-{run.seed}.safetensors")
        depth = run.settings["depth"]
        assert len(found) == 2 * depth
        norm = sum((array.astype(float) ** 2).sum() for array in found.values())
        assert run.measured["norm"] == pytest.approx(norm, rel=1e-4)
        middle = {3: 1, 4: 1, 5: 2}[depth]  # from 0: W_2, W_2 and W_3
        s = np.linalg.svd(found[f"layers.{middle}.weight"], compute_uv=False)
        assert run.measured["rank"] == (s > 0.5).sum()
        assert run.measured["above_tenth"] == (s > 0.1).sum()
        assert run.measured["middle"] == pytest.approx(s[:8], rel=1e-4)


def test_one_seed_learns_one_task_at_all_depths():
    seeds = {part.seeds for part in EXPERIMENT.parts("small", 0)}
    assert len(seeds) == 1
    sizes = {"latent": 8, "inputs": 20, "used": 2, "outputs": 20}
    x, y = latent_task(generators([1]), 150, **sizes)
    again, _ = latent_task(generators([1]), 150, **sizes)
    assert bool((x == again).all())
    # Zero outputs have the error 1, for values divided by √20.
    assert float((y[0] / 20**0.5).square().sum(-1).mean()) == pytest.approx(1, rel=1e-5)


def made(depth, norm, rank, error=0.01, seed=0):
    measured = {"norm": norm, "rank": rank, "error": error}
    return Run(f"depth-{depth}", seed, {"depth": depth, "ridge": 0.001}, measured)


def test_the_lines_of_ranges():
    """Ranges of three and four depths; two alone, a rank that comes back, or no fit, are none."""
    norms = [20.0, 27.1, 32.9, 41.0, 45.2, 48.9, 53.0, 57.2, 60.0, 64.0]
    ranks = [3, 3, 3, 2, 2, 2, 2, 1, 1, 3]
    curve = [made(*each) for each in zip(range(6, 26, 2), norms, ranks, strict=True)]
    curve += [made(depth, 99.0, 3, error=0.4) for depth in (26, 28, 30)]
    found = ranges(curve)
    assert [(one.rank, one.depths) for one in found] == [(3, (6, 8, 10)), (2, (12, 14, 16, 18))]
    for one, part in zip(found, (slice(0, 3), slice(3, 7)), strict=True):
        slope, start = np.polyfit(range(6, 26, 2)[part], norms[part], 1)
        assert (one.slope, one.start) == pytest.approx((slope, start))
        off = np.abs(np.array(norms[part]) - slope * np.array(range(6, 26, 2)[part]) - start).max()
        assert one.off == pytest.approx(off)


def test_curves_are_sorted_by_depth():
    runs = [made(9, 3.0, 2, seed=1), made(5, 1.0, 3), made(9, 2.0, 2), made(5, 1.5, 2, seed=1)]
    assert [[run.measured["norm"] for run in curve] for curve in curves(runs)] == [
        [1.5, 3.0],
        [1.0, 2.0],
    ]
    assert [falling(curve) for curve in curves(runs)] == [False, True]
    assert slope_of(curves(runs)[0]) == pytest.approx(1.5 / 4)


def test_what_is_found_in_the_record(record):
    parts = EXPERIMENT.parts("small", record.seed)
    assert [(run.part, run.seed) for run in record.runs] == [
        (part.name, seed) for part in parts for seed in part.seeds
    ]
    assert len(str(record.to_json())) < 150_000
    found = {one.quantity: one for one in EXPERIMENT.findings(record)}
    slope = next(one for name, one in found.items() if name.startswith("the slope"))
    for curve in curves(record.where(ridge=0.001)):
        for one in ranges(curve):
            assert f"{one.slope:.2f}" in slope.ours
    ranks = found["the rank against the depth"].ours.split("; ")
    seeds = sorted({run.seed for run in record.runs})
    for seed, shown in zip(seeds, ranks, strict=True):
        some = [run for run in record.where(ridge=0.001) if run.seed == seed]
        some.sort(key=lambda run: run.settings["depth"])
        assert shown == " ".join(str(run.measured["rank"]) for run in some)


def test_the_figures_show_the_record(record):
    first, *others = figures(record)
    assert all(len(picture.svg) < 25_000 for picture in (first, *others))
    failed = [run for run in record.where(ridge=0.001) if run.measured["error"] > 0.1]
    assert first.svg.count(">×<") == len(failed)
    lines = sum(len(ranges(curve)) for curve in curves(record.where(ridge=0.001)))
    assert first.svg.count('class="line s') == lines
    assert len(others) == 4


def test_each_criterion_of_the_claim_can_fail(record):
    claim = load(select([NAME]))[0]
    deep = record.where(ridge=0.001)
    assert not failing(claim, deep)

    # Norms that are affine with the slope 4, whatever the rank; and a rank that stays.
    steep = [_changed(run, norm=4.0 * run.settings["depth"]) for run in deep]
    same = [_changed(run, rank=3) for run in deep]
    assert failing(claim, steep) == ["the slope is the rank"]
    assert "the rank falls" in failing(claim, same)
    assert failing(claim, record.where(ridge=0.0))


def _changed(run, **other):
    return dataclasses.replace(run, measured=dict(run.measured) | other)


def failing(claim, runs):
    """The labels of the relations that do not hold."""
    return [one.label for one in claim.relations((runs,)) if not bool(one.lhs <= one.rhs)]
