"""`audit`: arguments, progress, words on networks of which everything is known, and JSON."""

import json
import math
import re

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
    [sentence] = [
        words for words in (*found.first, *found.words) if all(part in words for part in parts)
    ]
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
    assert [layer.near_one for layer in found.layers] == [3] * 5
    [bound] = found.data.bounds
    assert (bound.excess, bound.logs) == (0.0, pytest.approx(0.0, abs=1e-12))
    assert found.data.schatten.most == pytest.approx(3.0)
    words = said(found, "Layers 1–5", "do little but carry 3 directions on, at 100 % of the cost")
    ends = re.search(r"of rank 3 are (\S+) to (\S+)\. A shallower", words).groups()
    assert [float(end) for end in ends] == pytest.approx([0.0, 0.0], abs=1e-28)
    assert said(found, "bottleneck structure is there in 5 of 5 layers")
    assert said(found, "costs at least 15", "no more than", "above")
    assert said(found, "Rescaling single neurons would save less than")
    assert said(found, "No hidden neuron has both signs", "affine map")
    assert said(found, "kL = 15", "The rest is 0")
    assert not any("not clear" in words for words in found.words)


@pytest.mark.parametrize("depth", [1, 2, 6])
def test_a_network_of_least_cost_attains_the_bound(depth):
    net = cheapest([4.0, 0.5], depth)
    found = audited(net, normal(10, 2).abs() + 0.1)
    least = depth * (4.0 ** (2 / depth) + 0.5 ** (2 / depth))  # rank Prop. 3: L ‖A‖^{2/L}
    assert found.model.cost == pytest.approx(least)
    assert found.data.schatten.most == pytest.approx(found.ceiling)
    [bound] = found.data.bounds
    assert bound.logs == pytest.approx(2 * math.log(2.0))
    assert bound.excess == pytest.approx(least - 2 * depth)
    assert bound.excess >= bound.logs
    assert said(found, "costs at least", "no more than", "above")
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
    assert not any("never fire" in words for words in audited(identity(2, 2), X).first)


def test_ranks_that_are_not_clear_are_said_to_be_so():
    net = Network.linear([torch.diag(torch.tensor([1.0, 0.06, 0.03]).double())])
    X = normal(4, 3)
    found = audited(net, X)
    assert found.data.undecided == 4
    assert (found.rank, found.rank_text, found.rank_is_clear) == (2, "2?", False)
    assert found.to_json()["rank_text"] == "2?"
    assert not found.first  # 0.06 and 0.03: no step that training would make larger
    assert said(found, "At 4 of 4 points", "without a step")
    assert said(found, "numerical rank 2? at 4 of 4 points")
    assert said(found, "rank of the weights of 1 of 1 layer (“layers.0”)", "not clear")
    clear = audited(net, X, tolerance=0.001)
    assert clear.rank_text == "3"
    assert not any("not clear" in words for words in clear.words)
    assert not clear.first
    weights = audited(net)
    assert not weights.first
    assert said(weights, "k = 2? is the numerical rank")


def test_a_step_that_training_would_make_larger_is_advice():
    net = Network.linear([torch.diag(torch.tensor([1.0, 0.5, 0.06]).double())])
    assert "rank 3" not in "".join(audited(net, normal(4, 3)).first)
    found = audited(net, normal(4, 3), tolerance=0.1)
    assert "rank 2? is undecided: at 4 of 4 points" in found.first[0]
    assert "rank 2? is undecided: in 1 of 1 layer" in audited(net, tolerance=0.1).first[0]


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


def test_the_bottleneck_structure_is_there_in_no_layer_or_in_some():
    X = normal(6, 2).abs() + 0.1
    assert said(audited(cheapest([9.0, 9.0], 2), X), "bottleneck structure is not there")
    near = audited(Network.linear([torch.diag(torch.tensor([1.4, 1.0]).double())] * 2), X)
    assert near.layers[0].distance == pytest.approx(0.16)  # more than 2/16
    assert said(near, "No layer is near a partial isometry of rank 2", "0.16")
    mixed = [torch.eye(2).double(), 3 * torch.eye(2).double(), 3 * torch.eye(2).double()]
    assert said(audited(Network.linear(mixed), X), "in 1 of 3 layers only")


