"""What is measured of the layers, against numpy and loops."""

import numpy as np
import pytest
import torch

from rankcheck.audit.layers import measure_layers, relative_imbalances
from rankcheck.audit.points import measure_points
from rankcheck.audit.result import most_common
from rankcheck.networks import Network

from .nets import model_of, normal, random_model


def spectra(model):
    return [torch.linalg.svdvals(w) for w in model.net.weights]


def measured(model, **arguments):
    return measure_layers(model, spectra(model), **arguments)


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


def signs_of(net, X):
    """Those of the hidden pre-activations by hand, one point at a time."""
    signs: list[list] = [[] for _ in net.weights[:-1]]
    for x in X.numpy():
        for w, b, seen in zip(net.weights[:-1], net.biases[:-1], signs, strict=True):
            x = w.numpy() @ x + b.numpy()
            seen.append(np.sign(x))
            x = np.where(x >= 0, x, float(net.slope) * x)
    return [np.array(s) for s in signs]


@pytest.mark.parametrize("points", [1, 3, 20])
def test_neurons_on_the_data(points):
    model, X = random_model((3, 5, 6, 2), 0.25), normal(points, 3, seed=5)
    model.net.weights[0][1], model.net.biases[0][1] = 0, 0  # dead, and linear
    facts = measured(model, seen=measure_points(model, X, spectra(model))[1])
    for mine, signs in zip(facts, signs_of(model.net, X), strict=False):
        assert mine.dead == sum((column <= 0).all() for column in signs.T)
        assert mine.linear == sum((column >= 0).all() for column in signs.T)
        assert mine.bent == sum(len({*column} & {-1, 1}) == 2 for column in signs.T)
    assert facts[-1].dead is facts[-1].linear is facts[-1].bent is None


def test_what_dead_neurons_cost_is_saved_without_them():
    net, X = random_model((3, 8, 8, 2), seed=3).net, normal(4, 3, seed=5)
    net.biases[0][:3] -= 20.0  # these are dead, and perhaps others
    model = model_of(net)
    kept = [np.arange(3), *(np.flatnonzero((s > 0).any(0)) for s in signs_of(net, X)), np.arange(2)]
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
