"""Classes of small classifiers: known pictures, and a count on a fine grid."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.spatial import ConvexHull

from rankcheck.networks import Network
from rankcheck.theory.regions.decision import decision
from tests.draws import integers, random_network


def random_classifier(seed, widths=(2, 5, 3)):
    return random_network(widths, 0.5 * (seed % 2), seed=seed, draw=integers)


STRIPES = [[-1, -1], [0, 0], [1, 1]]
TRIPOINT = [[1, 0], [0, 1], [-1, -1]]


@pytest.mark.parametrize(
    ("rows", "biases", "most", "classes", "strictly"),
    [
        (TRIPOINT, [0, 0, 0], 3, {0, 1, 2}, {0, 1, 2}),
        (STRIPES, [0, 0.25, 0], 2, {0, 1, 2}, {0, 1, 2}),
        (STRIPES, [0, 0, 0], 2, {0, 2}, {0, 2}),
        ([[0, 0], [0, 0]], [1, 0], 1, {0}, {0}),
        ([[1, 0], [1, 0], [-1, 0]], [0, 0, 0], 2, {1, 2}, {2}),
    ],
    ids=["a point of three", "stripes", "stripes that touch", "one class", "equal outputs"],
)
def test_known_pictures(rows, biases, most, classes, strictly):
    """A class without an interior meets no point; equal outputs count as the last of them."""
    found = decision(Network.of([rows], [biases]), -1, 1)
    assert found.most == most
    assert set(found.classes.tolist()) == classes
    assert set(found.classes[found.strict].tolist()) == strictly
    origin = (found.cells.cells.points == 0).all(axis=1)
    assert most < 3 or found.meeting[origin].all()


def test_a_tie_belongs_to_no_class_strictly():
    """(−z, z, 0) with z = 0 for |x| ≤ |y|: the sector belongs to the last class, or to none."""
    fold = Network.of([[[1, 0], [-1, 0], [0, 1], [0, -1]], [[1, 1, -1, -1]]])  # |x| − |y|
    z = Network.of([[[1]], [[1]]]).merged_after(fold)  # relu(|x| − |y|), on both sides
    net = Network.of([[[-1], [1], [0]]]).merged_after(z)
    found = decision(net, -1, 1)
    assert set(found.classes[~found.strict].tolist()) == {2}
    assert set(found.classes[found.strict].tolist()) == {1}
    assert (found.most, found.most_strictly) == (2, 1)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("widths", [(2, 3, 3), (2, 4, 4, 4)], ids=str)
def test_classes_are_those_of_the_largest_output(seed, widths):
    """Strictly so in the cells without a tie inside."""
    net = random_classifier(seed, widths)
    found = decision(net, -2, 2)
    values = net(torch.from_numpy(found.cells.interior.copy()))
    top = values.topk(2, -1).values
    chosen = values.numpy()[np.arange(len(values)), found.classes]
    assert np.allclose(chosen, top[:, 0], rtol=0, atol=1e-9)
    assert ((top[:, 0] - top[:, 1] > 1e-9).numpy() == found.strict).all()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.oracle("rankcheck.regions.decision", "evaluation at points")
def test_against_a_fine_grid(seed):
    """Classes that evaluation finds within 10⁻⁶ of a vertex are among those that meet there. They
    are all of them, unless outputs are equal on a cell or 400 points miss a thin cell.
    """
    net = random_classifier(seed)
    found = decision(net, -2, 2)
    g = torch.Generator().manual_seed(seed)
    missed = 0
    for v in np.unique(found.cells.cells.members):
        point = torch.from_numpy(found.cells.cells.points[v].copy())
        near = point + 1e-6 * (2 * torch.rand(400, 2, dtype=torch.float64, generator=g) - 1)
        near = near[(near.abs() <= 2).all(-1)]
        values = net(near)
        top = values.topk(2, -1)
        clear = top.values[:, 0] - top.values[:, 1] > 1e-12
        seen = set(top.indices[clear, 0].tolist())
        said = set(np.flatnonzero(found.meeting[v]).tolist())
        assert seen <= said
        missed += bool(clear.all()) and seen != said
    assert missed <= 1


@pytest.mark.parametrize("seed", range(3))
def test_junctions_of_planes_are_the_facets_of_a_hull(seed):
    """z = W_i x + b_i, whose maximum has its corners where the upper hull of (W_i, b_i) has facets.

    W is such that W_i − W_j is rounded, so the three lines of a corner need not meet in one point;
    still only one of the three corners of the triangle between them has three classes.
    """
    rng = np.random.default_rng(seed)
    planes = rng.normal(size=(9, 3)) * 3.0 ** rng.integers(-6, 7, size=(9, 1))
    hull = ConvexHull(planes)
    upper = hull.equations[:, 2] > 0
    corners = hull.equations[upper, :2] / hull.equations[upper, 2:3]
    size = 2 * np.abs(corners).max()
    net = Network(
        (torch.from_numpy(planes[:, :2].copy()),), (torch.from_numpy(planes[:, 2].copy()),)
    )
    found = decision(net, -size, size).junctions()
    assert len(found) == len(corners)
    apart = np.abs(found[:, None] - corners).max(axis=-1)
    assert (apart.min(axis=0) < 1e-9 * size).all()
    # In a smaller box there are those of the larger one that it contains.
    half = np.median(np.abs(corners).max(axis=1))
    inside = int((np.abs(corners).max(axis=1) <= half * 0.999).sum())
    assert len(decision(net, -0.999 * half, 0.999 * half).junctions()) == inside < len(corners)


@pytest.mark.parametrize("seed", range(4))
def test_junctions_are_where_a_grid_has_three_classes(seed):
    """Squares of a grid with three classes at their corners are near junctions, and the reverse."""
    g = torch.Generator().manual_seed(seed)
    shapes = [(6, 2), (4, 6)]
    net = Network(
        [torch.randn(shape, generator=g, dtype=torch.float64) for shape in shapes],
        [torch.randn(m, generator=g, dtype=torch.float64) for m, _ in shapes],
    )
    points = 201
    found = decision(net, -2, 2).junctions()
    axis = torch.linspace(-2, 2, points, dtype=torch.float64)
    grid = net(torch.cartesian_prod(axis, axis)).argmax(-1).reshape(points, points).numpy()
    corners = np.stack([grid[:-1, :-1], grid[1:, :-1], grid[:-1, 1:], grid[1:, 1:]])
    kinds = 1 + (np.diff(np.sort(corners, axis=0), axis=0) > 0).sum(axis=0)
    step = 4 / (points - 1)
    squares = -2 + step * (np.argwhere(kinds >= 3) + 0.5)
    apart = np.abs(found[:, None] - squares).max(axis=-1) if len(squares) else np.zeros((0, 0))
    assert bool(len(found)) == bool(len(squares))
    if len(found):
        assert apart.min(axis=0).max() < 4 * step
        assert apart.min(axis=1).max() < 4 * step


@pytest.mark.parametrize("sides", [5, 7, 9])
def test_a_point_of_many_classes_that_rounding_moves_apart(sides):
    angle = torch.arange(sides, dtype=torch.float64) * (2 * torch.pi / sides) + 0.3
    W = torch.stack((angle.cos(), angle.sin()), dim=1)
    point = torch.tensor([1 / 3, 1 / 7], dtype=torch.float64)
    found = decision(Network((W,), (-W @ point,)), -1, 1)
    assert (found.meeting.sum(axis=1) >= 3).sum() > 1
    assert found.junctions() == pytest.approx(point.numpy()[None])


def test_no_junctions():
    net = Network.of([STRIPES], [[0, 0.25, 0]])
    assert decision(net, -1, 1).junctions().shape == (0, 2)
    assert decision(Network.of([TRIPOINT]), -1, 1).junctions(4).shape == (0, 2)


def test_one_output():
    with pytest.raises(ValueError, match="with 1 output; it takes two or more"):
        decision(Network.of([[[1, 0]]]), -1, 1)


def test_a_box_whose_corners_carry_gradients():
    low = torch.tensor([-1.0, -1.0], dtype=torch.float64, requires_grad=True)
    assert decision(Network.of([TRIPOINT]), low, -low).most == 3
