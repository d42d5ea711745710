"""What is kept of the audit of a trained network, against figures by hand."""

import torch

from rankcheck.audit.read import chain_of
from rankcheck.experiments.audited import audited, measured_runs
from rankcheck.experiments.base import Part, Place
from rankcheck.experiments.stack import Stack
from rankcheck.networks import Network


def test_by_hand():
    """x ↦ max(2x, 0)/2 costs 4 + 1/4."""
    net = Network.of([[[2]], [[0.5]]])
    facts, whole = audited(net, torch.tensor([[1.0], [3.0]], dtype=torch.float64))
    assert (facts.cost, facts.per_layer, facts.rank) == (4.25, 2.125, 1)
    assert facts.near_one == (0, 0)
    assert sum(facts.findings.values()) == len(whole.theorems)
    assert facts.failing == ()


def test_a_layer_of_size_one():
    facts, _ = audited(Network.of([[[1]], [[1]]]), torch.tensor([[1.0], [3.0]]).double())
    assert (facts.cost, facts.near_one) == (2, (1, 1))


def test_runs_are_kept_audited_and_measured(tmp_path):
    """In the order of the seeds, each with its own network, points and audit."""
    stack = Stack([torch.tensor([[[1.0]], [[2.0]]]), torch.tensor([[[1.0]], [[3.0]]])], [None] * 2)
    heard = []
    place = Place(networks=tmp_path, progress=lambda share, words: heard.append((share, words)))
    points = [torch.tensor([[1.0], [2.0]]).double(), torch.tensor([[1.0], [4.0], [5.0]]).double()]

    def measure(number, net, found):
        return {"at 1": float(net(points[number][0])), "points": found.data.points}, {"n": number}

    part = Part("two", {"depth": 2}, (7, 8))
    runs = measured_runs(part, place, stack, points, measure)
    assert [(run.part, run.seed, run.settings) for run in runs] == [
        ("two", 7, {"depth": 2}),
        ("two", 8, {"depth": 2}),
    ]
    assert [run.measured for run in runs] == [{"at 1": 1, "points": 2}, {"at 1": 6, "points": 3}]
    assert [run.drawn for run in runs] == [{"n": 0}, {"n": 1}]
    assert [run.audit.cost for run in runs] == [2, 13]
    assert [words for _, words in heard] == ["measured seed 7", "measured seed 8"]
    assert heard[-1][0] == 1
    kept = [chain_of(tmp_path / f"two-{seed}.safetensors") for seed in (7, 8)]
    assert [float(model.net.cost()) for model in kept] == [2, 13]
