"""Linear pieces on a line, against slopes of numpy's values on a fine grid."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.networks import Network
from rankcheck.regions import linear_pieces, region_arrays


def integer_network(g, widths):
    weights = [g.integers(-2, 3, (n, m)).astype(float) for m, n in pairwise(widths)]
    return Network.of(weights, [g.integers(-2, 3, len(W)).astype(float) for W in weights])


def pieces_on_a_grid(net, low, high, per_unit):
    """1 + the points of the grid where the slope of the values changes."""
    x = np.linspace(low, high, (high - low) * per_unit + 1)[:, None]
    h = x
    for W, b in zip(net.weights[:-1], net.biases[:-1], strict=True):
        h = np.maximum(h @ W.numpy().T + b.numpy(), 0)
    f = h @ net.weights[-1].numpy().T + net.biases[-1].numpy()
    return 1 + int((np.abs(np.diff(f, 2, axis=0)) > 1e-7).any(axis=1).sum())


@pytest.mark.oracle("rankcheck.regions.linear_pieces", "slopes of numpy's values on a grid")
@pytest.mark.parametrize("widths", [(1, 1), (1, 3, 1), (1, 4, 2), (1, 2, 2, 1)])
def test_pieces_are_those_of_a_grid(widths):
    """The denominators of all kinks are at most 8, so that 840 is a multiple of each."""
    g = np.random.default_rng(0)
    for _ in range(30):
        net = integer_network(g, widths)
        cells = region_arrays(net, -3, 3)
        truth = pieces_on_a_grid(net, -3, 3, 840)
        exact = region_arrays(net.map_arrays(BallArray.exact), -3, 3)
        assert linear_pieces(cells) == linear_pieces(exact) == truth
        assert truth <= cells.count


def test_a_batch_has_the_pieces_of_each():
    folds = torch.tensor([[[1.0], [1.0]], [[1.0], [-1.0]], [[0.0], [1.0]]], dtype=torch.float64)
    net = Network.linear([folds, torch.tensor([[[1.0, 1.0]], [[1, -1]], [[1, 1]]]).double()])
    assert linear_pieces(region_arrays(net, -1, 1)).tolist() == [2, 1, 2]


def test_the_plane_has_no_pieces_here():
    net = Network.of([[[1.0, 2.0]]])
    with pytest.raises(ValueError, match="networks with 2 inputs; pieces are counted on a line"):
        linear_pieces(region_arrays(net, -1, 1))
