"""Two networks compared: their figures, their layers, and their functions on data."""

import math

import pytest
import torch

from rankcheck.audit import ModelError, compare
from rankcheck.networks import Network

from .nets import normal, sequential

X = normal(30, 3)


def test_how_far_two_functions_differ():
    old = Network.of([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 2.0]]])
    new = Network.of([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, -1.0]]])
    points = torch.tensor([[1.0, 1.0], [4.0, 2.0], [-1.0, 0.5]], dtype=torch.float64)
    f, g = torch.tensor([[1, 2], [4, 4], [0, 1.0]]), torch.tensor([[1, -1], [4, -2], [0, -0.5]])
    found = compare(old, new, points)
    apart = found.difference
    assert (apart.points, apart.largest, apart.point) == (3, 6.0, 1)
    assert apart.relative == 6.0 / 4
    assert apart.mean == pytest.approx(float(((f - g) ** 2).sum() / (f**2).sum()) ** 0.5)
    assert apart.decisions == 2
    [first, second] = found.moved
    assert (first.old, first.new) == (5.0, 2.0)
    assert first.distance == pytest.approx(3 / math.sqrt(5))
    assert second.distance == 0.0
    changes = {one.name: one for one in found.changes}
    assert (changes["cost"].old, changes["cost"].new, changes["cost"].change) == (7.0, 4.0, -3.0)
    assert found.old.name == "old"


def test_a_network_and_itself():
    net = sequential()
    found = compare(net, net, X)
    assert found.difference.largest == found.difference.mean == 0.0
    assert found.difference.decisions == 0
    assert all(one.distance == 0.0 for one in found.moved)
    assert not any(one.change for one in found.changes)
    zero = Network.of([[[0.0, 0.0, 0.0]]])
    apart = compare(zero, zero, X).difference
    assert (apart.relative, apart.mean, apart.decisions) == (None, None, None)


def test_networks_of_other_shapes_have_no_layers_in_common():
    found = compare(sequential(), sequential(1, (3, 6, 2)), X)
    assert found.moved == ()
    [note] = found.notes
    assert "widths 3 → 5 → 4 → 2, slope 0; depth 2, widths 3 → 6 → 2" in note


def test_networks_of_other_ends_are_refused():
    with pytest.raises(ModelError, match="old has 3 inputs and 2 outputs, and new has 4 inputs"):
        compare(sequential(), sequential(0, (4, 5, 2)))
    with pytest.raises(ModelError, match="new: the data have 3 numbers"):
        compare(sequential(), sequential(0, (4, 5, 2)), X)


def test_layers_are_found_by_their_names():
    """Safetensors files have their names in the order of the alphabet."""
    one, two = sequential(), sequential()
    with torch.no_grad():
        two[2].weight *= 2
    [first, *others] = compare(one, two).moved
    assert first.layer == "2"
    assert all(other.distance == 0.0 for other in others)
