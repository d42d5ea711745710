from __future__ import annotations

from rankcheck.engine.hunt.points import ShapedSource
from rankcheck.sharpen.shapes import Shapes
from rankcheck.theory.instances.networks import networks_at_points
from rankcheck.theory.instances.source import instances


@instances
def layers(source):
    """Widths n_0, …, n_L, and a number."""
    L = source.integer(1, 5)
    for _ in range(L + 1):
        source.integer(1, 3)
    return source.tensor()


def test_neighbours_have_a_layer_more_or_less(declare):
    claim = declare(lambda x: x, layers())
    source = ShapedSource((3, 1, 2, 3, 1), 0)
    claim.instances(source)
    near = {shape.integers for shape in Shapes(claim, 0).neighbours(source.record.instance(0))}
    assert {(4, 1, 2, 2, 3, 1), (4, 1, 2, 3, 3, 1), (2, 1, 2, 1), (3, 1, 2, 2, 1)} <= near


def test_new_shapes_are_new_until_there_are_no_others(declare):
    claim = declare(lambda net, x: x, networks_at_points(depth=(1, 2), width=(1, 1)))
    shapes = Shapes(claim, 0)
    first, second = shapes.new(6), shapes.new(6)
    assert len(set(first)) == 6
    assert not set(first) & set(second)
    assert shapes.drawn >= 12
