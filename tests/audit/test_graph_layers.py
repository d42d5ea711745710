"""The facts of the maps of graphs against dense matrices that autograd finds."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from rankcheck.audit import audit
from rankcheck.audit.graph import convolution_map
from rankcheck.audit.graph.balance import imbalance
from rankcheck.audit.graph.layers import LARGEST, measure_maps, most_rank
from rankcheck.audit.graph.scalable import scalable
from rankcheck.audit.graph.tracing import graph_of
from tests.audit.nets import normal


class Small(nn.Module):
    """Convolutions, a norm, and linear layers on tokens and on a whole point."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3)
        self.second = nn.Conv2d(3, 4, 3, stride=2, padding=1)
        self.along, self.last = nn.Linear(3, 5), nn.Linear(60, 2)

    def forward(self, x):
        x = functional.relu(self.norm(self.first(x)))
        x = functional.relu(self.second(x))
        return self.last(functional.relu(self.along(x)).flatten(1))


SHAPE = 2, 6, 6


def small():
    module = Small().double().eval()
    for index, p in enumerate(module.parameters()):
        p.data = normal(*p.shape, seed=index) / max(1, p[0].numel()) ** 0.5
    module.norm.running_var = normal(3, seed=20).abs() + 0.5
    return module, graph_of(module, SHAPE, "made up")


def dense(part, shape):
    part = copy.deepcopy(part)
    at = torch.func.jacrev(lambda x: part(x.reshape(1, *shape)).reshape(-1))
    return at(torch.zeros(math.prod(shape), dtype=torch.float64)).detach()


def test_every_map_has_the_facts_of_its_dense_matrix():
    module, graph = small()
    found = {facts.name: facts for facts in measure_maps(graph, 0.05)}
    assert list(found) == ["first", "norm", "second", "along", "last"]
    assert {name: facts.kind for name, facts in found.items()} == {
        "first": "convolution",
        "norm": "batch norm",
        "second": "convolution",
        "along": "linear",
        "last": "linear",
    }
    matrices = {
        "first": dense(module.first, SHAPE),
        "second": dense(module.second, (3, 6, 6)),
        "along": module.along.weight.detach(),
        "last": module.last.weight.detach(),
    }
    for name, A in matrices.items():
        facts = found[name]
        s = torch.linalg.svdvals(A)
        assert facts.complete
        assert facts.shape == tuple(A.shape)
        torch.testing.assert_close(torch.tensor(facts.singular_values).double(), s)
        assert facts.rank.rank == int((s > 0.05 * s[0]).sum())
        assert facts.stable_rank == pytest.approx(float((s * s).sum() / s[0] ** 2))
        assert facts.participation == pytest.approx(float((s**2).sum() ** 2 / (s**4).sum()))
        assert facts.near_one == int(((s - 1).abs() <= 0.25).sum())
        k = most_rank(list(found.values()))
        expected = float(((s - (torch.arange(len(s)) < k).double()) ** 2).sum())
        assert facts.distance == (pytest.approx(expected) if k <= len(s) else None)
    assert found["along"].copies == 12
    assert found["norm"].copies == 36
    assert found["norm"].distance is None
    stored = math.fsum(facts.weights + facts.bias for facts in found.values())
    assert stored == pytest.approx(graph.stored_cost)


def test_where_only_the_largest_are_known_the_rank_is_undecided(monkeypatch):
    module, graph = small()
    whole = {facts.name: facts for facts in measure_maps(graph, 0.05, 3)}
    monkeypatch.setattr(convolution_map, "ENTRIES", 0)
    facts = {facts.name: facts for facts in measure_maps(graph, 0.05, 3)}["first"]
    s = torch.linalg.svdvals(dense(module.first, SHAPE))
    assert not facts.complete
    assert len(facts.singular_values) == LARGEST
    torch.testing.assert_close(torch.tensor(facts.singular_values).double(), s[:LARGEST])
    assert (facts.rank.rank, facts.rank.gap, facts.rank.separated) == (LARGEST, None, False)
    assert (facts.effective_rank, facts.participation) == (None, None)
    assert facts.stable_rank == pytest.approx(whole["first"].stable_rank)
    assert facts.distance == pytest.approx(whole["first"].distance)


def test_a_rank_that_is_only_bounded_is_not_that_of_most_layers(monkeypatch):
    monkeypatch.setattr(convolution_map, "ENTRIES", 0)
    module, graph = small()
    found = measure_maps(graph, 0.05)
    assert [facts.rank.rank for facts in found if not facts.complete] == [LARGEST] * 2
    assert most_rank(found) == min(facts.rank.rank for facts in found if facts.kind == "linear")
    assert most_rank([facts for facts in found if not facts.complete]) == LARGEST
    [said] = [words for words in audit(module, normal(4, *SHAPE)).words if "second" in words]
    assert said.startswith("Of 2 large layers (“first”, “second”) only the largest singular values")


def test_a_rank_below_all_that_is_known_is_decided(monkeypatch):
    """A kernel that sees one direction of the channels has many zeros behind few values."""
    monkeypatch.setattr(convolution_map, "ENTRIES", 0)
    module = nn.Conv1d(6, 6, 1, padding=1, bias=False).double().eval()
    module.weight.data = (normal(6, 1) @ normal(1, 6, seed=1)).unsqueeze(2)
    graph = graph_of(nn.Sequential(module), (6, 5), "made up")
    [facts] = measure_maps(graph)
    assert not facts.complete
    assert (facts.rank.rank, facts.rank.separated) == (5, True)
    assert facts.rank.gap is None or facts.rank.gap > 1e5


def test_the_imbalance_stands_at_the_map_whose_units_they_are():
    _, graph = small()
    hidden = scalable(graph)
    found = {facts.name: facts.imbalance for facts in measure_maps(graph, hidden=hidden)}
    assert {one.source.name: imbalance(one) for one in hidden} == {
        name: share for name, share in found.items() if share is not None
    }
    assert found["norm"] is not None
    assert found["last"] is None


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(3, 3)

    def forward(self, x):
        return self.one(functional.gelu(self.one(x)))


def test_a_layer_that_is_used_twice_is_one_map():
    graph = graph_of(Twice().eval(), (3,), "made up")
    [facts] = measure_maps(graph)
    assert facts.weights + facts.bias == pytest.approx(graph.stored_cost)
