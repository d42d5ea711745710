"""Path norms of any depth against a loop over all paths."""

import itertools
import math
from fractions import Fraction

import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.costs import path_norm, path_norm_of_units, two_layer_network
from rankcheck.networks import Network
from tests.draws import random_network


def sizes_of_paths(weights, biases):
    """The sizes of the products along all paths, of nested lists of numbers.

    A path is a neuron of each layer from some layer on; it begins with a weight of the first layer,
    or with the bias of its first neuron.
    """
    widths = [len(weights[0][0]), *map(len, weights)]
    for path in itertools.product(*map(range, widths)):
        yield math.prod(
            abs(w[i][j]) for w, (j, i) in zip(weights, itertools.pairwise(path), strict=True)
        )
    for begin in range(len(weights)) if biases else ():
        for path in itertools.product(*map(range, widths[begin + 1 :])):
            rest = zip(weights[begin + 1 :], itertools.pairwise(path), strict=True)
            yield abs(biases[begin][path[0]]) * math.prod(abs(w[i][j]) for w, (j, i) in rest)


def slow(net, p, biases):
    lists = [[a.tolist() for a in arrays] for arrays in (net.weights, net.biases)]
    sizes = list(sizes_of_paths(lists[0], lists[1] if biases else None))
    return max(sizes) if p == math.inf else sum(s ** float(p) for s in sizes) ** (1 / float(p))


@pytest.mark.oracle("rankcheck.costs.path_norm", "a loop over all paths")
@pytest.mark.parametrize("p", [1, 2, 3, Fraction(1, 2), 1.5, math.inf])
@pytest.mark.parametrize("biases", [True, False])
def test_it_is_the_sum_over_all_paths(p, biases):
    for seed, widths in enumerate([(2, 3), (3, 2, 1), (1, 3, 2, 2), (2, 2, 1, 3, 2)]):
        net = random_network(widths, seed=seed)
        assert path_norm(net, p, biases=biases).item() == pytest.approx(slow(net, p, biases))


def test_with_rational_weights_it_is_exact():
    third = Fraction(1, 3)
    W = [[[third, -2], [5, third / 2]], [[-3 * third, 2]]]
    b = [[third * third, -1], [4]]
    weights, biases = ([BallArray.exact(a) for a in arrays] for arrays in (W, b))
    paths = list(sizes_of_paths(W, b))
    assert path_norm(Network(weights, biases)) == sum(paths)
    assert path_norm(Network(weights, biases), math.inf) == max(paths)


def test_another_exponent_for_the_inputs_is_that_of_two_layers():
    """With a Euclidean norm of the rows, Σ |a_k| ‖w_k‖; with the biases, Σ |a_k| ‖(w_k, b_k)‖."""
    net = random_network((3, 4, 1), batch=(5,))
    W, b, a = net.weights[0], net.biases[0], net.weights[1][..., 0, :]
    units = two_layer_network(W, b, a)
    shallow = path_norm(units, inputs=2, biases=False)
    torch.testing.assert_close(shallow, path_norm_of_units(W, a))
    torch.testing.assert_close(shallow, (a.abs() * (W * W).sum(-1).sqrt()).sum(-1))
    whole = path_norm(units, inputs=2)
    torch.testing.assert_close(whole, path_norm_of_units(torch.cat((W, b[..., None]), -1), a))


def test_exponents_are_positive():
    net = random_network((1, 1))
    with pytest.raises(ValueError, match="exponent 0"):
        path_norm(net, 0)
    with pytest.raises(ValueError, match="exponent -1"):
        path_norm(net, inputs=-1)
