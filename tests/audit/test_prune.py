"""Pruning: what is left out, that the values stay, and that what is said to be proved is."""

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from rankcheck.audit import ModelError, Pruned, prune
from rankcheck.audit.pruning.proof import difference, proved
from rankcheck.audit.pruning.signs import at_points, everywhere, on_box
from rankcheck.commands.cli import main
from rankcheck.networks import Network

from .nets import normal, random_model

DEAD, UNUSED = "dead", "without outgoing weights"
TWIN, COMBINED = "proportional to another one", "combinations of other linear ones"
UNSEEN, JOINED = (
    "linear ones that the next layer does not tell apart",
    "between layers that were joined",
)


def same(net, other, X):
    """Equal but for rounding, at these points."""
    return difference(net, other, X) < 1e-13


def test_a_neuron_that_is_dead_on_the_data_is_left_out_and_the_values_are_exactly_the_same():
    net = Network.of([[[1.0], [-1], [1]], [[0.1, 3, 0.7]]], [[1, -2, -1.0], [0.3]])
    X = torch.linspace(-1, 4, 40, dtype=torch.float64).unsqueeze(1)
    found = prune(net, X)
    assert (found.removed, found.net.widths, found.domain) == ({DEAD: 1}, (1, 2, 1), "box")
    assert (found.change, found.proved.points, found.proved.bound) == (0.0, 40, 0.0)
    assert found.after.cost == float(found.net.cost())
    assert found.before.cost - found.after.cost == pytest.approx(1 + 4 + 9)
    assert "at 40 points they are exactly equal" in "".join(found.words)
    outside = torch.tensor([[-3.0]], dtype=torch.float64)
    assert float(net(outside)) != float(found.net(outside))  # as its words say
    assert "elsewhere it may differ" in found.words[-1]


def test_without_proof_on_the_box_the_words_speak_of_the_data():
    """(x − 1)₊ + (x − y)₊ at two corners where the second one is 0, of a box where it is not."""
    net = Network.of([[[1.0, 0], [1, -1]], [[1.0, 1]]], [[-1, 0], [0]])
    found = prune(net, [[0.0, 1.0], [2.0, 2.5]])
    assert (found.removed[DEAD], found.domain) == (1, "data")
    assert "on the data: elsewhere the function may differ" in found.words[-1]


def test_what_matters_nowhere_is_left_out_without_data():
    """A neuron that nobody reads, one dead by its signs, two proportional, one of zero weights."""
    first = [[1.0, 2], [2, 4], [1, -1], [0, 0]]
    second = [[1.0, 1, 1, 1], [-1, -2, 0, -1], [1, 1, 0, 1]]
    net = Network.of([first, second, [[1.0, 5, 0]]], [[0.5, 1, 0, -3.0], [-1.0, -1, 1], [0.25]])
    found = prune(net)
    assert found.removed == {UNUSED: 1, DEAD: 2, TWIN: 1}
    assert (found.net.widths, found.domain) == ((2, 2, 1, 1), "everywhere")
    assert (found.anywhere, found.change, found.proved) == (4, None, None)
    far = 1e3 * normal(200, 2)
    assert proved(net, found.net, far).bound == 0  # 3 and 2 times: no rounding here
    assert "on all of ℝⁿ" in found.words[-1]


def test_linear_neurons_are_folded_into_others_and_the_next_bias():
    A = normal(2, 3)
    C = torch.tensor([[1.0, 0], [0, 1], [1, 1], [2, -1], [0.5, 3]], dtype=torch.float64)
    bent = normal(2, 3, seed=5)
    weights = [torch.cat((C @ A, bent)), normal(6, 7, seed=3), normal(6, 6, seed=4)]
    biases = [torch.tensor([50.0, 60, 70, 80, 90, 0, 0]).double(), normal(6), normal(6, seed=1)]
    net = Network(weights, biases)
    found = prune(net, normal(50, 3, seed=9))
    assert found.removed[COMBINED] == 3
    assert same(net, found.net, normal(50, 3, seed=9))
    assert 0 < found.proved.bound < 1e-12
    assert "as coefficients that were computed are rounded" in " ".join(found.words)


def test_a_row_sees_no_more_than_two_linear_neurons_and_it_costs_no_more():
    weights = [normal(9, 5), normal(1, 9, seed=2)]
    weights[0][0] *= 100  # bends
    biases = [torch.full((9,), 20.0).double(), normal(1)]
    biases[0][0] = 0
    net, X = Network(weights, biases), normal(40, 5, seed=4)
    found = prune(net, X)
    assert found.net.widths == (5, 3, 1)
    assert found.removed == {COMBINED: 3, UNSEEN: 3}
    assert same(net, found.net, X)
    assert same(net, found.net, 1.5 * X)  # the same neurons are linear there
    seen = prune(Network([weights[0][1:6], weights[1][:, 1:6]], [biases[0][1:6], biases[1]]), X)
    assert seen.net.depth == 1


