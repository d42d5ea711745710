"""Small scope: the shapes against brute force, every instance once, and what the sentence says."""

import itertools
import math

import pytest
import torch

from rankcheck.instances import instances, matrices, networks_at_points
from rankcheck.theory.instances.choices import read_choices, write_choices
from rankcheck.theory.instances.drivers import ScopeSource
from rankcheck.theory.instances.scope import GRID, INTEGERS, ScopeShape, grid_of, shapes
from rankcheck.theory.instances.source import Rejected, Source
from tests.draws import batch_of

pytestmark = pytest.mark.slow  # enumerations against brute force


@instances
def staircase(source):
    """The range of the second integer depends on the first, the number of entries on both."""
    m = source.integer(1, 3)
    n = source.integer(m, 2 * m)
    return source.tensor(m, n - m), source.tensor(low=0.0, high=2.0)


@instances
def falling(source):
    """A larger second integer gives fewer entries."""
    n = source.integer(2, 4)
    k = source.integer(1, n)
    return (source.tensor(n - k, 2),)


@instances
def positive_entries(source, *, low=0.25, high=0.5):
    return source.tensor(source.integer(1, 4), low=low, high=high)


@instances
def many_integers(source):
    """All integers come before the first tensor."""
    sizes = [source.integer(1, 3) for _ in range(source.integer(2, 4))]
    kind = source.choice(("first", "last", "none"))
    index = source.integer(0, len(sizes) - 1)
    if kind == "none":
        return (source.tensor(*sizes),)
    return source.tensor(sizes[0]), source.tensor(sizes[index] if kind == "last" else sizes[-1])


@instances
def numbers(source):
    """No entries at all."""
    return source.integer(2, 5), source.choice(("a", "b"))


@instances
def nothing(source):
    return (1.0,)


class _Everything(Source):
    """Takes given integers, and raises where one is missing."""

    def __init__(self, integers):
        super().__init__()
        self._left = iter(integers)
        self.grids = []

    def _integer(self, low, high):
        value = next(self._left, None)
        if value is None:
            raise LookupError(low, high)
        return value

    def _tensor(self, shape, low, high):
        self.grids.append((shape, grid_of(low, high)))
        return torch.full(shape, high, dtype=torch.float64)


def by_brute_force(family, entries):
    """The shapes with at most so many entries, without any pruning."""
    found, waiting = [], [()]
    while waiting:
        prefix = waiting.pop()
        source = _Everything(prefix)
        try:
            family(source)
        except LookupError as more:
            low, high = more.args
            waiting += [(*prefix, value) for value in range(low, high + 1)]
            continue
        shape = ScopeShape(prefix, tuple(source.grids))
        if shape.entries <= entries:
            found.append(shape)
    return sorted(found, key=lambda shape: (shape.entries, shape.integers))


SMALL = [
    (staircase(), 6),
    (falling(), 2),
    (positive_entries(), 3),
    (many_integers(), 5),
    (numbers(), 0),
    (nothing(), 0),
    (matrices(), 6),
    (networks_at_points(depth=(1, 2), width=(1, 3)), 6),
    (networks_at_points(depth=(2, 3), width=(1, 2)), 10),
]


@pytest.mark.parametrize(("family", "entries"), SMALL, ids=str)
def test_the_shapes_are_those_of_brute_force(family, entries):
    found = shapes(family, entries)
    assert found.shapes == by_brute_force(family, entries)
    assert found.complete
    assert found.runs > 0


def test_the_networks_with_up_to_six_entries():
    """Depth 1 to 5, widths 1 to 4: no network of more than 3 layers has so few entries."""
    found = shapes(networks_at_points(), 6)
    assert (len(found.shapes), found.instances) == (139, 30_465)
    assert found.sentence() == "all 30 465 instances of up to 6 entries from {-1, 0, 1}"
    assert found.shapes[0].entries == 2


@pytest.mark.parametrize(("family", "entries"), SMALL, ids=str)
def test_every_instance_exactly_once(family, entries):
    found = shapes(family, min(entries, 3))
    seen = set()
    for shape, start, size in found.batches(100):
        source = ScopeSource(shape, start, size)
        family(source)
        for index in range(size):
            record = source.record.instance(index)
            assert record.integers == shape.integers
            choices = write_choices(record)
            again = read_choices(family, choices, check_hypotheses=False)
            assert write_choices(again) == choices
            seen.add(repr(choices))
    assert len(seen) == found.instances
    filled = sum(
        math.prod(len(values) ** math.prod(size) for size, values in shape.grids)
        for shape in found.shapes
    )
    assert filled == found.instances


