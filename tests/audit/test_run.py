"""`audit`: arguments, progress, words on networks of which everything is known, and JSON."""

import json
import math

import pytest
import torch

from rankcheck.audit import ModelError, audit
from rankcheck.audit import model as model_
from rankcheck.audit import run as run_
from rankcheck.audit.layers import balance
from rankcheck.audit.result import is_clear
from rankcheck.audit.theorems import number_of_theorems
from rankcheck.errors import InputError
from rankcheck.networks import Network

from .nets import model_of, normal, random_model


def audited(net, X=None, **arguments):
    return audit(model_of(net), X, theorems=False, **arguments)


def said(found, *parts):
    """The one sentence that has all parts."""
    [sentence] = [words for words in found.words if all(part in words for part in parts)]
    return sentence


def identity(depth=5, width=3):
    return Network.linear([torch.eye(width, dtype=torch.float64)] * depth)


def cheapest(values, depth):
    """diag(s)^{1/L} ... diag(s)^{1/L}, of least cost for diag(s) on nonnegative signals."""
    s = torch.tensor(values, dtype=torch.float64)
    return Network.linear([torch.diag(s ** (1 / depth))] * depth)


# Networks of which everything is known


def test_identity_layers_do_nothing_but_keep_the_signal():
    X = normal(20, 3).abs() + 0.1
    found = audited(identity(), X)
    assert (found.rank, found.model.cost, found.ceiling) == (3, 15.0, 3.0)
    assert [layer.distance for layer in found.layers] == pytest.approx([0.0] * 5, abs=1e-28)
    [bound] = found.data.bounds
    assert (bound.excess, bound.logs) == (0.0, pytest.approx(0.0, abs=1e-12))
    assert said(found, "Layers 1–5", "do little but carry 3 directions on, at 100 % of the cost")
    assert said(found, "costs at least 15", "1 times as much")
    assert not any("free" in words for words in found.words)
    assert said(found, "No hidden neuron has both signs", "affine map")
    assert not any("not clear" in words for words in found.words)


@pytest.mark.parametrize("depth", [1, 2, 6])
def test_a_network_of_least_cost_attains_the_bound(depth):
    net = cheapest([4.0, 0.5], depth)
    found = audited(net, normal(10, 2).abs() + 0.1)
    least = depth * (4.0 ** (2 / depth) + 0.5 ** (2 / depth))  # rank Prop. 3: L ‖A‖^{2/L}
    assert found.model.cost == pytest.approx(least)
    assert found.data.least_cost == pytest.approx(least)
    [bound] = found.data.bounds
    assert bound.logs == pytest.approx(2 * math.log(2.0))
    assert bound.excess == pytest.approx(least - 2 * depth)
    assert bound.excess >= bound.logs
    assert said(found, "costs at least", "1 times as much")
    assert found.balanced.cost == pytest.approx(least)


def test_an_unbalanced_copy_is_balanced_again():
    net = cheapest([4.0, 0.5], 3)
    scale = torch.tensor([3.0, 0.1], dtype=torch.float64)
    weights = [net.weights[0] * scale.unsqueeze(-1), net.weights[1] / scale, net.weights[2]]
    X = normal(10, 2).abs() + 0.1
    found = audited(Network.linear(weights), X)
    assert found.balanced.cost == pytest.approx(float(net.cost()))
    assert found.balanced.change < 1e-14
    saved = 100 * (1 - float(net.cost()) / found.model.cost)
    assert said(found, f"{saved:.3g} % of the norm", "`rankcheck.networks.balance_neurons`")
    assert said(found, "times as much", "not decided")
    assert found.layers[0].imbalance > 0.9


def test_dead_neurons_are_counted_and_what_they_cost():
    weights = [[1.0, 0], [0, 1], [-1, -1]], [[1.0, 0, 2], [0, 1, 0]]
    X = normal(10, 2).abs() + 0.1
    found = audited(Network.of(weights, [[0, 0, -1.0], [0, 0]]), X)
    assert found.data.dead_cost == 3 + 4
    assert [layer.dead for layer in found.layers] == [1, None]
    assert said(found, "1 of 3 hidden neurons", "7 less", "63.6 %", "elsewhere")
    assert not any("never fire" in words for words in audited(identity(2, 2), X).words)


