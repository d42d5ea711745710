"""rank.figure-2: its data, what is counted on networks known by hand, and its recorded result."""

from __future__ import annotations

import re
from dataclasses import replace
from statistics import median
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from scipy.optimize import linprog
from scipy.special import logsumexp
from scipy.stats import binomtest

from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.experiments.claims import Runs
from rankcheck.experiments.figures.four_classes import (
    EXPERIMENT,
    MARGINS,
    counts,
    drawing,
    enlarged,
    entropy_of,
    inverted_s,
)
from rankcheck.experiments.records import recorded
from rankcheck.experiments.run import run_experiment
from rankcheck.networks import Network
from rankcheck.report.charts.experiments import figures

NAME = "rank.figure-2"
GROUPS = [(2, 0.0), (2, 3e-4), (9, 0.0), (9, 3e-4)]


def drawn(points, seed=0):
    return inverted_s(points, torch.Generator().manual_seed(seed)).double().numpy()


def three_sectors():
    """max(x, y, −x − y, −50): three classes meet in the origin, and in no other point nearby."""
    return Network.of([[[1, 0], [0, 1], [-1, -1], [0, 0]]], [[0, 0, 0, -50]])


#: Eight points whose box is [1, 3.5]²: the origin is a share of 0.4 of its sides away.
AWAY = torch.tensor([[1.0, 1.0], [3.5, 3.5]] * 4, dtype=torch.float64)


# Data


def test_classes_are_translated_copies():
    """x − sin(2πy/3) of class c is c − 3/2 but for the noise, so that they are intervals."""
    points = drawn(2000)
    along = points[..., 0] - np.sin(2 * np.pi * points[..., 1] / 3)
    assert np.abs(along - (np.arange(4) - 1.5)[:, None]).max() < 0.5
    assert along.mean(axis=1) == pytest.approx(np.arange(4) - 1.5, abs=0.01)
    assert along.std() ** 2 == pytest.approx(
        1.25 + 0.05**2 * (1 + (2 * np.pi / 3) ** 2 / 2), rel=0.02
    )
    # t is uniform: so are the heights, between −3/2 and 3/2.
    assert points[..., 1].std() == pytest.approx(3 / 12**0.5, rel=0.02)
    # An inverted S: to the right above, to the left below.
    upper, middle = points[..., 1] > 0, np.broadcast_to((np.arange(4) - 1.5)[:, None], along.shape)
    assert (points[..., 0] - middle)[upper].mean() == pytest.approx(2 / np.pi, abs=0.02)


@pytest.mark.parametrize("pair", [(0, 1), (1, 2), (2, 3)])
def test_no_line_separates_neighbours(pair):
    """There are no w, b with ±(w·x + b) ≥ 1 on two classes: the linear program is infeasible."""
    points = drawn(40)
    rows = [
        sign * np.column_stack((points[c], np.ones(40)))
        for sign, c in zip((-1, 1), pair, strict=True)
    ]
    found = linprog(
        np.zeros(3), A_ub=np.concatenate(rows), b_ub=-np.ones(80), bounds=[(None, None)] * 3
    )
    assert found.status == 2


def test_the_error_is_the_mean_cross_entropy():
    rng = np.random.default_rng(0)
    out, y = rng.normal(size=(3, 5, 4)) * 4, np.array([0, 3, 1, 1, 2])
    expected = (logsumexp(out, axis=-1) - out[:, np.arange(5), y]).mean(axis=1)
    found = entropy_of(torch.from_numpy(y))(torch.from_numpy(out))
    assert found.numpy() == pytest.approx(expected, rel=1e-12)


# What is measured


def test_a_tripoint_counts_in_the_boxes_that_contain_it():
    found = counts(three_sectors(), AWAY)
    assert MARGINS == (0.0, 0.25, 0.5, 1.0)
    assert found["tripoints_by_margin"] == [0, 0, 1, 1]
    assert (found["tripoints"], found["most"]) == (1, 3)
    low, high = enlarged(AWAY, 0.5)
    assert (low.tolist(), high.tolist()) == ([-0.25] * 2, [4.75] * 2)


