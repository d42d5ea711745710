"""rank.figure-3: its data, what is measured, and what is concluded."""

import math
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from rankcheck.errors import InputError
from rankcheck.experiments.figures import autoencoder_data
from rankcheck.experiments.figures.autoencoder_data import Data, curve, digits, distance_to_path
from rankcheck.experiments.figures.autoencoders import (
    CURVE,
    DIGITS,
    EXPERIMENT,
    measure,
    pairs,
)
from rankcheck.experiments.records import recorded
from rankcheck.experiments.run import run_experiment
from rankcheck.experiments.stack import generators
from rankcheck.networks import Network

NAME = "rank.figure-3"
SAID = {"points": 30, "test": 50, "inner": 9}


def draw(seed=0):
    return generators([seed])[0]


def test_distance_to_a_path_is_the_least_distance_to_its_points():
    generator = np.random.default_rng(5)
    points, knots = generator.normal(size=(12, 3)), generator.normal(size=(5, 3))
    knots[2] = knots[1]  # a segment of length zero

    shares = np.linspace(0, 1, 2001)[:, None]
    path = np.concatenate([a + shares * (b - a) for a, b in pairwise(knots)])
    least = np.linalg.norm(points[:, None] - path, axis=-1).min(1)
    found = distance_to_path(torch.tensor(points), torch.tensor(knots))
    np.testing.assert_allclose(found, least, rtol=1e-4)


def test_the_curve_is_that_of_its_network():
    """g by numpy: the data are its values, and the path passes through all of them."""
    data = curve(SAID, draw(7))
    same = draw(7)
    z = torch.randn(30, 1, generator=same).double().numpy()
    W = torch.randn(9, 1, generator=same).double().numpy()
    b = torch.randn(9, generator=same).double().numpy() / 2
    V = torch.randn(2, 9, generator=same).double().numpy() * math.sqrt(2 / 9)

    def g(z):
        return np.maximum(z @ W.T + b, 0) @ V.T

    shift = g(z).mean(0)
    scale = np.sqrt(np.mean((g(z) - shift) ** 2))
    np.testing.assert_allclose(data.x, (g(z) - shift) / scale, atol=1e-6)
    np.testing.assert_allclose(data.x.mean(0), 0, atol=1e-12)
    assert float(data.x.square().mean()) == pytest.approx(1)

    many = torch.tensor((g(np.linspace(-8, 8, 4001)[:, None]) - shift) / scale)
    assert float(data.distance(many).max()) < 1e-6
    assert float(torch.cdist(data.path, many).amin(-1).max()) < 0.05  # no knot is elsewhere
    assert float(data.distance(data.new).max()) < 1e-12

    torch.randn(50, 1, generator=same)  # the new points; then the inputs, in a larger box
    share = torch.rand(50, 2, generator=same).double().numpy()
    low, high = (ends(data.x.numpy(), axis=0) for ends in (np.min, np.max))
    np.testing.assert_allclose(data.inputs[0], low + (1.5 * share - 0.25) * (high - low))


def test_noisy_images_are_new_images_with_noise():
    all_ = pytest.importorskip("sklearn.datasets", reason="has the images").load_digits().data / 16
    data = digits({"points": 200, "test": 150}, draw())
    rows = {tuple(row) for row in all_}
    train, new = ({tuple(row) for row in each.tolist()} for each in (data.x, data.new))
    assert train <= rows
    assert new <= rows
    assert len(train) == 200
    assert len(new) == 150
    assert not train & new
    for noise, level in zip(autoencoder_data.NOISES, data.inputs, strict=True):
        difference = (level - data.new).numpy()
        assert difference.std() == pytest.approx(noise, rel=0.03)
        distances = np.sqrt((difference**2).sum(-1))
        np.testing.assert_allclose(data.distance(level), distances, rtol=1e-12)


def test_without_scikit_learn_the_message_names_the_extra(monkeypatch):
    autoencoder_data.images.cache_clear()
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(InputError, match=r"scikit-learn is not .* 'rankcheck\[experiments\]'"):
        run_experiment(NAME, "tiny")
    assert EXPERIMENT.parts("small", 0)
    assert EXPERIMENT.findings(recorded(NAME))


@pytest.fixture
def segment():
    """The x-axis from −1 to 1, and inputs above and below it."""
    x = torch.tensor([[-1.0, 0], [0, 0], [1, 0]], dtype=torch.float64)
    inputs = torch.tensor([[[0.5, 1], [-0.25, -3]]], dtype=torch.float64)
    knots = x[[0, 2]]
    return Data(x, x, inputs, lambda points: distance_to_path(points, knots), knots)


def linear(A):
    """x ↦ Ax as a ReLU network, (A, −A) of the positive and the negative parts of x."""
    A = torch.tensor(A, dtype=torch.float64)
    eye = torch.eye(2, dtype=torch.float64)
    return Network.linear((torch.cat((eye, -eye)), torch.cat((A, -A), 1)))


@pytest.mark.parametrize(
    ("A", "left", "error"),
    [([[1, 0], [0, 0]], 0, 0), ([[0.5, 0], [0, 0.5]], 0.5, 0.25), ([[1, 0], [0, 1]], 1, 0)],
    ids=["a projection", "half", "the identity"],
)
def test_what_a_linear_map_leaves_of_the_distance(segment, A, left, error):
    found = measure(linear(A), segment)
    assert (found["left"], found["lefts"]) == (left, [left])
    assert found["error"] == found["new_error"] == pytest.approx(error * 2 / 6)
    assert found["variance"] == pytest.approx(2 / 6)


NEARER, HALF, LITTLE = (
    "the deep one is nearer",
    "at most half is left",
    "the shallow one is nearer with little noise",
)


@pytest.mark.parametrize(("data", "swapped"), [(CURVE, [NEARER, HALF]), (DIGITS, [NEARER, LITTLE])])
def test_the_criterion_fails_where_deep_networks_are_no_better(failing, data, swapped):
    def changed(of):
        return failing(replace(run, measured={**run.measured, **of(run)}) for run in runs)

    runs = recorded(NAME).where(data=data)
    assert not failing(runs)
    # The shares of one depth, given to the other.
    other = {}
    for deep, shallow in pairs(runs):
        for one, given in ((deep, shallow), (shallow, deep)):
            other[one.seed, one.part] = {name: given.measured[name] for name in ("left", "lefts")}
    assert changed(lambda run: other[run.seed, run.part]) == swapped
    # A constant map on a point of the data fits nothing.
    assert changed(lambda run: {"new_error": run.measured["variance"]}) == ["both fit"]


def test_what_agrees_is_tested_at_the_level():
    """Nine of sixteen deep networks have their outputs on the curve, which are not most."""
    said = {each.printed: each.agrees for each in EXPERIMENT.findings(recorded(NAME))}
    assert said["outputs lie on the curve (B)"] is False
    assert said["off the curve (C)"] is True