def test_batches_agree_with_one_at_a_time():
    family = staircase()
    shape = max(shapes(family, 4).shapes, key=lambda shape: shape.instances)
    grids = [values for size, values in shape.grids for _ in range(math.prod(size))]
    digits = list(itertools.product(*grids))
    for index, expected in enumerate(digits):
        parts = family(ScopeSource(shape, index, 1))
        assert [len(part.shape) for part in parts] == [2, 0]
        assert tuple(torch.cat([t.reshape(-1) for t in parts]).tolist()) == expected
    for start, size in ((0, shape.instances), (1, 7), (shape.instances - 1, 1)):
        source = ScopeSource(shape, start, size)
        rows = torch.cat([t.reshape(size, -1) for t in batch_of(family, source)[0]], -1)
        assert [tuple(row) for row in rows.tolist()] == digits[start : start + size]


def test_ranges_off_the_grid_take_their_ends():
    found = shapes(positive_entries(), 2)
    assert found.off_grid
    assert [values for shape in found.shapes for _, values in shape.grids] == [(0.25, 0.5)] * 2
    assert found.sentence() == (
        "all 6 instances of up to 2 entries from {-1, 0, 1} or the ends of their ranges"
    )
    assert not found.pinned
    one = shapes(positive_entries(low=0.5, high=2.0), 2)
    assert not one.off_grid
    assert one.pinned
    assert one.instances == len(one.shapes) == 2


def test_integers_alone():
    found = shapes(numbers(), 3)
    assert found.sentence() == "all 8 choices of its integers"
    assert shapes(nothing(), 3).instances == 1
    assert ScopeSource(shapes(nothing(), 3).shapes[0], 0, 1).record.choices == ()


@instances
def long_ranges(source):
    return source.integer(0, 10**6), source.tensor()


def test_long_ranges_of_integers_are_said():
    found = shapes(long_ranges(), 1)
    assert found.longer
    assert not found.complete
    assert len(found.shapes) == INTEGERS
    assert found.sentence() == (
        "96 instances of up to 1 entry from {-1, 0, 1}; integers in the first 32 values of their "
        "ranges"
    )


def test_a_search_that_is_cut_has_the_smallest_shapes():
    whole, part = shapes(networks_at_points(), 8), shapes(networks_at_points(), 8, runs=300)
    assert part.cut
    assert not part.complete
    assert part.runs == 300
    assert "the shapes that 300 runs found" in part.sentence()
    assert part.shapes[:10] == whole.shapes[:10]


def test_no_shape_is_small_enough():
    found = shapes(networks_at_points(width=(3, 4)), 5)
    assert not found.shapes
    assert found.sentence() == "no instance of up to 5 entries"
    assert list(found.batches(8)) == []


@instances
def hypotheses(source):
    """Rejects instances, and all of a shape."""
    n = source.integer(1, 3)
    if n == 2:
        raise Rejected("n is odd")
    x = source.tensor(n)
    source.require(x.sum(-1) > 0, "positive sums")
    return (x,)


def test_generators_that_reject():
    found = shapes(hypotheses(), 3)
    assert [shape.entries for shape in found.shapes] == [1, 3]
    assert found.rejected == 1
    _, valid = batch_of(hypotheses(), ScopeSource(found.shapes[0], 0, 3))
    assert valid.tolist() == [False, True, False]


@instances
def raising(source):
    n = source.integer(1, 4)
    if n == 3:
        raise RuntimeError("no third")
    return (source.tensor(n),)


def test_generators_that_raise():
    found = shapes(raising(), 4)
    assert [shape.entries for shape in found.shapes] == [1, 2, 4]
    assert found.failed == {"RuntimeError: no third": 1}
    assert found.sentence().endswith("; the generator raised at 1 shape")


@instances
def inverses(source):
    n = source.integer(1, 3)
    return (torch.linalg.inv(source.tensor(n, n)),)


def test_a_generator_that_inverts_a_matrix_does_not_fail():
    assert not shapes(inverses(), 9).failed
    assert len(shapes(inverses(), 9).shapes) == 3


def test_devices_and_wrong_numbers():
    shape = shapes(positive_entries(), 2).shapes[-1]
    (values,) = positive_entries()(ScopeSource(shape, 0, 2, device="meta"))
    assert values.device.type == "meta"
    for start, size in ((-1, 1), (0, 0), (0, 5), (4, 1)):
        with pytest.raises(ValueError, match="for a shape with 4 instances"):
            ScopeSource(shape, start, size)
    huge = ScopeShape((), (((64,), GRID),))
    with pytest.raises(ValueError, match="numbered below"):
        ScopeSource(huge, 0, 1)
