"""linear.trained-singular-values: its target, what is measured, and its criterion."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.linalg import subspace_angles

from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.claims.claim import Claim
from rankcheck.experiments.figures import linear_layers
from rankcheck.experiments.figures.linear_layers import EXPERIMENT, next_ratio, pairs
from rankcheck.experiments.figures.linear_notebooks import target, true_directions
from rankcheck.experiments.records import recorded
from rankcheck.experiments.result import Result, Run
from rankcheck.experiments.stack import Stack, generators
from rankcheck.networks.network import Network

NAME = EXPERIMENT.name


@pytest.fixture(scope="module")
def record() -> Result:
    return recorded(NAME)


@pytest.fixture(scope="module")
def claim() -> Claim:
    return load(select([NAME]))[0]


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


def test_the_target_varies_along_its_directions_alone() -> None:
    generator = torch.Generator().manual_seed(0)
    for r in (1, 2):
        x, moves = torch.randn(2, 50, 20, generator=generator, dtype=torch.float64)
        V = true_directions(r).numpy()
        assert pytest.approx(np.eye(r), abs=1e-12) == V.T @ V
        beside = moves.numpy() - moves.numpy() @ V @ V.T
        moved = target(r)(x + torch.from_numpy(beside))
        assert moved.numpy() == pytest.approx(target(r)(x).numpy(), abs=1e-9)
        along = target(r)(x + torch.from_numpy(V[:, -1]))
        assert float((along - target(r)(x)).abs().min()) > 1e-3


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


def test_findings_are_those_of_the_record(record: Result) -> None:
    findings = {one.quantity: one for one in EXPERIMENT.findings(record)}
    one = findings["r = 1, 64 points: generalisation error"]
    errors = {
        depth: [
            run.measured["generalisation"]
            for run in record.runs
            if run.settings["rank"] == 1 and run.settings["depth"] == depth
        ]
        for depth in (2, 4)
    }
    low, high = np.min(errors[2]), np.max(errors[2])
    assert one.ours.startswith(f"{np.median(errors[2]):.3g} ({low:.3g} to {high:.3g}) → ")
    assert f"→ {np.median(errors[4]):.3g} (" in one.ours
    falls = sum(np.array(errors[4]) < np.array(errors[2]))
    assert one.ours.endswith(f"falls in {falls} of 12 pairs")
    assert one.printed == "0.124 → 0.000886"
    assert one.agrees == (falls > 6)
    next_one = findings[r"r = 1, 64 points: $\sigma_2/\sigma_1$ of $C_f^{1/2}$"]
    assert next_one.printed == "0.0216 → 3.76e-08"
    assert not next_one.agrees


def verdicts(claim: Claim, runs: tuple[Run, ...]) -> dict[str, bool]:
    """Which relations of the claim hold on these runs."""
    return {each.label: bool(each.lhs <= each.rhs) for each in claim(runs)}


def test_the_criterion_holds_on_the_record_and_fails_on_its_control(
    claim: Claim, record: Result
) -> None:
    for r, points in ((1, 64), (2, 256)):
        assert all(verdicts(claim, record.where(rank=r, points=points)).values())
    control = verdicts(claim, record.where(rank=2, points=64))
    assert control == {
        "both networks fit": True,
        "the effective index rank": True,
        "the next singular value": False,
        "the subspace": False,
        "the error at fresh points": False,
    }


def test_the_criterion_fails_where_the_depths_are_exchanged(claim: Claim, record: Result) -> None:
    def other(run: Run) -> Run:
        depth = 6 - run.settings["depth"]
        return replace(run, settings={**run.settings, "depth": depth})

    exchanged = tuple(other(run) for run in record.where(rank=1))
    found = verdicts(claim, exchanged)
    assert found.pop("both networks fit")
    assert not any(found.values())


def test_each_threshold_decides(claim: Claim, record: Result) -> None:
    """A pair counts at the named factor and not beyond it."""
    shallow, deep = pairs(record.where(rank=1))[0]
    sigma = [1.0, 0.5, *[0.02] * 18]
    before = replace(
        shallow,
        measured={**shallow.measured, "sigma": sigma, "effective_rank": 20, "distance": 0.5}
        | {"generalisation": 4.0},
    )
    assert next_ratio(before) == 0.5

    def after(**changes: object) -> dict[str, bool]:
        measured = {
            **deep.measured,
            "sigma": [2.0, 0.5, *[0.001] * 18],
            "effective_rank": 2,
            "distance": 0.25,
            "generalisation": 1.0,
            **changes,
        }
        runs = [
            replace(run, measured=found, seed=seed)
            for seed in range(5)
            for run, found in ((before, before.measured), (deep, measured))
        ]
        return verdicts(claim, tuple(runs))

    assert all(after().values())
    for change, label in (
        ({"error": 0.01 * deep.measured["variance"]}, "both networks fit"),
        ({"sigma": [2.0, 0.51, *[0.001] * 18]}, "the next singular value"),
        ({"effective_rank": 20}, "the effective index rank"),
        ({"distance": 0.251}, "the subspace"),
        ({"generalisation": 1.01}, "the error at fresh points"),
    ):
        found = after(**change)
        assert [name for name, holds in found.items() if not holds] == [label]
