"""Making instances small."""

import itertools
import random
import time
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.database import choices_to_bytes
from hypothesis.internal.conjecture.engine import BUFFER_SIZE

from rankcheck.engine.counterexamples.shrinking import cropping, entries, handover, shrink_record
from rankcheck.engine.counterexamples.shrinking.handover import (
    LARGEST,
    HandoverError,
    complexity,
    shrink_with_hypothesis,
)
from rankcheck.theory.instances.choices import read_choices
from rankcheck.theory.instances.complex_matrices import hermitian_matrices
from rankcheck.theory.instances.drivers import BatchSource, ReplaySource
from rankcheck.theory.instances.factorisations import factorised_functions
from rankcheck.theory.instances.matrices import matrices, orthogonal_blocks
from rankcheck.theory.instances.matrix_classes import positive_definite_matrices, symmetric_matrices
from rankcheck.theory.instances.networks import (
    balanced_linear_networks,
    networks_at_points,
    networks_with_inputs,
)
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Rejected, instances

pytestmark = pytest.mark.slow  # counterexamples of many sizes are shrunk

FOREVER = 1e9


@instances
def arrays(source, *, size=(1, 64)):
    m, n = source.integer(*size), source.integer(*size)
    return source.tensor(m, n)


@instances
def vectors(source, *, size=8, low=-8.0, high=8.0):
    return source.tensor(size, low=low, high=high)


@instances
def stacks(source, *, depth=(1, 6), width=(1, 6)):
    """Layers of drawn widths: dropping one drops an integer and a tensor."""
    layers = source.integer(*depth)
    widths = [source.integer(*width) for _ in range(layers + 1)]
    return tuple(source.tensor(n, m) for m, n in itertools.pairwise(widths))


def single(family, seed, **shape):
    source = BatchSource(seed)
    family(source)
    return source.record.instance(0)


def build(family, record):
    source = ReplaySource(record)
    built = family(source)
    source.finish()
    return built


def always(_):
    return True


def noting(seen, predicate):
    """The predicate, and a list of what it was asked."""

    def noted(value):
        seen.append(value)
        return predicate(value)

    return noted


# What Hypothesis does with an instance that it is handed.


@pytest.mark.parametrize(
    "family",
    [matrices(), orthogonal_blocks(), networks_at_points(), networks_with_inputs(),
     balanced_linear_networks(), factorised_functions(), vectors(low=0.0, high=1.0)],
    ids=repr,
)  # fmt: skip
def test_hypothesis_sees_exactly_the_instance_first(family):
    for seed in range(2):
        try:
            record = single(family, seed)
        except Rejected:
            continue
        # Raises a HandoverError if what is seen first is another.
        found = shrink_with_hypothesis(family, record, lambda other: False, time.monotonic() + 0.1)
        assert found.record is record
        assert found.left_out is None


def test_the_buffer_holds_the_largest():
    assert LARGEST * len(choices_to_bytes([1.5])) < BUFFER_SIZE
    for size in (LARGEST, LARGEST + 1):
        family = vectors(size=size)
        record = read_choices(family, [[1.5] * size])
        until = time.monotonic() + 0.1
        shrunk = shrink_with_hypothesis(family, record, lambda r: False, until)
        assert bool(shrunk.left_out) == (size > LARGEST)


@pytest.mark.parametrize("moody", [True, False])
def test_a_generator_that_does_not_repeat_itself_is_found_out(moody):
    """Its shapes change, or it rejects the instance."""
    count = iter(range(10**6))

    @instances
    def other(source):
        drawn = source.tensor(1 + next(count) % 2 if moody else 2)
        source.require(torch.tensor(moody), "never")
        return drawn

    record = read_choices(vectors(size=2), [[1, 2]])
    with pytest.raises(HandoverError):
        shrink_with_hypothesis(other(), record, always, FOREVER)