def with_a_bent_neuron(w, v):
    """Positive neurons w on positive points, and x_1 − 1; read by v."""
    bent = torch.eye(1, w.shape[1], dtype=torch.float64)
    last = torch.ones(len(v), 1, dtype=torch.float64)
    biases = torch.zeros(len(w) + 1), torch.zeros(len(v))
    biases[0][-1] = -1
    return Network([torch.cat((w, bent)), torch.cat((v, last), 1)], [b.double() for b in biases])


def test_what_is_gathered_is_said_of_where_the_neurons_are_positive():
    net = with_a_bent_neuron(torch.eye(4).double(), torch.tensor([[1.0, -2, 3, -4]]).double())
    X = 2 * torch.rand(30, 4, generator=torch.Generator().manual_seed(0)).double()
    found = prune(net, X)
    assert (found.removed, found.domain, found.rounded) == ({UNSEEN: 2}, "box", True)
    assert found.after.cost < found.before.cost
    outside = torch.tensor([[-1.0, 1, 1, 1]], dtype=torch.float64)
    assert float(net(outside)) != pytest.approx(float(found.net(outside)))


def test_nothing_is_gathered_where_that_would_cost_more():
    """Five nearly parallel rows that two rows see alike: 2√2 · 5 before, and 4 · 5 after."""
    w = torch.eye(5).double() / 20 + torch.eye(5, dtype=torch.float64)[0]
    v = torch.full((2, 5), 0.5**0.5, dtype=torch.float64)
    X = 2 * torch.rand(30, 5, generator=torch.Generator().manual_seed(0)).double()
    assert prune(with_a_bent_neuron(w, v), X).removed == {}
    assert prune(with_a_bent_neuron(w, v[:1]), X).removed == {UNSEEN: 4}


def test_one_linear_neuron_is_joined_and_its_coefficients_are_rounded():
    found = prune(Network.of([[[0.1]], [[0.3]]], [[9], [0.7]]), [[1.0], [2.0]])
    assert (found.removed, found.rounded, found.net.depth) == ({JOINED: 1}, True, 1)


def test_two_affine_maps_become_one_where_that_is_smaller():
    wide = Network([normal(6, 3), normal(2, 6)], [torch.full((6,), 40.0).double(), normal(2)])
    X = normal(30, 3)
    found = prune(wide, X)
    assert (found.net.depth, found.removed) == (1, {COMBINED: 3, JOINED: 3})
    assert found.joined == (("layer 1", "layer 2"),)
    assert same(wide, found.net, X)
    assert "the depth is 1 instead of 2" in " ".join(found.words)
    narrow = Network([normal(1, 8), normal(8, 1)], [torch.full((1,), 40.0).double(), normal(8)])
    assert prune(narrow, normal(30, 8)).net.widths == (8, 1, 8)  # 64 entries for 17


def test_a_network_that_is_constant_on_the_data():
    net = Network.of([[[1.0], [2]], [[1.0, 1], [1, 2]], [[3.0, 1]]], [[-9, -9], [2, -1.0], [4]])
    X = torch.rand(20, 1).double()
    found = prune(net, X)
    assert found.net.widths == (1, 1)
    assert found.net(X).flatten().tolist() == [10.0] * 20
    assert found.proved.bound == 0


@pytest.mark.parametrize("slope", [0.25, -0.5, 1.0])
def test_slopes(slope):
    """Negative neurons are linear as well, with slope a; if a = 1 the network is one affine map."""
    model = random_model((3, 8, 6, 2), slope, seed=2)
    model.net.biases[0][:] = -30
    X = normal(50, 3)
    found = prune(model, X)
    assert same(model.net, found.net, X)
    assert found.net.depth < 3
    assert (found.domain == "everywhere") == (slope == 1)
    assert DEAD not in found.removed


@pytest.mark.parametrize("seed", range(12))
def test_random_networks_keep_their_values(seed):
    slope = (0.0, 0.0, 0.1, -0.3)[seed % 4]
    widths = ((4, 9, 7, 8, 2), (2, 12, 12, 1), (6, 3, 9, 9, 9, 3))[seed % 3]
    model = random_model(widths, slope, seed)
    for b in model.net.biases[:-1]:
        b *= 8  # many dead and linear neurons
    X = normal(15, widths[0], seed=seed + 7)
    found = prune(model, X)
    assert same(model.net, found.net, X)
    assert found.removed
    assert sum(found.removed.values()) == found.before.neurons - found.after.neurons
    nowhere = prune(model)
    assert nowhere.anywhere == sum(nowhere.removed.values()) == found.anywhere
    assert same(model.net, nowhere.net, 100 * normal(50, widths[0], seed=seed))
    again = prune(found.net, X)
    assert again.after.neurons == found.after.neurons
    if found.domain != "data":
        low, high = X.amin(0), X.amax(0)
        inside = low + (high - low) * torch.rand(200, widths[0]).double()
        assert same(model.net, found.net, inside)


