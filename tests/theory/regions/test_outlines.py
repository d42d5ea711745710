"""Outlines of classes: known shapes, and every point of a sample by the number of crossings."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rankcheck.networks import Network
from rankcheck.regions import regions
from rankcheck.theory.regions.decision import decision
from rankcheck.theory.regions.outlines import outlines, simplified


def area(ring):
    """The signed area inside of a ring."""
    x, y = ring.T
    return float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2)


def inside(rings, points):
    """Whether a ray from each point to the right crosses the rings an odd number of times."""
    x, y = points.T
    crossings = np.zeros(len(points), dtype=int)
    for ring in rings:
        for (a, b), (c, d) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
            between = (b > y) != (d > y)
            with np.errstate(all="ignore"):
                crossings += between & (x < a + (y - b) * (c - a) / (d - b))
    return crossings % 2 == 1


def test_two_halves():
    net = Network.of([[[1, 0], [-1, 0]]])
    found = decision(net, [-1, 0], [2, 1])
    rings = outlines(found.cells, found.classes)
    assert {label: [area(ring) for ring in each] for label, each in rings.items()} == {
        0: [2.0],
        1: [1.0],
    }
    assert {tuple(point) for point in rings[1][0]} == {(-1, 0), (0, 0), (0, 1), (-1, 1)}


def test_a_hole():
    """1 beside |x| + |y|: a square of side √2, in a box of side 4."""
    net = Network.of([[[1, 0], [-1, 0], [0, 1], [0, -1]], [[0] * 4, [1] * 4]], [[0] * 4, [1, 0]])
    found = decision(net, -2, 2)
    rings = outlines(found.cells, found.classes)
    assert [area(ring) for ring in rings[0]] == [2.0]
    assert sorted(area(ring) for ring in rings[1]) == [-2.0, 16.0]


@pytest.mark.parametrize("seed", range(2))
def test_points_are_inside_of_their_class(seed):
    rng = np.random.default_rng(seed)
    shapes = [(7, 2), (6, 7), (4, 6)]
    net = Network(
        [torch.from_numpy(rng.normal(size=shape)) for shape in shapes],
        [torch.from_numpy(rng.normal(size=m)) for m, _ in shapes],
    )
    # The classes change near the centre of the box.
    *others, last = net.biases
    net = net.with_parameters(net.weights, (*others, last - net(torch.zeros(2).double())))
    found = decision(net, -3, 3)
    rings = outlines(found.cells, found.classes)
    points = rng.uniform(-3, 3, size=(400, 2))
    chosen = net(torch.from_numpy(points.copy())).argmax(-1).numpy()
    assert len(rings) > 1
    for label, each in rings.items():
        assert (inside(each, points) == (chosen == label)).all()
        # The sides that two cells of the class share are gone.
        assert (
            sum(map(len, each)) < (np.diff(found.cells.cells.starts)[found.classes == label]).sum()
        )
    assert sum(area(ring) for each in rings.values() for ring in each) == pytest.approx(36)


def test_a_ring_without_the_points_on_its_sides():
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    share = np.linspace(0, 1, 10, endpoint=False)[:, None]
    square = np.concatenate(
        [a + share * (b - a) for a, b in zip(corners, np.roll(corners, -1, 0), strict=True)]
    )
    assert simplified(square, 1e-9).tolist() == corners.tolist()
    # From a point that is no corner on, this point is kept as well.
    assert len(simplified(np.roll(square, 3, axis=0), 1e-9)) == 5
    assert len(simplified(np.array([[0.0, 0], [1, 0], [1, 1e-6], [0, 1e-6]]), 1e-3)) == 2


def test_a_ring_stays_within_the_tolerance():
    tolerance = 0.03
    angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    ring = np.stack((np.cos(angle), np.sin(3 * angle)), axis=1)
    thin = simplified(ring, tolerance)
    assert len(thin) < 50
    share = np.linspace(0, 1, 301)[:, None, None]
    sides = (thin + share * (np.roll(thin, -1, axis=0) - thin)).reshape(-1, 2)
    away = np.linalg.norm(ring[:, None] - sides, axis=-1).min(axis=1).max()
    # The sides are sampled, less than 0.002 apart.
    assert tolerance / 4 < away < tolerance + 0.001


def test_cells_of_a_line():
    cells = regions(Network.of([[[1], [-1]], [[1, 1]]]), -1, 2)
    with pytest.raises(ValueError, match="those of a box in the plane, with a label each"):
        outlines(cells, np.zeros(2, dtype=int))