def test_ranks_that_are_not_clear_are_said_to_be_so():
    net = Network.linear([torch.diag(torch.tensor([1.0, 0.06, 0.03]).double())])
    X = normal(4, 3)
    found = audited(net, X)
    assert found.data.undecided == 4
    assert (found.rank, found.rank_text, found.rank_is_clear) == (2, "2?", False)
    assert found.to_json()["rank_text"] == "2?"
    assert said(found, "At 4 of 4 points s_k of Jf(x) is less than 10 times", "without a step")
    weights = audited(net)
    assert said(weights, "At 1 of 1 layer s_k of the weights", "without a step")
    assert said(weights, "k = 2? is the numerical rank")


def test_a_step_that_training_would_make_larger_is_advice():
    net = Network.linear([torch.diag(torch.tensor([1.0, 0.4, 0.045]).double())])
    assert "rank 2? is undecided. At 4 of 4 points" in audited(net, normal(4, 3)).words[0]
    assert "rank 2? is undecided. At 1 of 1 layer" in audited(net).words[0]
    assert "longer training" in audited(net).words[0]


def test_a_rank_that_a_few_points_leave_open_is_shown_without_a_question_mark():
    """One of three Jacobians is diag(1, 0.06, 0.03) and the others diag(1, 0.06, 0)."""
    diagonal = torch.diag(torch.tensor([1.0, 0.06, 0.03]).double())
    net = Network.linear([diagonal, torch.eye(3, dtype=torch.float64)])
    X = torch.tensor([[1.0, 1, 1], [1, 1, -1], [1, 2, -1]], dtype=torch.float64)
    found = audited(net, X)
    assert (found.rank_text, found.data.undecided) == ("2", 1)
    assert said(found, "At 1 of 3 points", "not clear")
    assert audited(net, X[:2]).rank_text == "2?"


@pytest.mark.parametrize(
    ("counts", "undecided", "clear"),
    [({8: 9}, 4, True), ({8: 8}, 4, False), ({8: 4, 7: 3, 6: 3}, 4, False), ({}, 0, False)],
)
def test_when_a_rank_is_clear(counts, undecided, clear):
    assert is_clear(8, counts, undecided) == clear


def test_kinks_and_identity_activations():
    X = torch.tensor([[0.0, 1.0], [1.0, 1.0]], dtype=torch.float64)
    assert said(audited(identity(2, 2), X), "At 1 point a hidden neuron is exactly at its kink")
    straight = Network.unchecked_slope([normal(2, 2)] * 3, [normal(2)] * 3, 1.0)
    found = audited(straight, normal(5, 2))
    assert said(found, "identity", "affine map")
    assert found.data.dead_cost is None


def test_at_a_kink_the_product_of_masks_bounds_no_other_network():
    """(x)₊ − (−x)₊ = x: with derivative 1 at the kink the product of masked weights is 2 at 0."""
    net = Network.of([[[1.0], [-1.0]], [[1.0, -1.0]]])
    X = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    found = audited(net, X)
    assert found.data.least_cost == 2.0
    assert found.data.singular_values[0].most == 2.0
    assert said(found, "costs at least 2,", "2 times as much")
    assert audited(net, X[:1]).data.least_cost is None
    assert not any("costs at least" in words for words in audited(net, X[:1]).words)


def test_without_data_nothing_is_said_of_jacobians():
    found = audited(identity())
    assert found.data is None
    assert found.rank == 3  # that of the weights
    assert said(found, "there are no data", "k = 3")
    assert not any("Jf" in words or "on the data it" in words for words in found.words)


def test_a_network_that_is_zero():
    found = audited(Network.linear([torch.zeros(2, 3).double(), torch.zeros(1, 2).double()]))
    assert "the network is 0 everywhere" in found.words[0]
    assert found.rank == 0
    json.dumps(found.to_json(), allow_nan=False)


def test_the_rank_is_that_of_most_points():
    """(x_1)₊ and (x_3)₊: rank 1 at three points, 2 at one."""
    first = torch.tensor([[1.0, 0, 0], [0, 0, 1.0]], dtype=torch.float64)
    net = Network.linear([first, torch.eye(2, dtype=torch.float64)])
    X = torch.tensor([[1.0, 1, -1], [1, 2, -1], [2, 1, -1], [1, 1, 1]], dtype=torch.float64)
    found = audited(net, X)
    assert found.data.ranks == {1: 3, 2: 1}
    assert found.rank == 1


