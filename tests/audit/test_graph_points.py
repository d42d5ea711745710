"""What is measured of networks that are no chain: against autograd, exact numbers, and chains."""

import math
import pickle
from dataclasses import asdict, astuple, replace

import mpmath
import numpy as np
import pytest
import torch
from torch import nn
from torch.func import functional_call, jacrev, vmap

from rankcheck.audit import audit
from rankcheck.audit.graph import affordable, audited, block_facts, derivatives, points
from rankcheck.audit.graph import largest as spectra_by_products
from rankcheck.audit.graph.affordable import number_of_points, work
from rankcheck.audit.graph.blocks import blocks
from rankcheck.audit.graph.derivatives import jacobians
from rankcheck.audit.graph.kinks import Kinks
from rankcheck.audit.graph.noise import Rounding
from rankcheck.audit.graph.tracing import graph_of
from rankcheck.audit.model import ModelError

from .nets import normal


class Residual(nn.Module):
    """x + W_2 σ(W_1 x + b_1) + b_2."""

    def __init__(self, width, hidden, activation=torch.relu):
        super().__init__()
        self.first, self.second = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.activation = activation

    def forward(self, x):
        return x + self.second(self.activation(self.first(x)))


def filled(module, scale=0.6):
    module = module.double().eval().requires_grad_(False)
    for index, p in enumerate(module.parameters()):
        p.data = scale * normal(*p.shape, seed=index)
    return module


def residual(activation=torch.relu):
    """3 → 5, two residual blocks, 5 → 4."""
    return filled(
        nn.Sequential(
            nn.Linear(3, 5), Residual(5, 7, activation), Residual(5, 6, activation), nn.Linear(5, 4)
        )
    )


def read(module, *shape):
    return graph_of(module, shape, "torch module")


def five(values):
    return tuple(np.percentile(values, q) for q in (0, 25, 50, 75, 100))


def spectra(f, X):
    return np.linalg.svd(vmap(jacrev(f))(X).numpy(), compute_uv=False)


# The whole, against automatic differentiation


@pytest.mark.parametrize("activation", [torch.relu, torch.tanh])
def test_the_whole_against_automatic_differentiation(activation, monkeypatch):
    monkeypatch.setattr(points, "KERNEL_ROWS", 4 * 4)
    net, X = residual(activation), normal(30, 3, seed=9)
    data = audit(net, X, tolerance=0.2, theorems=False).data
    s = spectra(net, X)
    for i, found in enumerate(data.singular_values):
        assert astuple(found) == pytest.approx(five(s[:, i]), rel=1e-9)
    ranks = (s > 0.2 * s[:, :1]).sum(-1).tolist()
    assert data.ranks == {k: ranks.count(k) for k in set(ranks)}
    assert (data.points, data.taken, data.complete, data.kinks) == (30, 30, True, 0)

    def value(parameters, x):
        return functional_call(net, parameters, (x,))

    gradients = vmap(jacrev(value), (None, 0))(dict(net.named_parameters()), X)
    rows = torch.cat([g.reshape(30, 4, -1) for g in gradients.values()], -1).numpy()
    assert astuple(data.kernel_trace) == pytest.approx(five((rows**2).sum((1, 2))))
    some = rows[[0, 7, 15, 22]].reshape(16, -1)
    assert data.kernel_points == 4
    assert data.kernel_top == pytest.approx(np.linalg.norm(some, 2) ** 2 / 4)
    J = vmap(jacrev(net))(X).numpy()
    spectrum = np.linalg.eigvalsh(np.einsum("nij,nik->jk", J, J) / 30)[::-1]
    assert data.egop == pytest.approx(spectrum)
    assert data.index_rank.rank == (np.sqrt(spectrum) > 0.2 * np.sqrt(spectrum[0])).sum()
    powers = (s ** (2 / 6)).sum(-1)
    assert (data.schatten, data.bounds) == (None, ())
    if activation is torch.relu:
        assert data.least_cost == pytest.approx(6 * powers.max())
    else:
        assert data.least_cost is None