def test_time_ends_the_search_and_keeps_what_it_has(monkeypatch):
    record = read_choices(vectors(), [[3.25, 1.5, 7, 7, 7, -0.3125, 1, 2]])
    calls = []

    def until_ten(candidate):
        calls.append(candidate)
        if len(calls) == 10:
            monkeypatch.setattr(handover, "monotonic", lambda: FOREVER)
        return bool(candidate.tensors[0].sum() >= 3)

    found = shrink_with_hypothesis(vectors(), record, until_ten, FOREVER)
    assert len(calls) == 10
    assert complexity(found.record) < complexity(record)
    assert found.record.tensors[0].sum() >= 3


# In the domain.


@given(st.lists(st.floats(-(2.0**60), 2.0**60), max_size=8))
def test_fractional_bits(numbers):
    values = torch.tensor(numbers, dtype=torch.float64)
    denominators = [Fraction(x).denominator for x in numbers]
    assert entries.fractional_bits(values).tolist() == [d.bit_length() - 1 for d in denominators]


def test_cropped_records_fit_their_generator():
    rng = random.Random(1)
    for family in (stacks(), arrays(size=(1, 7)), networks_at_points(), orthogonal_blocks()):
        for seed in range(10):
            record = single(family, seed)
            seen: list[Record] = []
            sometimes = noting(seen, lambda _: rng.random() < 0.2)
            cropping.crop(family, record, sometimes, FOREVER)
            for candidate in seen:
                build(family, candidate)
                assert cropping.size(candidate) < cropping.size(record) or candidate is record


def test_64_by_64_comes_down_to_its_corner():
    """Nothing but one entry matters, wherever it is: a hundred candidates, and no more."""
    for place in ((0, 0), (63, 63), (17, 40)):
        values = torch.randn(64, 64, dtype=torch.float64).clamp(-4, 4)
        values[place] = 7.3
        record = read_choices(arrays(), [64, 64, values.tolist()])
        calls: list[Record] = []
        has_large = noting(calls, lambda candidate: bool((candidate.tensors[0] > 7).any()))
        found = shrink_record(arrays(), record, has_large)
        assert found.left_out is None
        assert found.record.integers == (1, 1)
        assert found.record.tensors[0].tolist() == [[8.0]]
        assert len(calls) < 700


def test_a_layer_goes_with_its_tensors():
    """Of six layers one must stay, whichever it is."""
    shapes = [3, 2, 4, 3, 2, 5, 1]
    layers = [(torch.ones(n, m) * 0.5).tolist() for m, n in itertools.pairwise(shapes)]
    for kept in range(6):
        marked = [[list(row) for row in layer] for layer in layers]
        marked[kept][0][0] = 7.0
        record = read_choices(stacks(), [6, *shapes, *marked])
        small = cropping.crop(
            stacks(), record, lambda r: any((t == 7).any() for t in r.tensors), FOREVER
        )
        assert small.integers == (1, 1, 1)
        assert [t.tolist() for t in small.tensors] == [[[7.0]]]


def test_two_layers_that_belong_together_stay_together():
    """A pair of neighbours whose product is large, in the middle of a deep stack."""
    layers = [(torch.eye(3) * 0.25).tolist() for _ in range(6)]
    layers[2] = (torch.eye(3) * 6.0).tolist()
    layers[3] = (torch.eye(3) * 5.0).tolist()
    record = read_choices(stacks(), [6, *[3] * 7, *layers])

    def large_product(candidate):
        tensors = build(stacks(), candidate)
        return any(float((b @ a).abs().max()) >= 20 for a, b in itertools.pairwise(tensors))

    found = shrink_record(stacks(), record, large_product)
    assert found.record.integers == (2, 1, 1, 1)
    a, b = (float(t) for t in found.record.tensors)
    assert a * b >= 20
    assert {a, b} <= {3.0, 4.0, 5.0, 6.0, 7.0}


@instances
def bounded(source, *, low, high):
    return source.tensor(3, low=low, high=high)


