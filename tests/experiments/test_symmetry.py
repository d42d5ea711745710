"""bottleneck.figure-2: its task, its measurements by hand, and its criterion."""

from itertools import chain

import numpy as np
import pytest
import torch

from rankcheck.data.crossings import crossing_angles
from rankcheck.experiments.figures.symmetry_measures import (
    images_of,
    measured_distances,
    measured_paths,
    shares_within,
)
from rankcheck.experiments.figures.symmetry_task import REACH, Task, reflected, rotated
from rankcheck.experiments.records import recorded
from rankcheck.networks import Network

from .toy import changed

NAME = "bottleneck.figure-2"
SETTINGS = {"inputs": 5, "points": 30, "noise": 0.1, "descent_rate": 0.04, "descent_steps": 6}
STRETCH = torch.tensor([1.0, 1.0, 1.0, 2.0, 4.0], dtype=torch.float64)


def generator(seed=3):
    return torch.Generator().manual_seed(seed)


def drawn(**changed):
    return Task.drawn(SETTINGS | changed, generator())


def numpy_losses(v, w, noise, rate, steps):
    """The losses along the descent, with the gradient of ‖vvᵀ − M‖² for any M."""
    M = np.outer(w, w) + noise
    losses = []
    for _ in range(steps):
        v = v - rate * (4 * (v @ v) * v - 2 * (M + M.T) @ v)
        losses.append(np.linalg.norm(np.outer(v, v) - M) ** 2)
    return np.array(losses)


def test_the_values_are_those_of_a_descent_in_numpy():
    task, x, y = drawn(points=300)
    starts, w = (x * task.size).numpy(), task.w.numpy()
    along = starts @ w
    for values in (along, -along, np.linalg.norm(starts - np.outer(along, w), axis=1)):
        assert 0.9 * REACH < values.max() <= REACH
    expected = np.array([numpy_losses(v, w, task.noise.numpy(), 0.04, 6) for v in starts])
    np.testing.assert_allclose(y.numpy(), (expected - expected.mean(0)) / task.scale, atol=1e-9)
    assert np.sqrt(np.mean((expected - expected.mean(0)) ** 2)) == pytest.approx(task.scale)
    assert float(x.square().mean()) == pytest.approx(1)
    assert np.linalg.norm(w) == pytest.approx(1)
    assert np.std(task.noise.numpy()) == pytest.approx(0.1, rel=0.5)


def test_orbits_keep_the_statistics_and_without_noise_the_losses():
    task, _, _ = drawn(noise=0.0)
    w = task.w.numpy()
    for orbits, signed in (
        (rotated(task, generator()), True),
        (reflected(task, generator()), False),
    ):
        v = orbits.numpy()
        along = v @ w
        beside = np.linalg.norm(v - along[..., None] * w, axis=-1)
        along = along if signed else np.abs(along)
        assert np.ptp(along, axis=1).max() < 1e-12
        assert np.ptp(beside, axis=1).max() < 1e-12
        assert np.ptp(v, axis=1).max() > 1
        values = task.values(orbits.flatten(0, 1)).unflatten(0, orbits.shape[:2])
        assert shares_within([values])[0] < 1e-20


def test_shares_within_orbits_by_hand():
    two = torch.tensor([[[0.0], [2.0]], [[10.0], [12.0]]], dtype=torch.float64)
    collapsed = torch.tensor([[[0.0], [0.0]], [[10.0], [10.0]]], dtype=torch.float64)
    constant = torch.full((2, 3, 3), 0.1, dtype=torch.float64)
    assert shares_within([two, collapsed, constant]) == pytest.approx([1 / 26, 0, 0])
    many = torch.randn(6, 5, 3, generator=generator(), dtype=torch.float64)
    expected = many.numpy().var(1).sum(-1).mean() / many.numpy().reshape(30, 3).var(0).sum()
    assert shares_within([many]) == pytest.approx([expected])


def networks_of_one_number(task, direction):
    """x ↦ |direction·x| in one hidden layer, and again in a second one."""
    W = torch.stack((direction, -direction))
    ones = torch.ones(1, 2, dtype=torch.float64)
    return Network.linear([W, ones, torch.ones(1, 1, dtype=torch.float64)])