def test_a_chain_has_the_same_figures_as_a_graph():
    """Everything that both measure, by two codes that have nothing in common but the joining."""
    chain = filled(nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 5), nn.ReLU(),
                                 nn.Linear(5, 3)))  # fmt: skip
    X = normal(40, 4, seed=2)
    one, other = audit(chain, X, theorems=False), audit(read(chain, 4), X)
    assert (one.model.is_chain, other.model.is_chain) == (True, False)
    assert other.model.depth == one.model.depth
    assert other.model.cost == pytest.approx(one.model.cost)
    mine, theirs = asdict(one.data), asdict(other.data)
    for name in ("schatten", "bounds", "dead_cost"):  # of chains alone
        mine.pop(name), theirs.pop(name)
    assert theirs.pop("index_rank") == pytest.approx(mine.pop("index_rank"))
    values = zip(mine.pop("singular_values"), theirs.pop("singular_values"), strict=True)
    for here, there in values:
        assert there == pytest.approx(here)
    for name in ("gaps", "kernel_trace", "ranks"):
        here, there = mine.pop(name), theirs.pop(name)
        assert there == (here if here is None else pytest.approx(here))
    assert theirs.pop("egop") == pytest.approx(mine.pop("egop"))
    assert theirs == pytest.approx(mine)
    for here, there in zip(one.layers, other.layers, strict=True):
        assert (there.dead, there.linear, there.bent) == (here.dead, here.linear, here.bent)
        assert there.energy == pytest.approx(here.energy)
        assert there.representation == pytest.approx(here.representation, abs=1e-6)


def test_parameters_that_are_shared_count_once():
    block = Residual(3, 4)
    net = filled(nn.Sequential(block, block))
    X = normal(5, 3, seed=1)
    found = audit(net, X, theorems=False)
    assert found.model.cost == pytest.approx(sum(float((p**2).sum()) for p in net.parameters()))

    def value(parameters, x):
        return functional_call(net, parameters, (x,))

    gradients = vmap(jacrev(value), (None, 0))(dict(net.named_parameters()), X)
    traces = sum((g.reshape(5, -1) ** 2).sum(1) for g in gradients.values())
    assert astuple(found.data.kernel_trace) == pytest.approx(five(traces.numpy()))


# Blocks


def test_blocks_are_measured_at_their_inputs():
    net, X = residual(), normal(20, 3, seed=4)
    found = audit(net, X, tolerance=0.1, theorems=False).blocks
    assert [one.kind for one in found] == ["chain", "residual", "residual", "chain"]
    Z = X
    for block, module in zip(found, net, strict=True):
        s = spectra(module, Z)
        assert block.points == 20
        for i, mine in enumerate(block.singular_values):
            assert astuple(mine) == pytest.approx(five(s[:, i]), rel=1e-9)
        ranks = (s > 0.1 * s[:, :1]).sum(-1).tolist()
        assert block.ranks == {k: ranks.count(k) for k in set(ranks)}
        power = (s ** (2 / block.depth)).sum(-1).max()
        assert block.least_cost == pytest.approx(block.depth * power)
        if block.kind == "residual":
            added = spectra(lambda z, f=module: f(z) - z, Z)
            for i, mine in enumerate(block.branch):
                assert astuple(mine) == pytest.approx(five(added[:, i]), rel=1e-9, abs=1e-12)
        Z = module(Z)


def test_what_is_claimed_of_a_block_holds_of_chains_with_its_map():
    """A residual block as a wider chain: [z]_+ and [−z]_+ carry the identity, at a cost."""
    block, X = Residual(3, 4), normal(50, 3, seed=5)
    [found] = audit(filled(nn.Sequential(block)), X, theorems=False).blocks
    one, two = block.first, block.second
    eye, no = torch.eye(3).double(), torch.zeros(3).double()
    W = torch.cat((one.weight, eye, -eye))
    b = torch.cat((one.bias, no, no))
    V = torch.cat((two.weight, eye, -eye), 1)
    torch.testing.assert_close(torch.relu(X @ W.mT + b) @ V.mT + two.bias, block(X))
    cost = sum(float((p * p).sum()) for p in (W, b, V, two.bias))
    balanced = audit(chain_of(W, b, V, two.bias), X, theorems=False).balanced.cost
    assert found.least_cost <= balanced <= cost
    assert found.unclaimed == ""


