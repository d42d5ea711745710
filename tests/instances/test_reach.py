"""What generators reach: cases that no hypothesis mentions, and whose loss nothing else notices."""

import pytest

from rankcheck.instances.factorisations import factorised_functions, isometries_in_the_orthant
from rankcheck.instances.loops import bent_loops, loops, planar_loops, stopped_loops
from rankcheck.instances.units import (
    parallel_units,
    units_at_points,
    units_on_a_line,
    units_with_scales,
)


@pytest.mark.parametrize("family", [factorised_functions(), isometries_in_the_orthant()], ids=repr)
def test_depths_begin_at_the_seam(family, swept):
    """L = L_g + L_h, without an identity layer, one more, and many more."""
    more = {depth - h.depth - g.depth for _, (h, g, _, depth, _) in swept(family, 150, size=1)}
    assert min(more) == 0
    assert 1 in more
    assert max(more) >= 10


@pytest.mark.parametrize(
    "family",
    [units_with_scales(), units_at_points(), units_on_a_line(), parallel_units()],
    ids=repr,
)
def test_units_are_shorter_and_longer_than_one(family, swept):
    short = long = 0
    for _, (W, *_) in swept(family, 40):
        lengths = W.norm(dim=-1)
        short += int(((lengths > 0) & (lengths < 1)).sum())
        long += int((lengths > 1).sum())
    assert short > 100
    assert long > 100


def test_loops_have_layers_of_every_width(swept):
    """Free inner widths; before the last layer as many units as rays, or one more or less."""
    inner, last, lengths = set(), set(), set()
    for _, (loop,) in swept(loops(), 300, size=1):
        lengths.add(len(loop.weights))
        *free, before = [W.shape[-2] for W in loop.weights[:-1]] or [None]
        inner |= set(free)
        if before is not None:
            last.add(before - loop.rays.shape[-1])
    assert lengths == {1, 2, 3, 4}
    assert inner == {1, 2, 3, 4}
    assert last == {-1, 0, 1}


@pytest.mark.parametrize("family", [planar_loops(), bent_loops(), stopped_loops()], ids=repr)
def test_loops_of_every_length(family, swept):
    assert {len(loop.weights) for _, (loop,) in swept(family, 60, size=1)} == {1, 2, 3, 4}