@pytest.mark.parametrize("slope", [0.0, 0.2, -0.5])
@pytest.mark.parametrize("widths", [(2, 5, 6, 4, 1), (1, 9, 9, 1), (7, 5, 5, 5, 2)])
def test_signs_that_are_proved_are_those_of_all_points(widths, slope):
    """Every sign that is known on a box, or everywhere, is that at each of many points of it."""
    proved_signs = 0
    for seed in range(6):
        net = random_model(widths, slope, seed).net
        for i, sign in enumerate((-1, 1, -1), 1):
            if i < net.depth - 1:
                net.weights[i][: 1 + seed % 3] = sign * net.weights[i][: 1 + seed % 3].abs()
                net.biases[i][: 1 + seed % 3] = sign
        low, high = torch.full((widths[0],), -0.5), torch.full((widths[0],), 1.0)
        box = on_box(net, low.double(), high.double())
        inside = low + 1.5 * torch.rand(500, widths[0])
        samples = ((box, inside), (everywhere(net), 1e3 * normal(500, widths[0], seed=seed)))
        for signs, points in samples:
            seen = at_points(net, points.double())
            pairs = (*signs.above, *signs.below), (*seen.above, *seen.below)
            for known, true in zip(*pairs, strict=True):
                assert not (known & ~true).any()
                proved_signs += int(known.sum())
    assert proved_signs > 0


def test_small_networks_are_decided_by_their_regions():
    """(x)₊ + (−x)₊ − 3 is at most −1 on [−2, 2]; intervals give no better bound than 1."""
    net = Network.of([[[1.0], [-1]], [[1.0, 1]], [[1.0]]], [[0, 0], [-3], [0]])
    low = torch.tensor([-2.0], dtype=torch.float64)
    assert on_box(net, low, -low).below[1].tolist() == [True]
    assert not everywhere(net).below[1].any()


def test_intervals_are_rounded_outwards():
    """0.1 + 0.7 − 0.7999999999999999 is positive, and 0 in floats."""
    net = Network.of([[[0.1, 0.7, 0, 0]], [[1.0]]], [[-0.7999999999999999], [0]])
    low, high = torch.zeros(4).double(), torch.ones(4).double()
    assert 0.1 + 0.7 - 0.7999999999999999 == 0
    assert not on_box(net, low, high).below[0].any()
    net.biases[0][0] -= 1e-14
    assert on_box(net, low, high).below[0].all()


def test_the_activation_of_a_negative_slope_is_not_monotone():
    """σ(x) with slope −1/2 lies in [0, 4] for x in [−2, 4], and not in [1, 4]."""
    weights = [[[1.0, 0, 0, 0]], [[1.0]], [[1.0]]]
    net = Network.of(weights, [[0], [-0.5], [0]], slope=-0.5)
    low, high = torch.full((4,), -2.0).double(), torch.full((4,), 4.0).double()
    signs = on_box(net, low, high)
    assert not any(bool(known.any()) for known in (*signs.above, *signs.below))


def test_a_difference_is_refused_and_the_first_point_is_named():
    net = random_model((2, 4, 2), seed=1).net
    other = net.with_parameters(net.weights, (net.biases[0], net.biases[1] + 1e-9))
    with pytest.raises(ModelError, match=r"differ at point 0 in output \d.*not written"):
        difference(net, other, normal(9, 2))


def test_the_point_of_a_difference_is_counted_from_the_first_batch(monkeypatch):
    monkeypatch.setattr("rankcheck.audit.pruning.proof.batch_size", lambda net: 2)
    net = Network.of([[[1.0]], [[1.0]]], [[-3], [0]])
    other = net.with_parameters((net.weights[0], 2 * net.weights[1]), net.biases)
    with pytest.raises(ModelError, match=r"at point 4 in output 0: 2 for 1"):
        difference(net, other, torch.arange(6.0).double().unsqueeze(1))
    points = torch.arange(6.0).double().unsqueeze(1) - 2  # only the last one is not 0, and 0
    assert difference(net, other, points) == 0
    monkeypatch.setattr("rankcheck.audit.pruning.proof.PRODUCTS", 8)
    assert proved(net, other, torch.tensor([[0.0], [0], [4], [0]]).double()).bound == 1
    leaky = [Network.of([[[1.0]], [[c]]], slope=0.5) for c in (1.0, 2.0)]
    assert proved(*leaky, torch.tensor([[-1.0]]).double()).bound == 0.5