def chain_of(W, b, V, c):
    net = nn.Sequential(nn.Linear(3, len(b)), nn.ReLU(), nn.Linear(len(b), 3)).double()
    for p, value in zip(net.parameters(), (W, b, V, c), strict=True):
        p.data = value.detach()
    return net


def test_a_chain_pays_for_the_identity():
    """With a branch of zeros the block is the identity of ℝ³, which costs two layers six."""
    block = Residual(3, 4).double()
    for p in block.parameters():
        p.data = torch.zeros_like(p)
    block.first.bias.data += 1  # off the kinks
    [found] = audit(nn.Sequential(block), normal(5, 3), theorems=False).blocks
    assert found.least_cost == pytest.approx(6)
    assert found.branch_ranks == {0: 5}


def test_of_which_blocks_nothing_is_claimed():
    smooth = audit(residual(torch.tanh), normal(5, 3), theorems=False).blocks
    assert [one.least_cost is None for one in smooth] == [False, True, True, False]
    assert "no theorem here is about tanh" in smooth[1].unclaimed.lower()
    net = filled(nn.Sequential(nn.Linear(3, 3), nn.ReLU(), Residual(3, 3), nn.ReLU(),
                               nn.Linear(3, 2)))  # fmt: skip
    begin, _, end = audit(net, normal(5, 3), theorems=False).blocks
    for one in (begin, end):
        assert one.least_cost is None
        assert "chains of one layer are affine" in one.unclaimed


# Kinks


def test_kinks_of_activations():
    net = filled(nn.Sequential(nn.Linear(2, 2), Residual(2, 2), nn.Linear(2, 1)))
    net[0].weight.data, net[0].bias.data = torch.eye(2).double(), torch.zeros(2).double()
    net[1].first.weight.data, net[1].first.bias.data = net[0].weight.data, net[0].bias.data
    X = torch.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]], dtype=torch.float64)
    found = audit(net, X, theorems=False).data
    assert found.kinks == 1
    assert audit(net, X[1:2], theorems=False).data.least_cost is None
    assert found.least_cost == audit(net, X[[0, 2]], theorems=False).data.least_cost


@pytest.mark.parametrize(
    ("layers", "point", "kink"),
    [
        ((nn.MaxPool1d(2),), [1.0, 1.0, 0.0, 2.0], True),
        ((nn.MaxPool1d(2),), [1.0, 1.5, 0.0, 2.0], False),
        ((nn.MaxPool1d(2),), [0.0, 0.0, 1.0, 2.0], True),
        ((nn.ReLU(), nn.MaxPool1d(2)), [-1.0, -2.0, 1.0, 2.0], False),
        ((nn.ReLU(), nn.Identity(), nn.MaxPool1d(2), nn.MaxPool1d(2)), [-1.0] * 4, False),
        ((nn.ReLU(), nn.MaxPool1d(2)), [3.0, 3.0, 1.0, 2.0], True),
        ((nn.ReLU(), nn.MaxPool1d(2)), [0.0, -2.0, 1.0, 2.0], True),
        ((nn.ReLU6(),), [6.0, 1.0, 2.0, 3.0], True),
        ((nn.ReLU6(),), [5.0, 1.0, 2.0, 3.0], False),
        ((nn.Hardtanh(),), [-1.0, 5.0, 2.0, 3.0], True),
        ((nn.Hardtanh(),), [-2.0, 5.0, 2.0, 0.5], False),
    ],
)
def test_kinks_of_other_layers(layers, point, kink):
    graph = read(nn.Sequential(*layers), 1, 4)
    x = torch.tensor([point], dtype=torch.float64)
    kinks = Kinks(graph)
    assert kinks.at(graph.values(x, kinks.nodes)).tolist() == [kink]


# Rounding