@pytest.mark.parametrize(("low", "high", "simplest"), [(-8, 8, 0), (0.125, 4, 1), (-4, -0.3, -1)])
def test_entries_end_at_the_simplest_of_their_range(low, high, simplest):
    values = [low + (high - low) * part for part in (0.1, 0.37, 0.93)]
    record = read_choices(bounded(low=low, high=high), [values])
    simple = entries.simplify_entries(record, always, FOREVER)
    assert simple.tensors[0].tolist() == [simplest] * 3


def test_each_entry_is_rounded_as_far_as_it_may_be():
    record = read_choices(vectors(size=2), [[1.3, 0.3]])

    def close(candidate):
        off = (candidate.tensors[0] - record.tensors[0]).abs()
        return bool(off[0] < 0.02) and bool(off[1] < 1e-6)

    simple = entries.simplify_entries(record, close, FOREVER)
    assert close(simple)
    assert simple.tensors[0][0] == 1.3125
    assert entries.fractional_bits(simple.tensors[0])[1] <= 24


# Together.


@pytest.mark.parametrize("seed", range(2))
def test_the_result_is_interesting_and_no_larger(seed):
    family = networks_at_points(width=(2, 5))
    record = single(family, seed)
    rng = random.Random(seed)
    wanted = float(sum(t.abs().sum() for t in record.tensors)) * rng.uniform(0.05, 0.5)

    def heavy(candidate):
        net, x = build(family, candidate)
        assert bool(net.is_differentiable_at(x))
        return float(sum(t.abs().sum() for t in candidate.tensors)) >= wanted

    found = shrink_record(family, record, heavy, budget=2.0)
    assert heavy(found.record)
    assert complexity(found.record) <= complexity(record)
    assert found.left_out is None


@pytest.mark.parametrize(
    ("family", "drawn"),
    [
        (
            symmetric_matrices(size=(3, 3)),
            [3, 3, 1, [[1, 1.5, -1]], [[[2.5]], [[-6.25]]]],
        ),
        (
            positive_definite_matrices(size=(3, 3), condition=1e6),
            [3, 1, [[1, 1.5, -1], [0, 1, 2], [1, 0, 0]], [0.75, -0.25, 0.125], 1],
        ),
        (hermitian_matrices(size=(2, 2)), [2, 3, [[[1.5], [1]], [[0.5], [-1]]], [[7]], [[1]]]),
    ],
    ids=str,
)
def test_an_object_is_shrunk_in_its_simplest_structure(family, drawn):
    """Whatever structure it was found in: with the choices of the simplest that make the object."""
    record = read_choices(family, drawn)
    least = [0.4 * part for part in build(family, record)]

    def as_large(candidate):
        found = build(family, candidate)
        return all(
            a.shape == b.shape and bool((a.abs() >= b.abs()).all() & (a * b >= 0).all())
            for a, b in zip(found, least, strict=True)
        )

    small = shrink_record(family, record, as_large).record
    assert as_large(small)
    assert record.integers[1] > 0
    assert small.integers[1] == 0


@pytest.mark.parametrize("screen", [lambda r: bool(r.tensors[0].any()), lambda r: False])
def test_a_screen_that_errs_is_corrected(screen):
    """The quick test lets through what the exact one does not: the exact one decides."""
    record = read_choices(vectors(size=4), [[5.1, 6.3, 1.2, 0.7]])
    found = shrink_record(
        vectors(size=4), record, lambda r: bool(r.tensors[0][0] > 3), screen=screen
    )
    assert found.record.tensors[0].tolist() == [4.0, 0.0, 0.0, 0.0]


def test_the_first_descent_uses_the_screen_alone():
    """A screen that never errs leaves little to the slow test, which sees no large record."""
    record = read_choices(vectors(size=6), [[5.1, 6.3, 1.2, 0.7, -3.3, 2.9]])
    seen = []

    def first_is_large(candidate):
        return bool(candidate.tensors[0][0] > 3)

    def slow(candidate):
        seen.append(int(candidate.tensors[0].count_nonzero()))
        return first_is_large(candidate)

    found = shrink_record(vectors(size=6), record, slow, screen=first_is_large)
    assert found.record.tensors[0].tolist() == [4.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert max(seen) == 1