def test_a_bound_is_rounded_up():
    net, zero = Network.of([[[1.0, 1.0]]]), Network.of([[[0.0, 0.0]]])
    x = torch.tensor([[1.0, 2.0**-60]], dtype=torch.float64)
    assert proved(net, zero, x).bound == 1 + 2**-52


def test_rational_arithmetic_sees_what_floats_do_not():
    net = Network.of([[[1.0]]], [[1.0]])
    other = Network.of([[[1.0]]], [[1.0 + 2**-52]])
    X = torch.tensor([[2.0**60], [2.0**61]], dtype=torch.float64)
    assert difference(net, other, X) == 0
    assert proved(net, other, X) == proved(other, net, X)
    assert (proved(net, other, X).points, proved(net, other, X).bound) == (2, 2**-52)
    assert proved(net, net, X).bound == 0


def test_large_networks_are_compared_at_some_points_or_none(monkeypatch):
    net = random_model((3, 5, 2)).net
    monkeypatch.setattr("rankcheck.audit.pruning.proof.PRODUCTS", 50 * 4)
    assert proved(net, net, normal(100, 3)).points == 4
    monkeypatch.setattr("rankcheck.audit.pruning.proof.PRODUCTS", 49)
    assert proved(net, net, normal(100, 3)) is None


def test_chains_alone_are_pruned():
    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3)

        def forward(self, x):
            return x + torch.relu(self.inner(x))

    with pytest.raises(ModelError, match="no chain; chains are pruned"):
        prune(Residual().eval(), normal(4, 3))
    with pytest.raises(ModelError, match=r"points .* coordinates|width|numbers"):
        prune(random_model((3, 2)), normal(4, 5))


def test_a_network_without_anything_to_leave_out_is_itself():
    net = random_model((2, 3, 2)).net
    found = prune(net, 100 * normal(50, 2))
    assert (found.removed, found.joined, found.change, found.proved) == ({}, (), 0.0, None)
    assert repr(found) == "Nothing can be left out: it is the same network."
    for one, two in pairwise((net, found.net)):
        assert all(torch.equal(a, b) for a, b in zip(one.weights, two.weights, strict=True))


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """A network with dead neurons in trained.pt, and points in x.npy."""
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    with torch.no_grad():
        module[0].bias[:3] = -20
    torch.save(module.state_dict(), "trained.pt")
    np.save("x.npy", np.random.default_rng(0).normal(size=(30, 3)))
    return module


def test_the_command_writes_it_and_it_is_read_again(trained, capsys):
    line = "audit trained.pt --slope 0 --data x.npy --no-theorems --prune p.safetensors"
    assert main([*line.split(), "--json", "a.json"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert re.search(r"\d of 16 hidden neurons never fire on the data .*: `--prune FILE` ", out)
    assert "pruned network: p.safetensors" in out
    found = json.loads(Path("a.json").read_text(encoding="utf-8"))["pruned"]
    assert found["removed"][DEAD] >= 3
    arrays = load_file("p.safetensors")
    assert sorted(arrays) == [f"layers.{i}.{what}" for i in range(3) for what in ("bias", "weight")]
    assert found["widths"] == [3, *(arrays[f"layers.{i}.bias"].shape[0] for i in range(3))]
    X = torch.from_numpy(np.load("x.npy"))
    z = X
    for i in range(3):
        z = z.clamp(min=0) if i else z
        z = z @ arrays[f"layers.{i}.weight"].T + arrays[f"layers.{i}.bias"]
    assert torch.allclose(z, trained.double()(X), atol=1e-12)
    again = prune("p.safetensors", "x.npy", slope=0)
    assert isinstance(again, Pruned)
    assert again.after.neurons == sum(found["widths"][1:-1])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--prune", "trained.pt"], "a pruned network is a .safetensors file"),
        (["--prune", "mine.safetensors"], "it exists; name another file"),
        (["--prune", "b.safetensors", "--balanced", "b.safetensors"], "named twice"),
        (["--prune", "no/b.safetensors"], "the folder no does not exist"),
    ],
)
def test_files_that_cannot_be_written_are_said_before_any_work(trained, capsys, arguments, said):
    Path("mine.safetensors").write_text("mine")
    assert main(["audit", "trained.pt", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert Path("mine.safetensors").read_text() == "mine"