def test_a_network_that_sees_only_w_collapses_the_orbits():
    task, _, _ = drawn()
    net = networks_of_one_number(task, task.w)
    inputs, first, second, f = shares_within(images_of(net, task, rotated(task, generator())))
    assert 0.2 < inputs < 0.8
    assert max(first, second, f) < 1e-20
    inputs, first, second, f = shares_within(images_of(net, task, reflected(task, generator())))
    assert 0.2 < inputs < 0.8
    assert first > 0.5  # (a⁺, a⁻) becomes (a⁻, a⁺)
    assert max(second, f) < 1e-20
    other = torch.linalg.svd(task.w[None])[2][1]  # a unit vector beside w
    blind = networks_of_one_number(task, other)
    assert min(shares_within(images_of(blind, task, rotated(task, generator())))[1:]) > 0.3


def stretches(depth):
    """α_1 = x + 100, α_2 = 3 α_1, and in α_3 the entries of α_2 are stretched differently."""
    eye = torch.eye(5, dtype=torch.float64)
    zeros = torch.zeros(5, dtype=torch.float64)
    weights = [eye, 3 * eye, torch.diag(STRETCH), *[eye] * (depth - 3)]
    return Network(weights, [zeros + 100, *[zeros] * (depth - 1)])


def test_distances_of_a_multiple_are_those_of_the_plane():
    task, _, _ = drawn()
    measured, shown = measured_distances(stretches(4), task, generator())
    half, spot = shown["half"], shown["spot"]
    cells = len(shown["distances"])
    ticks = (np.arange(cells) + 0.5) * 2 * half / cells - half
    expected = 3 * np.hypot(ticks[None] - spot, ticks[:, None]) / task.size
    np.testing.assert_allclose(shown["distances"], expected, rtol=0.06)  # two digits
    radii, angles = np.linspace(0, REACH, 14)[1:, None], np.arange(48) * 2 * np.pi / 48
    around = np.hypot(radii * np.cos(angles) - spot, radii * np.sin(angles))
    assert measured["circle_share"] == pytest.approx(around.var(1).mean() / around.var())
    _, shown = measured_distances(networks_of_one_number(task, task.w), task, generator())
    assert np.max(shown["distances"]) < 1e-12


def test_paths_are_projected_to_the_principal_plane_of_their_layer():
    task, x, _ = drawn()
    # At depth 3 the layer is α_2, which is like the inputs; at depth 4 it is α_3.
    measured, shown = measured_paths(stretches(3), task, x, 40, generator())
    pairs = measured["crossing_at_all"]
    assert measured["crossing_layer"] == 2
    assert np.shape(shown["paths"]) == np.shape(shown["paths_others"]) == (24, 7, 2)
    lengths = np.linalg.norm(np.diff(shown["paths"], axis=1), axis=-1)
    path = task.path(task.points(40, generator())).numpy() / task.size
    axes = np.linalg.svd(x.numpy() - x.numpy().mean(0))[2][:2]
    angles = np.array(list(crossing_angles(path @ axes.T).values()))
    assert pairs["layer"] == len(angles) > measured["crossing"]["layer"] == sum(angles > 30)
    expected = 3 * np.linalg.norm(np.diff(path[:24] @ axes.T, axis=1), axis=-1)
    np.testing.assert_allclose(lengths, expected, atol=2e-2)

    silent = Network.linear([0 * W for W in stretches(3).weights])
    measured, _ = measured_paths(silent, task, x, 40, generator())
    assert measured["crossing_at_all"] == {"layer": 0, "others": pairs["others"]}
    measured, _ = measured_paths(stretches(4), task, x, 40, generator())
    assert measured["crossing_layer"] == 3


def test_each_criterion_of_the_claim_fails_by_one_run(failing):
    first, *rest = recorded(NAME).where(group="deep")
    assert not failing((first, *rest))
    shares = list(first.measured["rotation_shares"])

    labels = [
        failing((run, *rest))
        for run in (
            changed(first, error=0.02),
            changed(first, {"near_one": (3,) * 25}),
            changed(first, {"rank": 3}),
            changed(first, rotation_shares=[*shares[:2], 0.06, *shares[3:]]),
            changed(first, reflection_share=0.06),
        )
    ]
    assert [len(each) for each in labels] == [1] * 5
    assert len({*chain(*labels)}) == 5