def exact_jacobian(net, x, smooth):
    """The Jacobian of `residual`, in 60 digits."""
    matrix = lambda A: mpmath.matrix(A.detach().reshape(len(A), -1).tolist())  # noqa: E731
    with mpmath.workdps(60):
        first, *middle, last = net
        z = matrix(first.weight) * matrix(x) + matrix(first.bias)
        J = matrix(first.weight)
        for block in middle:
            y = matrix(block.first.weight) * z + matrix(block.first.bias)
            values = [mpmath.tanh(t) if smooth else max(t, mpmath.mpf(0)) for t in y]
            both = zip(values, y, strict=True)
            slopes = [1 - v * v if smooth else mpmath.mpf(t > 0) for v, t in both]
            D = mpmath.diag(slopes) * matrix(block.first.weight)
            J = J + matrix(block.second.weight) * (D * J)
            z = z + matrix(block.second.weight) * mpmath.matrix(values) + matrix(block.second.bias)
        return matrix(last.weight) * J


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0])
def test_the_estimate_of_rounding_is_above_the_rounding_and_not_far(smooth, scale):
    net = filled(residual(torch.tanh if smooth else torch.relu), scale)
    graph, X = read(net, 3), normal(12, 3, seed=6)
    J = jacobians(graph, X)
    noise = Rounding(graph).of(X, J)
    errors = []
    for x, mine in zip(X, J, strict=True):
        exact = exact_jacobian(net, x, smooth)
        with mpmath.workdps(60):
            difference = mpmath.matrix(mine.tolist()) - exact
            errors.append(float(mpmath.norm(difference, 2)))
    least = np.array(errors)
    assert (least <= noise.numpy()).all()
    assert (noise.numpy() <= 5000 * np.maximum(least, 1e-17)).all()
    torch.testing.assert_close(Rounding(graph).of(X), noise, rtol=0.5, atol=0)


def test_a_jacobian_that_cancels_has_no_rank():
    """A branch that is −x up to rounding: what is left of the Jacobian is rounding."""
    block = Residual(4, 4, nn.Identity()).double()
    A = normal(4, 4, seed=3)
    block.first.weight.data, block.second.weight.data = A, -torch.linalg.inv(A)
    X = normal(6, 4, seed=8)
    found = audit(read(nn.Sequential(nn.Linear(4, 4).double(), block), 4), X, tolerance=0.0)
    whole, last = found.data, found.blocks[-1]
    assert 0 < last.singular_values[0].most < 1e-12
    assert (whole.ranks, last.ranks) == ({0: 6}, {0: 6})


# Sizes


def test_the_largest_singular_values_by_products(monkeypatch):
    net, X = residual(), normal(10, 3, seed=9)
    dense = audit(net, X, theorems=False)
    monkeypatch.setattr(affordable, "ENTRIES", 4)
    monkeypatch.setattr(points, "LARGEST", 2)
    monkeypatch.setattr(affordable, "OVERHEAD", 0)  # so that blocks have all points
    found = audit(net, X, theorems=False)
    assert not found.data.complete
    assert len(found.data.singular_values) == 2
    for one, other in zip(dense.data.singular_values, found.data.singular_values, strict=False):
        assert astuple(other) == pytest.approx(astuple(one), rel=1e-7)
    for one, other in zip(dense.blocks, found.blocks, strict=True):
        assert not other.complete
        assert astuple(other.singular_values[1]) == pytest.approx(
            astuple(one.singular_values[1]), rel=1e-7
        )
        assert other.least_cost <= one.least_cost
    assert found.data.least_cost <= dense.data.least_cost
    assert (found.data.egop, found.data.index_rank) == ((), None)
    assert (found.rank_text, found.blocks[0].rank_text) == ("≥ 2", "≥ 2")
    said = " ".join(found.words)
    assert "Only the 2 largest singular values" in said
    assert "Too large, and left out: the mean of" in said


def test_singular_values_that_are_not_found_are_not_guessed(monkeypatch):
    monkeypatch.setattr(affordable, "ENTRIES", 4)
    monkeypatch.setattr(points, "LARGEST", 2)
    monkeypatch.setattr(spectra_by_products, "MOST", 0)
    said = "is too large for its matrix, and of it 2 singular values were not found"
    with pytest.raises(ModelError, match=said):
        audit(residual(), normal(10, 3, seed=9), theorems=False)


def test_the_kernel_without_its_matrix(monkeypatch):
    graph, X = read(residual(), 3), normal(9, 3, seed=9)
    dense = derivatives.kernel_top(graph, X)
    monkeypatch.setattr(derivatives, "ENTRIES", 0)
    assert derivatives.kernel_top(graph, X) == pytest.approx(dense, rel=1e-7)