# Every network has an audit


@pytest.mark.parametrize("slope", [0.0, 1.0, -0.5])
@pytest.mark.parametrize("count", [0, 1, 4])
@pytest.mark.parametrize("widths", [(1, 1), (2, 4, 1, 5)])
def test_all_numbers_are_finite_and_the_json_is_strict(widths, count, slope):
    model = random_model(widths, slope, seed=count)
    model.net.weights[-1][0] = 0  # a zero row, and for one output a zero Jacobian
    X = normal(count, widths[0]) if count else None
    found = audit(model, X, theorems=False)
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert data["schema"] == 3
    assert data["ceiling"] == pytest.approx(found.model.cost / (len(widths) - 1))
    assert (data["data"] is None) == (count == 0)


def test_weights_that_nearly_vanish():
    """Ridge leaves weights of 1e-160 in trained networks; their squares are 0."""
    model = random_model((3, 4, 4, 2))
    model.net.weights[1][:, 2] *= 1e-160
    model.net.weights[1][1] *= 1e-200
    found = audit(model, normal(5, 3), theorems=False).balanced
    assert found.change < 1e-12
    assert found.cost < float(model.net.cost())


def test_balancing_that_does_not_converge_is_said(monkeypatch):
    def fails(net):
        raise ArithmeticError("balancing did not converge")

    monkeypatch.setattr(model_, "balance_neurons", fails)
    found = audited(identity(), normal(3, 3))
    assert not found.balanced.converged
    assert found.balanced.cost == found.model.cost
    assert found.words


def test_a_change_of_the_function_would_be_seen(monkeypatch):
    monkeypatch.setattr(
        model_, "balance_neurons", lambda net: net.with_parameters(
            (*net.weights[:-1], 1.5 * net.weights[-1]), net.biases
        ),
    )  # fmt: skip
    assert balance(model_of(identity()), normal(4, 3).abs()).change == pytest.approx(0.5)


# Arguments


def test_a_device_that_is_not_there():
    with pytest.raises(InputError, match=r"device.*'tpu9'"):
        audited(identity(), normal(2, 3), device="tpu9")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (normal(4, 2), "the data have 2 numbers a point; the network takes 3"),
        (normal(3), "the data have 1 numbers a point; the network takes 3"),
        (normal(0, 3), r"the shape \(0, 3\)"),
        (torch.tensor([[0.0, 1.0, 2.0], [0.0, math.nan, 1.0]]).double(), r"nan at \[1, 1\]"),
        (torch.ones(5, 3).double(), "5 points that are all equal"),
    ],
)
def test_data_that_do_not_fit(data, message):
    with pytest.raises(ModelError, match=message):
        audited(identity(), data)


def test_models_that_the_theory_does_not_cover():
    steep = Network.unchecked_slope([normal(1, 1)], [normal(1)], 2.0)
    with pytest.raises(ModelError, match=r"the slope of the activation is 2; .* in \[-1, 1\]"):
        audited(steep)
    with pytest.raises(ModelError, match=r"sum of squares of the parameters overflows"):
        audited(Network.of([[[1e200]]]))


# Other rooms


def test_objects():
    assert audit(identity(), [[1.0, 2.0, 3.0]], theorems=False).name == "Network"
    assert audit(model_of(identity()), theorems=False).name == "made up"
    with pytest.raises(ModelError, match=r"slope is said to be 0\.5, and it is 0"):
        audit(model_of(identity()), slope=0.5)


def test_every_stage_is_reported(monkeypatch):
    def check_theorems(model, X, *, device, progress):
        progress(1)
        return ()

    events = []
    monkeypatch.setattr(run_, "check_theorems", check_theorems)
    audit(model_of(identity()), normal(300, 3), progress=lambda *event: events.append(event))
    theorems = number_of_theorems(data=True)
    assert events == [
        ("reading", 0, None), ("weights", 0, None),
        ("points", 0, 300), ("points", 256, 300), ("points", 300, 300),
        ("balance", 0, None),
        ("theorems", 0, theorems), ("theorems", 1, theorems),
    ]  # fmt: skip