def test_the_cost_per_layer_bounds_the_next_singular_value():
    """rank.small-second-singular-value, at every point: here of a matrix of norm just below 2."""
    net = cheapest([1.8, 0.1], 4)
    found = audited(net, normal(5, 2).abs() + 0.1)
    c = float(net.cost()) / 4
    assert said(found, "a singular value number 2 above", f"{(c / 2) ** 2:.4g}")
    assert found.data.singular_values[1].most <= (c / 2) ** 2
    assert said(audited(Network.of([[[3.0]]])), "no rank here exceeds 1", "bounds none")


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
    assert (found.data.schatten.most, found.data.least_cost) == (2.0, 2.0)
    assert found.data.singular_values[0].most == 2.0
    assert said(found, "costs at least 2,", "2 times as much")
    assert audited(net, X[:1]).data.least_cost is None
    assert not any("costs at least" in words for words in audited(net, X[:1]).words)


def test_without_data_nothing_is_said_of_jacobians():
    found = audited(identity())
    assert found.data is None
    assert found.rank == 3  # that of the weights
    assert said(found, "there are no data", "k = 3")
    assert found.balanced.change is None
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
    assert said(found, "numerical rank 1 at 3 of 4 points")


# Every network has an audit


@pytest.mark.parametrize("slope", [0.0, 1.0, -0.5])
@pytest.mark.parametrize("count", [0, 1, 4])
@pytest.mark.parametrize("widths", [(1, 1), (2, 4, 1, 5)])
def test_all_numbers_are_finite_and_the_json_is_strict(widths, count, slope):
    model = random_model(widths, slope, seed=count)
    model.net.weights[-1][0] = 0  # a zero row, and for one output a zero Jacobian
    X = normal(count, widths[0]) if count else None
    found = audit(model, X, max_rank=3, theorems=False)
    assert found.words
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert data["schema"] == 3
    assert data["ceiling"] == pytest.approx(found.model.cost / (len(widths) - 1))
    assert (data["data"] is None) == (count == 0)


def test_weights_that_nearly_vanish():
    """Ridge leaves weights of 1e-160 in trained networks; their squares are 0."""
    model = random_model((3, 4, 4, 2))
    model.net.weights[1][:, 2] *= 1e-160
    model.net.weights[1][1] *= 1e-200
    assert audit(model, normal(5, 3), theorems=False).balanced.change < 1e-12


def test_balancing_that_does_not_converge_is_said(monkeypatch):
    def fails(net):
        raise ArithmeticError("balancing did not converge")

    monkeypatch.setattr(model_, "balance_neurons", fails)
    found = audited(identity(), normal(3, 3))
    assert not found.balanced.converged
    assert found.balanced.cost == found.model.cost
    assert said(found, "not known")


def test_a_change_of_the_function_would_be_seen(monkeypatch):
    monkeypatch.setattr(
        model_, "balance_neurons", lambda net: net.with_parameters(
            (*net.weights[:-1], 1.5 * net.weights[-1]), net.biases
        ),
    )  # fmt: skip
    assert balance(model_of(identity()), normal(4, 3).abs()).change == pytest.approx(0.5)


# Arguments


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("max_rank", -1), ("max_rank", 1.5), ("device", "tpu9"), ("executor", "here")),
        *(("tolerance", 1.0), ("tolerance", math.nan), ("tolerance", "1")),
    ],
)
def test_arguments_out_of_range(name, value):
    with pytest.raises(InputError, match=f"{name}.*{value!r}"):
        audited(identity(), normal(2, 3), **{name: value})


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
        ("layers", 0, None), ("balance", 0, None),
        ("theorems", 0, theorems), ("theorems", 1, theorems),
    ]  # fmt: skip
