"""What is measured at points, against torch.func and numpy; bounded memory."""

from dataclasses import astuple, replace

import numpy as np
import pytest
import torch
from torch.func import jacrev, vmap

from rankcheck.audit import points
from rankcheck.audit.model import ModelError
from rankcheck.audit.points import batch_size
from rankcheck.audit.ranks import TOLERANCE
from rankcheck.networks import Network

from .nets import model_of, normal, random_model

WIDTHS = [(3, 2), (1, 1, 1), (3, 4, 2), (2, 5, 3, 4), (6, 3, 5, 3), (4, 6, 6, 1), (6, 5, 2, 4, 7)]


def function(slope):
    """The network of torch operations, as a function of its parameters and a point."""

    def value(weights, biases, x):
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            z = w @ x + b
            x = torch.where(z >= 0, z, slope * z)
        return weights[-1] @ x + biases[-1]

    return value


def measured(model, X, **arguments):
    spectra = [torch.linalg.svdvals(w) for w in model.net.weights]
    return points.measure_points(model, X, spectra, **arguments)


def five(values):
    return tuple(np.percentile(values, q) for q in (0, 25, 50, 75, 100))


@pytest.mark.parametrize("slope", [0.0, 1.0, -0.5])
@pytest.mark.parametrize("count", [1, 7])
@pytest.mark.parametrize("widths", WIDTHS)
def test_against_automatic_differentiation(widths, count, slope, monkeypatch):
    monkeypatch.setattr(points, "KERNEL_ROWS", 4 * widths[-1])
    model, X = random_model(widths, slope), normal(count, widths[0], seed=9)
    net, f = model.net, function(slope)
    J = vmap(jacrev(f, argnums=2), (None, None, 0))(net.weights, net.biases, X).numpy()
    mine, _ = measured(model, X)
    s = np.linalg.svd(J, compute_uv=False)
    L, cost = net.depth, float(net.cost())
    assert mine.points == count
    assert len(mine.singular_values) == s.shape[-1]
    for i, found in enumerate(mine.singular_values):
        assert astuple(found) == pytest.approx(five(s[:, i]), rel=1e-9, abs=1e-12)
    ranks = (s > TOLERANCE * s[:, :1]).sum(-1)
    assert mine.ranks == {k: (ranks == k).sum() for k in set(ranks.tolist())}
    powers = np.where(s > 1e-9 * s[:, :1], s, 0) ** (2 / L)
    assert astuple(mine.schatten) == pytest.approx(five(powers.sum(-1)))
    assert mine.schatten.most <= cost / L
    assert mine.least_cost == pytest.approx(L * powers.sum(-1).max())
    assert [bound.rank for bound in mine.bounds] == sorted(mine.ranks)
    for bound in mine.bounds:
        k = bound.rank
        assert bound.excess == pytest.approx(cost - k * L)
        assert bound.points == (ranks == k).sum()
        logs = 2 * np.log(s[s[:, k - 1] > 1e-9 * s[:, 0], :k]).sum(-1) if k else np.zeros(1)
        assert bound.logs == pytest.approx(max(logs))
        assert bound.excess >= bound.logs - 1e-9
    sides = vmap(jacrev(f, argnums=(0, 1)), (None, None, 0))(net.weights, net.biases, X)
    gradients = torch.cat([g.flatten(2) for side in sides for g in side], -1)
    assert astuple(mine.kernel_trace) == pytest.approx(five((gradients**2).sum((1, 2)).numpy()))
    some = min(count, 4)
    places = [i * count // some for i in range(some)]
    rows = gradients[places].flatten(0, 1).numpy()
    assert mine.kernel_points == some
    assert mine.kernel_top == pytest.approx(np.linalg.norm(rows, 2) ** 2 / some)
    C = np.einsum("nij,nik->jk", J, J) / count
    spectrum = np.linalg.eigvalsh(C)[::-1]
    assert mine.egop == pytest.approx(spectrum, abs=1e-9 * spectrum[0])
    root = np.sqrt(spectrum.clip(0))
    assert mine.index_rank.rank == (root > TOLERANCE * root[0]).sum()


def test_the_kernel_is_in_the_biases_that_there_are():
    """Against torch.func, whose derivative in the second bias is left out."""
    model, X = random_model((3, 5, 4, 2)), normal(6, 3, seed=9)
    net, f = model.net, function(0.0)
    mine, _ = measured(replace(model, biases=(True, False, True)), X)
    sides = vmap(jacrev(f, argnums=(0, 1)), (None, None, 0))(net.weights, net.biases, X)
    kept = [*sides[0], sides[1][0], sides[1][2]]
    rows = torch.cat([g.flatten(2) for g in kept], -1)
    assert astuple(mine.kernel_trace) == pytest.approx(five((rows**2).sum((1, 2)).numpy()))
    assert mine.kernel_top == pytest.approx(np.linalg.norm(rows.flatten(0, 1).numpy(), 2) ** 2 / 6)


def test_the_points_of_the_kernel_are_at_even_distances(monkeypatch):
    """Among the first points nothing happens; one that is far out has the largest kernel."""
    monkeypatch.setattr(points, "KERNEL_ROWS", 3)
    X = torch.zeros(9, 1, dtype=torch.float64)
    X[6] = 10.0
    mine, _ = measured(model_of(Network.of([[[1.0]]])), X)
    rows = np.array([[0, 1], [0, 1], [10, 1]])  # ∂f/∂w, ∂f/∂b at points 0, 3, 6
    assert mine.kernel_top == pytest.approx(np.linalg.eigvalsh(rows @ rows.T)[-1] / 3)
    assert mine.kernel_points == 3


@pytest.mark.parametrize(
    ("second_value", "passed", "ranks", "undecided", "gap"),
    [(0.5, 0.06, {2: 3, 3: 1}, 0, None), (0.5, 0.04, {2: 4}, 0, 12.5), (0.2, 0.04, {2: 4}, 1, 5)],
)
def test_ranks_gaps_and_what_is_undecided(second_value, passed, ranks, undecided, gap):
    """x in one half space is mapped with rank 2, in the other with a third singular value."""
    W = torch.diag(torch.tensor([1.0, second_value, 0.0], dtype=torch.float64))
    first = torch.cat((torch.eye(3), -torch.eye(3)), 0).double()
    second = torch.cat((W, -W), 1)
    second[2, 2] += passed  # passes x_3 where it is positive
    model = model_of(Network.linear([first, second]))
    X = torch.tensor([[1.0, 1.0, -1.0]] * 3 + [[1.0, 1.0, 2.0]], dtype=torch.float64)
    mine, _ = measured(model, X)
    assert (mine.ranks, mine.undecided) == (ranks, undecided)
    assert mine.gaps is gap is None or astuple(mine.gaps) == pytest.approx((gap,) * 5)


def test_a_zero_jacobian_has_rank_zero_also_up_to_rounding():
    """0.1 + 0.2 − 0.3 is 5.6e-17 in floats, and 0 within the bound of rounding."""
    first = torch.tensor([[0.1], [0.2], [0.3]], dtype=torch.float64)
    net = Network.linear([first, torch.tensor([[1.0, 1.0, -1.0]], dtype=torch.float64)])
    mine, _ = measured(model_of(net), torch.ones(2, 1, dtype=torch.float64))
    assert mine.ranks == {0: 2}
    assert mine.least_cost == 0
    assert [(b.rank, b.logs) for b in mine.bounds] == [(0, 0.0)]
    zero = model_of(Network.linear([0 * w for w in net.weights]))
    mine, _ = measured(zero, torch.ones(2, 1, dtype=torch.float64))
    assert (mine.ranks, mine.kernel_trace.most, mine.index_rank.rank) == ({0: 2}, 1.0, 0)


def test_kinks_and_dead_neurons():
    net = Network.of([[[1.0], [-1.0], [1.0]], [[1.0, 1.0, 1.0]]], [[0.0, -1.0, 1.0], [0.0]])
    X = torch.tensor([[0.0], [2.0], [3.0], [-0.5]], dtype=torch.float64)
    mine, seen = measured(model_of(net), X)
    assert mine.kinks == 1
    assert seen.above[0].tolist() == [True, False, True]
    assert seen.below[0].tolist() == [True, True, False]
    assert mine.dead_cost == 1 + 1 + 1
    other, _ = measured(model_of(Network(net.weights, net.biases, 0.5)), X)
    assert other.dead_cost is None


def test_a_network_that_overflows_is_refused():
    net = Network.linear([torch.full((1, 1), 1e150, dtype=torch.float64)] * 3)
    X = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    with pytest.raises(ModelError, match=r"overflows at point 0; .* finite"):
        measured(model_of(net), X)
    big = torch.tensor([[0.0], [1e200]], dtype=torch.float64)
    with pytest.raises(ModelError, match=r"overflows at point 1; .* finite"):
        measured(model_of(Network.of([[[1.0]]])), big)
    constant = Network.of([[[0.0]]], [[1.2e154]])  # Σ f² overflows at two points together
    with pytest.raises(ModelError, match="overflows in a sum over the data"):
        measured(model_of(constant), X)


# Memory


@pytest.mark.parametrize("widths", [(20, 30, 30, 10), (5, 200, 200, 40), (300, 8, 8, 8, 1)])
def test_a_batch_fits_into_the_memory(widths):
    """All arrays that a batch leaves behind, counted; a batch of twice the size would not fit."""
    net, memory = random_model(widths).net, 2**20
    size = batch_size(net, memory)
    assert 1 < size < points.MOST
    at = net.at(normal(size, widths[0]))
    J = at.outer_jacobians[0] @ net.weights[0]
    arrays = [*at.outer_jacobians[:-1], *at.activations, *at.preactivations, *at.masks, J]
    used = sum(array.numel() for array in arrays) * 8
    assert memory / 6 < used <= memory


def test_the_data_are_measured_in_batches(monkeypatch):
    assert batch_size(random_model((2, 3, 2)).net) == points.MOST
    assert batch_size(random_model((50, 50, 50)).net, memory=8) == 1
    model, X = random_model((3, 6, 5, 2)), normal(2 * points.MOST + 9, 3, seed=4)
    counted: list[int] = []
    whole, of_whole = measured(model, X, progress=counted.append)
    assert counted == [points.MOST, 2 * points.MOST, 2 * points.MOST + 9]
    monkeypatch.setattr(points, "batch_size", lambda net: 70)
    small, of_small = measured(model, X)
    for kind in ("above", "below"):
        for here, there in zip(getattr(of_small, kind), getattr(of_whole, kind), strict=True):
            assert here.any()
            assert torch.equal(here, there)
    assert small.ranks == whole.ranks
    assert small.egop == pytest.approx(whole.egop)
    torch.testing.assert_close(of_small.second, of_whole.second)
    alpha = torch.relu(X @ model.net.weights[0].mT + model.net.biases[0])
    torch.testing.assert_close(of_whole.second[0], alpha.mT @ alpha)
    assert astuple(small.kernel_trace) == pytest.approx(astuple(whole.kernel_trace))
