"""What is kept of the audit of a trained network, against figures by hand."""

import torch

from rankcheck.experiments.audited import audited
from rankcheck.networks import Network


def test_by_hand():
    """x ↦ max(2x, 0)/2 costs 4 + 1/4, and 1 + 1 after balancing."""
    net = Network.of([[[2]], [[0.5]]])
    facts, whole = audited(net, torch.tensor([[1.0], [3.0]], dtype=torch.float64))
    assert (facts.cost, facts.per_layer, facts.rank) == (4.25, 2.125, 1)
    assert facts.near_one == (0, 0)
    assert abs(facts.saved - (1 - 2 / 4.25)) < 1e-9
    assert sum(facts.findings.values()) == len(whole.theorems)
    assert facts.failing == ()


def test_a_balanced_network_saves_nothing():
    net = Network.of([[[1]], [[1]]])
    facts, _ = audited(net, torch.tensor([[1.0], [3.0]], dtype=torch.float64))
    assert facts.saved < 1e-12
    assert facts.near_one == (1, 1)


def test_the_network_0():
    points = torch.tensor([[1.0], [3.0]], dtype=torch.float64)
    facts, _ = audited(Network.of([[[0]], [[0]]]), points)
    assert (facts.cost, facts.saved) == (0, 0)
