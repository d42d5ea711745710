"""linear.trained-singular-values: its target, what is measured, and its criterion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.linalg import subspace_angles

from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.experiments.claims import Runs
from rankcheck.experiments.figures import linear_layers
from rankcheck.experiments.figures.linear_layers import EXPERIMENT, next_ratio, pairs
from rankcheck.experiments.figures.linear_notebooks import target, true_directions
from rankcheck.experiments.records import recorded
from rankcheck.experiments.result import Run
from rankcheck.experiments.stack import Stack, generators
from rankcheck.networks.network import Network

NAME = EXPERIMENT.name


@pytest.mark.parametrize(
    ("r", "first", "last"),
    [
        (1, (2.8498, 1.3553, -7.2570), (0.7691, -12.6291, 1.3051)),
        (2, (1.5574, 7.7949, 19.1428), (8.1604, 10.2077, 3.3550)),
    ],
)
def test_the_target_has_the_values_that_the_notebooks_print(
    r: int, first: tuple[float, ...], last: tuple[float, ...]
) -> None:
    draw = np.random.RandomState(101)
    x = torch.from_numpy(draw.rand(20, 2**18).astype(np.float32)[:, :2048] - 0.5).T.double()
    values = target(r)(x).squeeze(-1).tolist()
    assert values[:3] == pytest.approx(first, abs=1e-4)
    assert values[-3:] == pytest.approx(last, abs=1e-4)


def test_points_are_in_the_box_and_the_same_for_both_depths() -> None:
    shallow, deep, *others = EXPERIMENT.parts("small", 3)
    assert shallow.seeds == deep.seeds
    assert not set(shallow.seeds) & {seed for part in others for seed in part.seeds}
    seeds = {seed for part in EXPERIMENT.parts("small", 3) for seed in part.seeds}
    assert not seeds & {seed for part in EXPERIMENT.parts("small", 4) for seed in part.seeds}
    first, second = (
        linear_layers.points_and_values(1, 64, generators(part.seeds)) for part in (shallow, deep)
    )
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))
    x, y, fresh = first
    assert (x.shape, y.shape, fresh.shape) == ((12, 64, 20), (12, 64, 1), (12, 2048, 20))
    for drawn in (x, fresh):
        assert 0.49 < float(drawn.abs().max()) <= 0.5
    assert len(np.unique(x.numpy())) == x.numel()
    assert torch.equal(y[3], target(1)(x[3]))


@pytest.mark.parametrize("r", [1, 2])
def test_the_target_itself_has_no_error_and_no_distance(r: int) -> None:
    fresh = torch.rand(400, 20, generator=torch.Generator().manual_seed(4)).double() - 0.5
    found = linear_layers.measure(target(r), r, fresh)
    assert found["generalisation"] == found["outside"] == 0.0
    assert found["effective_rank"] == r
    assert found["distance"] < 1e-6
    assert found["sigma"][r] < 1e-12 * found["sigma"][0]
    raised = Network(target(r).weights, (target(r).biases[0], target(r).biases[1] + 3))
    found = linear_layers.measure(raised, r, fresh)
    assert found["generalisation"] == pytest.approx(9, rel=1e-12)
    assert found["outside"] == pytest.approx(9, rel=1e-12)


def test_singular_values_and_angles_are_those_of_numpy_and_scipy() -> None:
    net = linear_layers.first_stack({"width": 9, "depth": 4}, generators([5])).network(0)
    fresh = torch.rand(300, 20, generator=torch.Generator().manual_seed(6)).double() - 0.5
    x = fresh.clone().requires_grad_()
    with torch.enable_grad():
        (gradients,) = torch.autograd.grad(net(x).sum(), x)
    _, sigma, directions = np.linalg.svd(gradients.numpy() / np.sqrt(300))
    for r in (1, 2):
        found = linear_layers.measure(net, r, fresh)
        # Values below 1e-12 of the largest are rounding.
        assert found["sigma"] == pytest.approx(sigma, rel=1e-9, abs=1e-12 * sigma[0])
        angles = subspace_angles(directions[:r].T, true_directions(r).numpy())
        assert found["distance"] == pytest.approx(np.sin(angles[0]), rel=1e-6)
        assert found["effective_rank"] == sum(sigma > linear_layers.SHARE * sigma[0])
        away = 2 * fresh
        outside = np.mean((net(away) - target(r)(away)).numpy() ** 2)
        assert found["outside"] == pytest.approx(outside, rel=1e-12)


def test_the_cost_of_linear_layers_and_its_bound_are_those_by_hand() -> None:
    W1 = torch.zeros(1, 3, 20)
    W1[0, 0, 0], W1[0, 1, 1] = 2.0, 1.0
    W2 = torch.eye(3)[None]
    a = torch.tensor([[[3.0, 4.0, 0.0]]])
    stack = Stack([W1, W2, a], [None, torch.zeros(1, 3), torch.zeros(1, 1)], linear=1)
    found = linear_layers.bound_of_cost(stack, 0, [8.0, 1.0, 0.0])
    assert found["cost"] == pytest.approx((25 + 5 + 3) / 3, rel=1e-12)
    assert found["mixed_variation"] == pytest.approx(8 ** Fraction(2, 3) + 1, rel=1e-12)


def test_each_threshold_decides() -> None:
    """A pair counts at the named factor and not beyond it, for both claims."""
    claims = load(select([NAME, "linear.trained-generalisation"]))

    def failing(runs: Iterable[Run]) -> list[str]:
        instance = (Runs(runs),)
        relations = [one for claim in claims for one in claim.relations(instance)]
        return [one.label for one in relations if bool(one.violated().any())]

    record = recorded(NAME)
    for r, points in ((1, 64), (2, 256)):
        assert not failing(record.where(rank=r, points=points))
    shallow, deep = pairs(record.where(rank=1))[0]
    sigma = [1.0, 0.5, *[0.02] * 18]
    before = replace(
        shallow,
        measured={**shallow.measured, "sigma": sigma, "effective_rank": 18, "distance": 0.5}
        | {"generalisation": 4.0},
    )
    assert next_ratio(before) == 0.5

    def after(**changes: object) -> list[str]:
        measured = {
            **deep.measured,
            "sigma": [2.0, 0.5, *[0.001] * 18],
            "effective_rank": 12,
            "distance": 0.25,
            "generalisation": 1.0,
            **changes,
        }
        return failing(
            replace(run, measured=found, seed=seed)
            for seed in range(5)
            for run, found in ((before, before.measured), (deep, measured))
        )

    assert after() == []
    for change, label in (
        ({"error": 0.01 * deep.measured["variance"]}, "both networks fit"),
        ({"sigma": [2.0, 0.51, *[0.001] * 18]}, "the next singular value"),
        ({"effective_rank": 13}, "the effective index rank"),
        ({"distance": 0.251}, "the subspace"),
        ({"generalisation": 1.01}, "the error at fresh points"),
    ):
        assert after(**change) == [label]
