"""rank.figure-2: its data, what is counted on networks known by hand, and its recorded result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from scipy.special import logsumexp

from rankcheck.experiments.figures.four_classes import (
    MARGINS,
    drawing,
    enlarged,
    inverted_s,
    tripoints,
    tripoints_in,
)
from rankcheck.experiments.records import recorded
from rankcheck.experiments.result import Run
from rankcheck.networks import Network

NAME = "rank.figure-2"


def drawn(points, seed=0):
    return inverted_s(points, torch.Generator().manual_seed(seed)).double().numpy()


def three_sectors():
    """max(x, y, −x − y, −50): three classes meet in the origin, and in no other point nearby."""
    return Network.of([[[1, 0], [0, 1], [-1, -1], [0, 0]]], [[0, 0, 0, -50]])


#: Eight points whose box is [1, 3.5]²: the origin is a share of 0.4 of its sides away.
AWAY = torch.tensor([[1.0, 1.0], [3.5, 3.5]] * 4, dtype=torch.float64)


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


def test_a_tripoint_counts_in_the_boxes_that_contain_it():
    found = tripoints(three_sectors(), AWAY)
    assert MARGINS == (0.0, 0.25, 0.5, 1.0)
    assert found == [0, 0, 1, 1]
    run = Run("sectors", 0, {}, {"tripoints": found})
    assert (tripoints_in(run, 0.0), tripoints_in(run)) == (0, 1)
    low, high = enlarged(AWAY, 0.5)
    assert (low.tolist(), high.tolist()) == ([-0.25] * 2, [4.75] * 2)


def test_the_drawing_of_three_sectors():
    found = drawing(three_sectors(), AWAY, data=True)
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


@pytest.mark.slow
def test_what_is_measured_is_that_of_the_kept_network(tiny):
    result, folder = tiny(NAME)
    points = np.concatenate(result.runs[0].drawn["points"])
    for run in result.runs:
        kept = load_file(folder / "networks" / f"{run.part}-0.safetensors")
        out, right = points, np.arange(24) // 6
        for layer in range(run.settings["depth"]):
            out = np.maximum(out, 0) if layer else out
            out = out @ kept[f"layers.{layer}.weight"].T + kept[f"layers.{layer}.bias"]
        assert run.measured["accuracy"] == pytest.approx((out.argmax(1) == right).mean(), abs=1e-5)
        # The error is that before the last step, whose rate is a hundredth of the largest.
        error = (logsumexp(out, axis=1) - out[np.arange(24), right]).mean()
        assert run.measured["error"] == pytest.approx(error, rel=1e-3)
        assert len(run.audit.near_one) == run.settings["depth"]


DEEP, SHALLOW, INSIDE, MORE = (
    "none at depth 9",
    "some at depth 2",
    "none at depth 2 in the box of the data",
    "more from a large start",
)


@pytest.mark.parametrize("ridge", [0.0, 3e-4])
@pytest.mark.parametrize(
    ("start", "measured", "fails"),
    [
        ("torch", {}, []),
        ("torch", {"tripoints": [0, 0, 0, 1]}, [DEEP, SHALLOW]),
        ("torch", {"tripoints": [1, 1, 1, 1]}, [DEEP, INSIDE, MORE]),
        ("torch", {"accuracy": 0.25}, [DEEP, SHALLOW, INSIDE]),
        ("He", {"tripoints": [0, 0, 0, 1]}, [MORE]),
    ],
)
def test_the_claim_holds_on_the_record_and_can_fail(failing, ridge, start, measured, fails):
    """What is measured is changed for one start alone."""
    runs = recorded(NAME).where(ridge=ridge)
    changed = [
        replace(run, measured={**run.measured, **measured})
        if run.settings["start"] == start
        else run
        for run in runs
    ]
    of_small_start = [DEEP, SHALLOW, INSIDE]
    assert failing(changed) == [each for each in fails if ridge or each in of_small_start]
