"""rank.figure-1: what is trained and measured, against numpy, and what is made of the record."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.experiments.base import Part, Place
from rankcheck.experiments.figures.low_rank_task import (
    ENTRIES,
    EXPERIMENT,
    SUM,
    UNIT,
    bend_inside,
    bend_outside,
    bends,
    centred_ranks,
    dimension,
    middle,
    near_one,
)
from rankcheck.experiments.figures.tasks import latent_task
from rankcheck.experiments.known import experiment
from rankcheck.experiments.records import recorded
from rankcheck.experiments.result import AuditFacts, Result, Run
from rankcheck.experiments.run import run_experiment
from rankcheck.experiments.stack import generators
from rankcheck.networks import Network
from rankcheck.report.charts.experiments import figures

NAME = "rank.figure-1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("low-rank")


@pytest.fixture(scope="module")
def tiny(folder):
    return run_experiment(NAME, "tiny", folder=folder)


@pytest.fixture(scope="module")
def record():
    return recorded(NAME)


def layers(path):
    """Weights and biases of a kept network, as numpy arrays."""
    found = load_file(path)
    weights = sorted(name for name in found if name.endswith("weight"))
    return [(found[name], found[name.replace("weight", "bias")]) for name in weights]


def test_all_parts_are_trained(tiny):
    expected = [(p.name, seed) for p in EXPERIMENT.parts("tiny", 0) for seed in p.seeds]
    assert [(run.part, run.seed) for run in tiny.runs] == expected
    assert all(run.audit is not None and run.audit.failing == () for run in tiny.runs)
    assert Result.of_json(tiny.to_json()).to_json() == tiny.to_json()


@pytest.mark.parametrize("scale", ["tiny", "small", "paper"])
def test_another_seed_shares_no_run(scale):
    first, second = (EXPERIMENT.parts(scale, seed) for seed in (0, 1))
    assert not {s for p in first for s in p.seeds} & {s for p in second for s in p.seeds}
    assert len({part.name for part in first}) == len(first)


def test_the_measurements_are_those_of_the_kept_network(tiny, folder):
    for run in tiny.runs:
        said = run.settings
        (x,), (y,) = latent_task(
            generators([run.seed]),
            said["points"],
            latent=said["latent"],
            inputs=said["size"],
            used=said["used"],
            outputs=said["size"],
        )
        x, y = x.double().numpy(), y.double().numpy()
        if said["values"] == UNIT:
            y = y / math.sqrt(said["size"])
        ranks, gaps, bent = [], [], []
        kept = layers(folder / "networks" / f"{run.part}-{run.seed}.safetensors")
        for W, b in kept[:-1]:
            before = x @ W.T + b
            x = np.maximum(before, 0)
            bent.append(np.linalg.norm(before - x) / np.linalg.norm(before))
            s = np.linalg.svd(x - x.mean(0), compute_uv=False)
            ranks.append(int((s > 0.05 * s[0]).sum()))
            gaps.append(s[ranks[-1] - 1] / s[ranks[-1]] if ranks[-1] < len(s) else 1e9)
        W, b = kept[-1]
        error = ((x @ W.T + b - y) ** 2).sum() / (y**2).sum()
        assert run.measured["error"] == pytest.approx(error, rel=1e-4)
        assert run.measured["bends"] == pytest.approx(bent, rel=1e-4)
        assert run.measured["ranks"] == ranks
        assert run.measured["gaps"] == pytest.approx(gaps, rel=1e-4)
        assert run.audit.cost == pytest.approx(
            sum((W**2).sum() + (b**2).sum() for W, b in kept), rel=1e-4
        )


def test_the_values_are_a_function_of_the_first_coordinates():
    x, y = latent_task(generators([3]), 40, latent=6, inputs=5, used=2, outputs=4, width=10)
    draw = torch.Generator().manual_seed(3)

    def normal(*shape):
        return torch.randn(*shape, generator=draw).double().numpy()

    def shallow(n, m):
        W, b, V = normal(10, n) / math.sqrt(n), normal(10) / 2, normal(m, 10) / math.sqrt(5)
        return lambda z: np.maximum(z @ W.T + b, 0) @ V.T

    def standard(values):
        values = values - values.mean(0)
        return values / np.sqrt((values**2).mean())

    z = normal(40, 6)
    g, h = shallow(6, 5), shallow(2, 4)
    assert np.allclose(x[0], standard(g(z)), atol=1e-5)
    assert np.allclose(y[0], standard(h(z[:, :2])), atol=1e-5)


def test_the_errors_of_zero():
    """With outputs 0 all three errors are 1: what they are multiplied by does not change that."""
    part = EXPERIMENT.parts("tiny", 0)[0]
    for values in (UNIT, ENTRIES, SUM):
        settings = dict(part.settings) | {"values": values, "steps": 0, "last": 0.0}
        (run,) = EXPERIMENT.run(Part("zero", settings, (0,)), Place())
        assert run.measured["error"] == pytest.approx(1, rel=1e-5)


def test_bends_by_hand():
    one = torch.eye(2, dtype=torch.float64)
    zero = torch.zeros(2, dtype=torch.float64)
    net = Network((one, -one, one), (zero, zero, zero))
    X = torch.tensor([[3.0, 4.0], [1.0, 2.0]], dtype=torch.float64)
    assert bends(net, X) == [0.0, 1.0]
    X = torch.tensor([[3.0, -4.0]], dtype=torch.float64)
    assert bends(net, X) == pytest.approx([4 / 5, 1.0])


def test_the_mean_is_no_dimension():
    """Points on a line beside the origin are two-dimensional, and one-dimensional once centred."""
    one = torch.eye(3, dtype=torch.float64)
    zero = torch.zeros(3, dtype=torch.float64)
    X = torch.tensor([[1.0, 5.0, 2.0], [2.0, 5.0, 2.0], [4.0, 5.0, 2.0]], dtype=torch.float64)
    assert torch.linalg.matrix_rank(X) == 2
    ranks, gaps = centred_ranks(Network((one, one), (zero, zero)), X)
    assert ranks == [1]
    assert gaps == [1e9]


def facts(near):
    return AuditFacts(0.0, 0.0, 0, tuple(near), 0.0, {}, ())


def made(ranks, gaps, bent=(), near=(), used=4):
    measured = {"ranks": ranks, "gaps": gaps, "bends": bent}
    return Run("rank-4", 0, {"depth": 13, "used": used}, measured, facts(near))


def test_what_counts_as_the_rank_of_the_task():
    """The layers 4 to 9 of 12 hidden ones decide, and a gap below ten does not."""
    assert list(middle(13)) == [4, 5, 6, 7, 8, 9]
    ends = [9, 9, 9], [7, 7, 7]
    inside = [4] * 6
    gaps = [1.0] * 3 + [20.0] * 6 + [1.0] * 3
    assert dimension(made([*ends[0], *inside, *ends[1]], gaps)) == 4
    assert dimension(made([*ends[0], *[4] * 5, 5, *ends[1]], gaps)) is None
    assert dimension(made([*ends[0], *inside, *ends[1]], [9.0] * 12)) is None
    bent = [0.5] + [0.1] * 2 + [0.01] * 5 + [0.02] + [0.1] * 2 + [0.4]
    near = [1, 2, 3, 4, 4, 4, 4, 4, 4, 3, 2, 1, 0]
    run = made([4] * 12, gaps, bent, near)
    assert (bend_inside(run), bend_outside(run), near_one(run)) == (0.02, 0.4, [4] * 6)


def test_the_record_is_of_this_experiment(record):
    parts = EXPERIMENT.parts("small", record.seed)
    assert [(run.part, run.seed) for run in record.runs] == [
        (part.name, seed) for part in parts for seed in part.seeds
    ]
    assert len(str(record.to_json())) < 150_000


def test_what_is_found_in_the_record(record):
    found = {one.quantity: one for one in experiment(NAME).findings(record)}
    deep = record.where(used=4, depth=13, gain=1.1)
    number = next(one for name, one in found.items() if "dimension of" in name)
    for k in (4, 5):
        right = sum(set(run.measured["ranks"][3:9]) == {k} for run in deep)
        assert f"{k} in {right} of {len(deep)}" in number.ours
    cost = next(one for name, one in found.items() if name.endswith("end of training"))
    assert f"{min(run.audit.per_layer for run in deep):.2g}" in cost.ours
    assert f"{max(run.audit.per_layer for run in deep):.2g}" in cost.ours


def test_the_figures_show_the_record(record):
    pictures = figures(record)
    assert [picture.name for picture in pictures] == [
        "low_rank_task-representations",
        "low_rank_task-nonlinearity",
        "low_rank_task-weights",
        "low_rank_task-training",
    ]
    for picture in pictures:
        assert len(picture.svg) < 25_000
    lines = pictures[1].svg.count('class="line s')
    assert lines == sum(run.part.startswith("rank-") for run in record.runs)


def test_each_criterion_of_the_claim_can_fail(record):
    """The claim holds on the record, and each relation fails on runs that are changed there."""
    claim = load(select([NAME]))[0]
    deep = [run for run in record.runs if run.part == "large-start"]
    assert not failing(claim, deep)
    measured = deep[0].measured

    def changed(audit=None, **other):
        return [
            dataclasses.replace(
                run,
                measured=dict(run.measured) | other,
                audit=dataclasses.replace(run.audit, **(audit or {})),
            )
            for run in deep
        ]

    ranks = [*measured["ranks"][:5], 6, *measured["ranks"][6:]]
    spread = ["the dimension in the middle", "singular values near 1"]
    assert failing(claim, changed(error=0.2)) == ["the data are fitted"]
    assert failing(claim, changed({"rank": 5})) == ["the rank of the Jacobian"]
    assert failing(claim, changed(ranks=ranks)) == spread
    assert failing(claim, changed(gaps=[5.0] * 12)) == spread
    assert failing(claim, changed({"near_one": (6,) * 13})) == spread[1:]
    assert failing(claim, changed(bends=[0.4] * 12)) == ["nearly linear in the middle"]
    assert failing(claim, changed({"per_layer": 7.5})) == ["the cost per layer"]
    assert failing(claim, record.where(depth=3))


def failing(claim, runs):
    """The labels of the relations that do not hold."""
    return [one.label for one in claim.relations((runs,)) if not bool(one.lhs <= one.rhs)]
