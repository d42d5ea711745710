"""What is measured of the layers, against numpy, scipy and loops."""

import math

import numpy as np
import pytest
import scipy.linalg
import scipy.stats
import torch

from rankcheck.audit import layers
from rankcheck.audit.layers import measure_layers, relative_imbalances
from rankcheck.audit.points import measure_points
from rankcheck.audit.result import most_common
from rankcheck.networks import Network

from .nets import diagonal, model_of, normal, random_model


def spectra(model):
    return [torch.linalg.svdvals(w) for w in model.net.weights]


def measured(model, **arguments):
    return measure_layers(model, spectra(model), **arguments)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (6, 2), (40, 30)])
def test_ranks_between_the_integers(shape):
    A = normal(*shape, seed=sum(shape)) * 3
    s = scipy.linalg.svdvals(A.numpy())
    [mine] = measured(model_of(Network.linear([A])))
    p = s**2 / (s**2).sum()
    assert mine.singular_values == pytest.approx(s, rel=1e-12)
    assert mine.stable_rank == pytest.approx((A.numpy() ** 2).sum() / s[0] ** 2)
    assert mine.effective_rank == pytest.approx(math.exp(scipy.stats.entropy(s)))
    assert mine.participation == pytest.approx(1 / (p**2).sum())


def test_numbers_of_equal_singular_values_and_of_none():
    s = torch.tensor([2.0, 2.0, 2.0, 0.0, 0.0], dtype=torch.float64)
    for number in (layers.stable_rank, layers.effective_rank, layers.participation):
        assert number(s) == pytest.approx(3)
        assert number(0 * s) == 0.0
        assert number(s * 1e-200) == pytest.approx(3)  # its squares are 0
        assert number(s * 1e200) == pytest.approx(3)


def test_singular_values_near_one():
    W = diagonal([1.3, 1.24, 1.0, 0.76, 0.7, 0.0], (6, 7))
    [mine] = measured(model_of(Network.linear([W])))
    assert mine.near_one == 3


@pytest.mark.parametrize(
    ("values", "rank", "gap", "separated"),
    [
        ([1.0, 0.9, 0.04, 0.001], 2, 22.5, True),
        ([1.0, 0.06, 0.04], 2, 1.5, False),
        ([3.0, 0.5, 0.0], 2, None, True),
        ([0.0, 0.0], 0, None, True),
        ([1.0, 1e-300], 1, 1e300, True),
    ],
)
def test_numerical_rank(values, rank, gap, separated):
    W = torch.diag(torch.tensor(values, dtype=torch.float64))
    [mine] = measured(model_of(Network.linear([W])))
    assert (mine.rank.rank, mine.rank.separated) == (rank, separated)
    assert mine.rank.gap == (None if gap is None else pytest.approx(gap))
    assert mine.weights == pytest.approx(sum(s * s for s in values))


def test_distance_to_partial_isometries_is_that_of_the_nearest_found_by_numpy():
    A = normal(4, 6)
    U, _, Vh = np.linalg.svd(A.numpy(), full_matrices=False)
    model = model_of(Network.linear([A]))
    for k in range(5):
        nearest = U[:, :k] @ Vh[:k]
        [mine] = measured(model, rank=k)
        assert mine.distance == pytest.approx(np.linalg.norm(A.numpy() - nearest) ** 2)
    [mine] = measured(model, rank=5)
    assert mine.distance is None


def test_imbalance_neuron_by_neuron():
    net = random_model((3, 4, 2, 2)).net
    net.weights[0][1], net.biases[0][1] = 0, 0  # no input
    net.weights[1][:, 2] = 0  # no output
    net.weights[0][3], net.biases[0][3], net.weights[1][:, 3] = 0, 0, 0  # neither
    mine = relative_imbalances(net)
    assert mine[0][1:].tolist() == [1, 1, 0]
    facts = measured(model_of(net))
    assert [each.imbalance for each in facts] == [*(float(m.max()) for m in mine), None]
    for index, found in enumerate(mine):
        for i, share in enumerate(found.tolist()):
            w, b, v = net.weights[index][i], net.biases[index][i], net.weights[index + 1][:, i]
            enter = sum(x * x for x in [*w.tolist(), float(b)])
            leave = sum(x * x for x in v.tolist())
            if enter + leave:
                assert share == pytest.approx(abs(enter - leave) / (enter + leave))


def features_of(net, X):
    """The α_ℓ and the signs of the hidden pre-activations by hand, one point at a time."""
    alphas: list[list] = [[] for _ in net.weights]
    signs: list[list] = [[] for _ in net.weights[:-1]]
    for x in X.numpy():
        for index, (w, b) in enumerate(zip(net.weights, net.biases, strict=True)):
            x = w.numpy() @ x + b.numpy()
            if index < net.depth - 1:
                signs[index].append(np.sign(x))
                x = np.where(x >= 0, x, float(net.slope) * x)
            alphas[index].append(x)
    return [np.array(a) for a in alphas], [np.array(s) for s in signs]


def on_data(model, X):
    return measured(model, seen=measure_points(model, X, spectra(model))[1])


@pytest.mark.parametrize("points", [1, 3, 20])
def test_representations_and_neurons(points):
    model, X = random_model((3, 5, 6, 2), 0.25), normal(points, 3, seed=5)
    model.net.weights[0][1], model.net.biases[0][1] = 0, 0  # dead, and linear
    facts = on_data(model, X)
    alphas, signs = features_of(model.net, X)
    for mine, alpha in zip(facts, alphas, strict=True):
        values = np.linalg.svd(alpha / points**0.5, compute_uv=False)
        assert len(mine.representation) == min(points, mine.shape[0])
        assert mine.representation == pytest.approx(values, abs=1e-6 * values[0])
        assert mine.energy == pytest.approx((alpha**2).sum(-1).mean())
    for mine, columns in zip(facts[:-1], signs, strict=True):
        assert mine.dead == sum((column <= 0).all() for column in columns.T)
        assert mine.linear == sum((column >= 0).all() for column in columns.T)
        assert mine.bent == sum(len({*column} & {-1, 1}) == 2 for column in columns.T)
    assert facts[-1].dead is facts[-1].linear is facts[-1].bent is None


def test_what_is_rounding_in_a_representation_is_zero():
    net, X = Network.linear([normal(6, 1) @ normal(1, 3)]), normal(20, 3, seed=5)
    [mine] = on_data(model_of(net), X)
    assert mine.representation[0] > 0
    assert mine.representation[1:] == (0.0,) * 5


def test_what_dead_neurons_cost_is_saved_without_them():
    net, X = random_model((3, 8, 8, 2), seed=3).net, normal(4, 3, seed=5)
    net.biases[0][:3] -= 20.0  # these are dead, and perhaps others
    model = model_of(net)
    _, signs = features_of(net, X)
    kept = [np.arange(3), *(np.flatnonzero((s > 0).any(0)) for s in signs), np.arange(2)]
    pruned = Network(
        [w[np.ix_(to, of)] for w, of, to in zip(net.weights, kept[:-1], kept[1:], strict=True)],
        [b[to] for b, to in zip(net.biases, kept[1:], strict=True)],
    )
    assert len(kept[1]) < 6
    data, _ = measure_points(model, X, spectra(model))
    assert data.dead_cost == pytest.approx(float(net.cost() - pruned.cost()))
    torch.testing.assert_close(pruned(X), net(X))


def test_the_rank_that_most_have():
    assert [most_common(each) for each in ({3: 2, 1: 2, 2: 1}, {0: 1, 2: 5}, {})] == [1, 2, 0]
