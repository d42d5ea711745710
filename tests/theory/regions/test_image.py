"""The dimension of the image of a box: known images, and a cloud of values."""

from __future__ import annotations

import pytest
import torch

from rankcheck.networks import Network
from rankcheck.regions import regions
from rankcheck.theory.regions.image import image_dimension


@pytest.mark.parametrize(
    ("layers", "dimension"),
    [
        ([[[1, 0], [0, 1]]], 2),
        ([[[1, 1], [2, 2]]], 1),
        ([[[0, 0]]], 0),
        ([[[1, 0], [-1, 0]], [[1, 1], [1, 1], [2, 2]]], 1),
        ([[[1, 0], [-1, 0], [0, 1]], [[1, 1, 0], [0, 0, 1]]], 2),
    ],
)
def test_known_images(layers, dimension):
    assert image_dimension(regions(Network.of(layers), -1, 1)) == dimension


def test_a_bent_line_has_dimension_one():
    """x ↦ (relu(x), relu(−x)): two segments, whose hull has dimension 2."""
    cells = regions(Network.of([[[1], [-1]], [[1, 0], [0, 1]]]), -1, 1)
    assert image_dimension(cells) == 1


def test_two_vertices_see_a_segment():
    cells = regions(Network.of([[[1, 0], [0, 1]]]), -1, 1)
    assert image_dimension(cells, corners=2) == 1
    assert image_dimension(cells, corners=1) == 0


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.oracle("rankcheck.regions.image_dimension", "the rank of a cloud of values")
def test_against_values_near_a_point(seed):
    """The largest rank of differences of values close to a point, over many points."""
    g = torch.Generator().manual_seed(seed)
    shapes = ((3, 2), (2, 3), (3, 2))
    weights = [torch.randint(-2, 3, shape, generator=g).double() for shape in shapes]
    biases = [torch.randint(-2, 3, shape[:1], generator=g).double() for shape in shapes]
    net = Network(weights, biases)
    centres = 4 * torch.rand(400, 1, 2, dtype=torch.float64, generator=g) - 2
    near = centres + 1e-5 * torch.rand(400, 8, 2, dtype=torch.float64, generator=g)
    values = net(near.reshape(-1, 2)).reshape(400, 8, 3)
    ranks = torch.linalg.matrix_rank(values - values[:, :1], atol=1e-9, rtol=0.0)
    inside = (net.boundary_distance(near.reshape(-1, 2)).reshape(400, 8) > 1e-3).all(-1)
    assert int(ranks[inside].max()) == image_dimension(regions(net, -2, 2))