def test_the_drawing_of_three_sectors():
    found = drawing(three_sectors(), AWAY)
    assert found["tripoints"] == [[0.0, 0.0]]
    sizes = []
    for rings in found["classes"]:
        arrays = [np.array(ring).T for ring in rings]
        sizes.append(sum((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2 for x, y in arrays))
    # x or y is larger on a half of the box each, but for its lower corner, where −x − y is: the
    # kite of the corners (−1/4, −1/4), (1/8, −1/4), (0, 0), (−1/4, 1/8).
    kite = 0.25 * 0.375
    assert sizes == pytest.approx([(25 - kite) / 2, (25 - kite) / 2, kite, 0], abs=0.05)
    assert found["points"] == AWAY.reshape(4, 2, 2).tolist()


# The whole, untrained


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("four-classes")


@pytest.fixture(scope="module")
def tiny(folder):
    return run_experiment(NAME, "tiny", folder=folder)


def test_a_tiny_experiment(tiny, folder):
    assert [(run.settings["depth"], run.settings["ridge"]) for run in tiny.runs] == GROUPS
    for run in tiny.runs:
        assert run.seed == 0
        kept = load_file(folder / "networks" / f"{run.part}-0.safetensors")
        out, right = np.concatenate(run.drawn["points"]), np.arange(24) // 6
        for layer in range(run.settings["depth"]):
            out = np.maximum(out, 0) if layer else out
            out = out @ kept[f"layers.{layer}.weight"].T + kept[f"layers.{layer}.bias"]
        assert run.measured["accuracy"] == pytest.approx((out.argmax(1) == right).mean(), abs=1e-5)
        # The error is that before the last step, whose rate is a hundredth of the largest.
        error = (logsumexp(out, axis=1) - out[np.arange(24), right]).mean()
        assert run.measured["error"] == pytest.approx(error, rel=1e-3)
        assert run.audit is not None
        assert run.audit.failing == ()
        assert len(run.audit.near_one) == run.settings["depth"]
    # Runs of one seed have the same data and, at one depth, the same first weights.
    assert len({str(run.drawn["points"]) for run in tiny.runs}) == 1
    assert EXPERIMENT.findings(tiny)
    assert len(figures(tiny)) == 2


def test_seeds_and_sizes():
    for scale, least in (("small", 8), ("paper", 8)):
        parts, other = EXPERIMENT.parts(scale, 0), EXPERIMENT.parts(scale, 1)
        assert len({part.name for part in parts}) == 4
        assert {len(part.seeds) for part in parts} == {len(set(parts[0].seeds))}
        assert len(parts[0].seeds) >= least
        assert not set(parts[0].seeds) & set(other[0].seeds)


# The recorded result


@pytest.fixture(scope="module")
def result():
    return recorded(NAME)


def numbers(result, depth, ridge, key):
    return [run.measured[key] for run in result.where(depth=depth, ridge=ridge)]


def test_every_network_fits_its_data(result):
    assert all(run.measured["accuracy"] == 1 for run in result.runs)
    assert all(run.audit.failing == () for run in result.runs)
    assert [len(result.where(depth=depth, ridge=ridge)) for depth, ridge in GROUPS] == [16] * 4


def test_findings_show_the_numbers_of_the_record(result):
    deep_ridge, deep, shallow_ridge, shallow, *others = EXPERIMENT.findings(result)
    boxes, ranks, one, ridge = others
    for finding, depth, ridge_, some in (
        (deep_ridge, 9, 3e-4, False),
        (deep, 9, 0.0, False),
        (shallow_ridge, 2, 3e-4, True),
        (shallow, 2, 0.0, True),
    ):
        found = numbers(result, depth, ridge_, "tripoints")
        count = sum((number > 0) == some for number in found)
        p = binomtest(count, len(found), alternative="greater").pvalue
        assert f"in {count} of {len(found)} runs" in finding.ours
        assert finding.ours.endswith(", ".join(map(str, found)))
        assert finding.agrees == (p < 0.05)
        assert f"p = {p:.2g}." in finding.note
    for depth, ridge_ in GROUPS:
        name = f"depth {depth} {'with' if ridge_ else 'without'} ridge"
        table = np.array(numbers(result, depth, ridge_, "tripoints_by_margin"))
        listed = ", ".join(map(str, (table > 0).sum(axis=0)))
        assert f"{name}: {listed} of 16" in boxes.ours
        ratios = [b / a for a, b in numbers(result, depth, ridge_, "singular_values")]
        assert f"{name}: {min(ratios):.2g} to {max(ratios):.2g}, in the middle " in ranks.ours
        assert f"{median(ratios):.2g}" in ranks.ours
        assert f"{np.mean(numbers(result, depth, ridge_, 'tripoints')):.2g} with" in ridge.ours
    runs = result.where(depth=9, ridge=3e-4)
    for rank in (1, 2):
        chosen = [run for run in runs if run.audit.rank == rank]
        having = [run.measured["tripoints_by_margin"][-1] > 0 for run in chosen]
        costs = [run.audit.cost / 9 for run in chosen]
        assert f"rank {rank}: {len(chosen)} networks, {sum(having)} with a tripoint" in one.ours
        assert f"from {min(costs):.2f} to {max(costs):.2f}" in one.ours


def test_figures_show_the_record(result):
    classes, ranks = figures(result)
    root = ElementTree.fromstring(classes.svg)
    panels = [group for group in root.iter("g") if group.get("transform")]
    assert len(panels) == 4
    for panel, (depth, ridge) in zip(panels, GROUPS, strict=True):
        [first] = [run for run in result.where(depth=depth, ridge=ridge) if run.drawn]
        spots = [path.get("d") for path in panel.iter("path") if "spot" in path.get("class")]
        assert [d.count("M") for d in spots] == [40] * 4
        circles = [path.get("d") for path in panel.iter("path") if "thin" in path.get("class")]
        assert sum(d.count("M") for d in circles) == len(first.drawn["tripoints"])
        assert len(first.drawn["tripoints"]) == first.measured["tripoints"]
    dots = re.findall(r'class="dots[^"]*" d="([^"]*)"', ranks.svg)
    assert sum(d.count("M") for d in dots if d.count("M") > 1) == 64
    assert max(len(classes.svg), len(ranks.svg)) < 25_000


def test_outlines_of_the_record_are_those_of_the_points(result):
    """The drawn class at a point of the data is that of the point, as all networks fit."""
    for run in (run for run in result.runs if run.drawn):
        for c, points in enumerate(run.drawn["points"]):
            x, y = np.array(points).T
            crossings = np.zeros(len(x), dtype=int)
            for ring in run.drawn["classes"][c]:
                for (a, b), (u, v) in zip(ring, [*ring[1:], ring[0]], strict=True):
                    between = (b > y) != (v > y)
                    with np.errstate(all="ignore"):
                        crossings += between & (x < a + (y - b) * (u - a) / (v - b))
            # One point in a hundred may lie on the side to which an outline was shortened.
            assert (crossings % 2 == 1).mean() > 0.98


# The criterion


@pytest.fixture(scope="module")
def claim():
    [found] = load(select([NAME]))
    return found


def holds(claim, runs, **parameters):
    return [bool((each.lhs <= each.rhs).all()) for each in claim(Runs(runs), **parameters)]


@pytest.mark.parametrize("ridge", [0.0, 3e-4])
def test_the_claim_holds_on_the_record(claim, result, ridge):
    assert holds(claim, result.where(ridge=ridge)) == [True, True]


def test_deep_networks_with_tripoints_break_the_claim(claim, result):
    runs = [
        replace(run, measured=run.measured | {"tripoints_by_margin": [0, 1, 1, 1]})
        for run in result.where(ridge=0.0)
    ]
    assert holds(claim, runs) == [False, True]


def test_networks_that_do_not_fit_count_as_neither(claim, result):
    runs = [
        replace(run, measured=run.measured | {"accuracy": 0.25}) for run in result.where(ridge=0.0)
    ]
    assert holds(claim, runs) == [False, False]