def test_at_how_many_points(monkeypatch):
    net, X = residual(), normal(50, 3, seed=9)
    graph = read(net, 3)
    monkeypatch.setattr(audited, "WHOLE", 7 * work(graph, True))
    small = sum(1 + (part.branch is not None) for part in blocks(graph)) * 10**4
    monkeypatch.setattr(block_facts, "OPERATIONS", small)
    found = audit(net, X, theorems=False)
    assert (found.data.points, found.data.taken) == (50, 7)
    some = audit(net, X[[place * 50 // 7 for place in range(7)]], theorems=False).data
    assert found.data.singular_values == some.singular_values
    assert "taken at 7 of 50 points" in " ".join(found.words)
    assert all(1 <= one.points < 50 for one in found.blocks)
    assert number_of_points(graph, 50, 0) == 1


def test_what_is_left_out_of_large_networks(monkeypatch):
    monkeypatch.setattr(affordable, "TRACE", 1)
    monkeypatch.setattr(points, "DIRECTIONS", 2)
    found = audit(residual(), normal(5, 3), theorems=False)
    assert (found.data.kernel_trace, found.data.index_rank) == (None, None)
    said = "Too large, and left out: the trace of the tangent kernel and the mean of Jf(x)ᵀJf(x)."
    assert said in found.words
    assert found.data.kernel_top > 0


def test_parts_are_as_small_as_the_memory(monkeypatch):
    net, X = residual(), normal(50, 3, seed=9)
    whole = audit(net, X, theorems=False)
    monkeypatch.setattr(affordable, "MEMORY", 8 * 3000)
    assert 1 < points.Points(read(net, 3), X, whole=True).most < 20
    small = audit(net, X, theorems=False)
    assert small.data.ranks == whole.data.ranks
    assert astuple(small.data.kernel_trace) == pytest.approx(astuple(whole.data.kernel_trace))
    assert small.data.egop == pytest.approx(whole.data.egop)
    for one, other in zip(whole.layers, small.layers, strict=True):
        assert (other.dead, other.linear, other.bent) == (one.dead, one.linear, one.bent)


# Where it is measured


def test_the_number_of_workers_changes_nothing():
    net, X = residual(), normal(300, 3, seed=9)
    seen = []
    found = audit(net, X, theorems=False, executor=2,
                  progress=lambda *one: seen.append(one))  # fmt: skip
    here = audit(net, X, theorems=False)
    same = {"words": (), "first": (), "seconds": 0.0}
    assert_close(replace(found, **same), replace(here, **same))
    done = [(now, total) for stage, now, total in seen if stage == "points"]
    assert done[0][0] == 0
    assert done[-1][0] == done[-1][1] > 300


def assert_close(one, other):
    """Equal up to the last bits, which the environment of a process may choose."""
    texts = []
    for each in (one, other):
        flat: dict[str, object] = {}
        _flatten(each.to_json(), "", flat)
        texts.append(flat)
    mine, theirs = texts
    assert mine.keys() == theirs.keys()
    for name, value in mine.items():
        if isinstance(value, float):
            assert math.isclose(value, theirs[name], rel_tol=1e-9, abs_tol=1e-12), name
        else:
            assert value == theirs[name], name


def _flatten(value, name, found):
    if isinstance(value, dict):
        for key, one in value.items():
            _flatten(one, f"{name}.{key}", found)
    elif isinstance(value, list):
        for index, one in enumerate(value):
            _flatten(one, f"{name}.{index}", found)
    else:
        found[name] = value


def test_a_graph_that_was_sent_has_the_same_nodes():
    part = blocks(read(residual(), 3))[2].graph
    sent = pickle.loads(pickle.dumps(part))
    names = [[node.name for node in one.module.graph.nodes] for one in (part, sent)]
    assert names[0] == names[1]
    x = normal(2, 5)
    assert torch.equal(part(x), sent(x))


def test_a_network_that_overflows_is_refused():
    net = filled(nn.Sequential(Residual(2, 2), nn.Linear(2, 1)), 1e150)
    with pytest.raises(ModelError, match="overflows"):
        audit(net, normal(3, 2), theorems=False)
