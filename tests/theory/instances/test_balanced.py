"""Balanced networks: their exact form, and which of them occur."""

import torch

from rankcheck.balls import BallArray
from rankcheck.theory.instances.balanced import (
    balanced_networks_at_points,
    unit_columns,
)
from rankcheck.theory.instances.choices import read_choices
from rankcheck.theory.instances.drivers import BatchSource, ReplaySource
from rankcheck.theory.instances.record import Entries, Record
from rankcheck.theory.instances.source import instances
from tests.draws import batch_of

BOTH = ("exact", "rescaled")


def test_rescaled_networks_are_enclosed_on_balls(drawn):
    family = balanced_networks_at_points(depth=(2, 3), constructions=("rescaled",))
    source, (net, _) = next(pair for pair in drawn(family, 5) if pair is not None)
    enclosed, _ = family(ReplaySource(source.record, BallArray.exact))
    for balls_, floats in zip(enclosed.weights, net.weights, strict=True):
        low, high = float(balls_.sum().lower()), float(balls_.sum().upper())
        assert low - 1e-9 <= float(floats.sum()) <= high + 1e-9


def test_biases_of_both_signs_and_ranks_are_reached(swept):
    ranks, signs = set(), set()
    for _, (net, x), _ in swept(balanced_networks_at_points(constructions=BOTH), 60):
        ranks |= set(torch.linalg.matrix_rank(net.jacobian(x)).tolist())
        if net.depth > 1:
            signs |= set(net.biases[0].sign().reshape(-1).tolist())
    assert ranks == {0, 1, 2, 3}
    assert signs == {-1.0, 0.0, 1.0}


def test_a_given_balanced_network_is_of_the_exact_form():
    """W_1 = (3/5, 4/5)ᵀ and b_1 = (−1/4, −3/5), with ρ = (13/20, 1): s = ρ − b gives them back.

    s is drawn in multiples of the sums of |W_1| over its rows: 9/10 = 3/2 · 3/5, 8/5 = 2 · 4/5.
    """
    family = balanced_networks_at_points(depth=(2, 2), width=(1, 2), constructions=("exact",))
    w = torch.tensor([3 / 5, 4 / 5], dtype=torch.float64)
    b = w * torch.tensor([-5 / 12, -3 / 4], dtype=torch.float64)
    rho = (w * w + b * b).sqrt()
    choices = (
        [0, 2, 1, 2, 1, 0],  # exact, depth 2, widths 1, 2, 1, ReLU
        [[5.0], [1.0], [[1.0], [-2.0]], [1.5, 2.0], [[0.0, 1.0]], [0.0]],
    )
    record = read_choices(family, [*choices[0], *choices[1]])
    net, _ = family(ReplaySource(record))
    torch.testing.assert_close(net.weights[0], w.unsqueeze(-1))
    torch.testing.assert_close(net.biases[0], b)
    torch.testing.assert_close(net.weights[1].abs(), rho.unsqueeze(0))


def test_short_choices_make_diagonal_layers_without_biases():
    """Where no reflection is drawn and s = ρ, every layer is diag(1, 2)."""
    family = balanced_networks_at_points(depth=(3, 3), width=(2, 2))
    zero, one = [[0, 0], [0, 0]], [1, 1]
    record = read_choices(
        family, [0, 3, 2, 2, 2, 2, 0, [5, 3], [1, 2], zero, one, zero, one, zero, [0, 0]]
    )
    net, _ = family(ReplaySource(record, BallArray.exact))
    assert all(bool((b == 0).all()) for b in net.biases)
    for w in net.weights:
        assert bool((w == torch.diag(torch.tensor([1.0, 2.0], dtype=torch.float64))).all())


@instances
def columns(source):
    return unit_columns(source, 3, 5)


def test_unit_columns_have_length_one_and_start_at_the_identity():
    (U,), _ = batch_of(columns(), BatchSource(3, 500))
    assert U.shape == (500, 3, 5)
    torch.testing.assert_close((U * U).sum(-2), torch.ones(500, 5, dtype=torch.float64))
    assert U.std(0).min() > 0.2
    zero = Record((Entries(torch.zeros(3, 5, dtype=torch.float64), (3, 5), -2.0, 2.0),))
    (U,) = columns()(ReplaySource(zero))
    assert U.tolist() == [[1, 0, 0, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 0, 0]]
