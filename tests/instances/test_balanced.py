"""Balanced networks: their balance, exact on balls, and which of them occur."""

import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.costs import path_norm
from rankcheck.instances.balanced import (
    balanced_networks_at_points,
    balanced_networks_with_inputs,
    balanced_shallow_networks,
    unit_columns,
)
from rankcheck.instances.choices import read_choices
from rankcheck.instances.drivers import BatchSource, ReplaySource
from rankcheck.instances.record import Entries, Record
from rankcheck.instances.source import instances
from rankcheck.networks import balance_neurons, neuron_imbalances

BOTH = ("exact", "rescaled")


def slow_imbalances(net):
    """‖W_{ℓ,i·}‖² + b_{ℓ,i}² − ‖W_{ℓ+1,·i}‖² of one network, neuron by neuron."""
    found = []
    for layer in range(net.depth - 1):
        w, b, v = net.weights[layer], net.biases[layer], net.weights[layer + 1]
        for i in range(w.shape[0]):
            enters = sum(w[i, j] ** 2 for j in range(w.shape[1])) + b[i] ** 2
            found.append(enters - sum(v[j, i] ** 2 for j in range(v.shape[0])))
    return found


@pytest.mark.parametrize("construction", BOTH)
@pytest.mark.parametrize("family", [balanced_networks_at_points, balanced_networks_with_inputs])
def test_all_of_them_are_balanced_and_none_is_rejected(swept, family, construction):
    for source, (net, x) in swept(family(constructions=(construction,)), 25):
        assert source.valid.all()
        for index in range(4):
            imbalances = slow_imbalances(net[index])
            assert all(abs(float(z)) <= 1e-12 * float(net.cost()[index]) for z in imbalances)
        if construction == "exact" and net.depth > 1:
            assert (net.boundary_distance(x) > 0).all()


@pytest.mark.parametrize("biases", [True, False])
def test_shallow_networks_are_the_cheapest_among_their_rescalings(swept, biases):
    """Of cost twice the sum of ‖(w_k, b_k)‖ ‖a_k‖, which no rescaling changes."""
    reached = set()
    for source, (net, _) in swept(balanced_shallow_networks(biases=biases), 10):
        assert source.valid.all()
        W, b, A = net.weights[0], net.biases[0], net.weights[1]
        rows, columns = (W * W).sum(-1) + b * b, (A * A).sum(-2)
        sizes = (rows * columns).sqrt().sum(-1)
        cost = net.cost() - (net.biases[1] ** 2).sum(-1)
        torch.testing.assert_close(cost, 2 * sizes)
        torch.testing.assert_close(balance_neurons(net).cost(), net.cost())
        if net.widths[-1] == 1:
            torch.testing.assert_close(
                path_norm(net, inputs=2), sizes + net.biases[1][..., 0].abs()
            )
        reached |= {("width", net.widths[1]), ("dead", bool((rows == 0).any()))}
        if net.widths[0] == 1:
            reached |= {("sign", float(s)) for s in W.sign().unique()}
        exact, _ = balanced_shallow_networks(biases=biases)(
            ReplaySource(source.record.instance(0), BallArray.exact)
        )
        assert all((z == 0).all() for z in neuron_imbalances(exact))
    assert reached >= {("width", 1), ("width", 5), ("dead", True), ("sign", 1), ("sign", -1)}


def test_rescaled_networks_are_enclosed_on_balls(drawn):
    family = balanced_networks_at_points(depth=(2, 3), constructions=("rescaled",))
    source, (net, _) = next(pair for pair in drawn(family, 5) if pair is not None)
    enclosed, _ = family(ReplaySource(source.record, BallArray.exact))
    for balls_, floats in zip(enclosed.weights, net.weights, strict=True):
        low, high = float(balls_.sum().lower()), float(balls_.sum().upper())
        assert low - 1e-9 <= float(floats.sum()) <= high + 1e-9


def test_biases_of_both_signs_and_ranks_are_reached(swept):
    ranks, signs = set(), set()
    for _, (net, x) in swept(balanced_networks_at_points(constructions=BOTH), 60):
        ranks |= set(torch.linalg.matrix_rank(net.jacobian(x)).tolist())
        if net.depth > 1:
            signs |= set(net.biases[0].sign().reshape(-1).tolist())
    assert ranks == {0, 1, 2, 3}
    assert signs == {-1.0, 0.0, 1.0}


def test_a_given_balanced_network_is_of_the_exact_form():
    """W_1 = (3/5, 4/5)ᵀ and b_1 = (−1/4, −3/5), with ρ = (13/20, 1): s = ρ − b gives them back."""
    family = balanced_networks_at_points(depth=(2, 2), width=(1, 2), constructions=("exact",))
    w = torch.tensor([3 / 5, 4 / 5], dtype=torch.float64)
    b = w * torch.tensor([-5 / 12, -3 / 4], dtype=torch.float64)
    rho = (w * w + b * b).sqrt()
    choices = (
        [0, 2, 1, 2, 1, 0],  # exact, depth 2, widths 1, 2, 1, ReLU
        [[5.0], [1.0], [[1.0], [-2.0]], (rho - b).tolist(), [[0.0, 1.0]], [0.0]],
    )
    record = read_choices(family, [*choices[0], *choices[1]])
    net, _ = family(ReplaySource(record))
    torch.testing.assert_close(net.weights[0], w.unsqueeze(-1))
    torch.testing.assert_close(net.biases[0], b)
    torch.testing.assert_close(net.weights[1].abs(), rho.unsqueeze(0))


@instances
def columns(source):
    return unit_columns(source, 3, 5)


def test_unit_columns_have_length_one_and_start_at_the_identity():
    source = BatchSource(3, 500)
    (U,) = columns()(source)
    assert U.shape == (500, 3, 5)
    torch.testing.assert_close((U * U).sum(-2), torch.ones(500, 5, dtype=torch.float64))
    assert U.std(0).min() > 0.2
    zero = Record((Entries(torch.zeros(3, 5, dtype=torch.float64), (3, 5), -2.0, 2.0),))
    (U,) = columns()(ReplaySource(zero))
    assert U.tolist() == [[1, 0, 0, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 0, 0]]
