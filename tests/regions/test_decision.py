"""Classes of small classifiers: known pictures, and a count on a fine grid."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rankcheck.networks import Network
from rankcheck.regions.decision import decision


def random_classifier(seed, widths=(2, 5, 3)):
    g = torch.Generator().manual_seed(seed)
    shapes = list(zip(widths[1:], widths[:-1], strict=True))
    return Network(
        [torch.randint(-3, 4, shape, generator=g).double() for shape in shapes],
        [torch.randint(-3, 4, (m,), generator=g).double() for m, _ in shapes],
        0.5 * (seed % 2),
    )


def test_a_tripoint():
    """max(x, y, −x − y): three sectors that meet in the origin."""
    found = decision(Network.of([[[1, 0], [0, 1], [-1, -1]]]), -1, 1)
    assert found.most == 3
    origin = np.flatnonzero((found.cells.cells.points == 0).all(axis=1))
    assert found.meeting[origin].all()
    assert set(found.classes.tolist()) == {0, 1, 2}


def test_three_stripes_meet_in_pairs():
    """max(−z, 1/4, z), z = x + y."""
    net = Network.of([[[-1, -1], [0, 0], [1, 1]]], [[0, 0.25, 0]])
    assert decision(net, -1, 1).most == 2


def test_stripes_that_touch():
    """max(−z, 0, z): the middle class has no interior, so no point meets it."""
    assert decision(Network.of([[[-1, -1], [0, 0], [1, 1]]]), -1, 1).most == 2


def test_one_class():
    found = decision(Network.of([[[0, 0], [0, 0]]], [[1, 0]]), -1, 1)
    assert found.most == 1
    assert set(found.classes.tolist()) == {0}


def test_equal_outputs_count_as_the_last_of_them():
    found = decision(Network.of([[[1, 0], [1, 0], [-1, 0]]]), -1, 1)
    assert set(found.classes.tolist()) == {1, 2}


@pytest.mark.parametrize("seed", range(12))
def test_classes_are_those_of_the_largest_output(seed):
    net = random_classifier(seed, (2, 4, 4, 4))
    found = decision(net, -2, 2)
    values = net(torch.from_numpy(found.cells.interior.copy())).numpy()
    chosen = np.take_along_axis(values, found.classes[:, None], 1)[:, 0]
    assert np.allclose(chosen, values.max(axis=1), rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(12))
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


def test_one_output():
    with pytest.raises(ValueError, match="with 1 output; it takes two or more"):
        decision(Network.of([[[1, 0]]]), -1, 1)
