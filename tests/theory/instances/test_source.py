"""One generator, four drivers: each gives the same instance for the same choices."""

import inspect
import pydoc

import numpy as np
import pytest
import scipy.stats
import torch

from rankcheck.balls import BallArray
from rankcheck.theory.instances.drivers import BatchSource, ReplayError, ReplaySource
from rankcheck.theory.instances.factorisations import (
    factorised_functions,
    isometries_in_the_orthant,
)
from rankcheck.theory.instances.matrices import (
    chained_matrices,
    matrices,
    matrix_pairs,
    orthogonal_blocks,
    partial_isometries,
)
from rankcheck.theory.instances.matrix_classes import symmetric_matrices
from rankcheck.theory.instances.networks import (
    balanced_linear_networks,
    networks_at_points,
    networks_with_inputs,
)
from rankcheck.theory.instances.record import Entries, Integer, Record
from rankcheck.theory.instances.source import (
    SMALLEST,
    Instances,
    Rejected,
    instances,
    is_factory,
    seed_of,
)
from tests.draws import batch_of

from .families import FAMILIES as DEFAULTS

pytestmark = pytest.mark.slow  # hundreds of draws by Hypothesis

FAMILIES = [
    matrices(),
    matrix_pairs(),
    chained_matrices(),
    orthogonal_blocks(),
    partial_isometries(),
    networks_at_points(),
    networks_at_points(slopes="negative", biases=False),
    networks_with_inputs(),
    balanced_linear_networks(),
    factorised_functions(),
    isometries_in_the_orthant(),
]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=repr)
every_generator = pytest.mark.parametrize("family", [*DEFAULTS, *FAMILIES[6:7]], ids=repr)
#: Their last layer is the pseudo-inverse of a matrix of any condition number.
ILL_CONDITIONED = {"bent_loops()", "stopped_loops()"}


def same(record, other):
    return record.integers == other.integers and all(
        torch.equal(a, b) for a, b in zip(record.tensors, other.tensors, strict=True)
    )


@every_family
def test_drawing_and_replaying_give_the_same_instance(family, drawn, arrays):
    draws = [pair for pair in drawn(family, 60) if pair is not None]
    for source, instance in draws:
        record = Record.from_json(source.record.to_json())
        replay = ReplaySource(record)
        again = family(replay)
        replay.finish()
        assert same(replay.record, source.record)
        assert all(torch.equal(a, b) for a, b in zip(arrays(again), arrays(instance), strict=True))


@every_family
def test_an_instance_of_a_batch_replays_alone(family, swept, arrays):
    for drawn, batch, valid in swept(family, 12, size=5):
        for index in torch.arange(5)[valid].tolist():
            record = Record.from_json(drawn.instance(index).to_json())
            replay = ReplaySource(record)
            alone = family(replay)
            replay.finish()
            assert same(replay.record, record)
            for a, b in zip(arrays(alone), arrays(batch), strict=True):
                # Products of a batch may be summed in another order.
                torch.testing.assert_close(a, b[index], rtol=1e-13, atol=1e-13)


@every_family
def test_a_batch_of_records_replays_as_a_batch(family, swept, arrays):
    for record, batch, _ in swept(family, 6, size=7):
        chosen = torch.tensor([4, 0])
        again, _ = batch_of(family, record.select(chosen))
        for a, b in zip(arrays(again), arrays(batch), strict=True):
            torch.testing.assert_close(a, b[chosen], rtol=1e-13, atol=1e-13)


@every_generator
def test_the_exact_instance_is_that_of_the_floats(family, drawn, arrays):
    for source, instance in [pair for pair in drawn(family, 10) if pair is not None]:
        replay = ReplaySource(source.record, BallArray.exact)
        exact = family(replay)
        replay.finish()
        if family.name in ILL_CONDITIONED:
            continue
        for a, b in zip(arrays(exact), arrays(instance), strict=True):
            size = max(1.0, float(b.abs().max())) if b.numel() else 1.0
            torch.testing.assert_close(a.midpoints() / size, b / size, rtol=1e-10, atol=1e-10)


@every_family
def test_seeds_decide_batches(family, arrays):
    def batch(seed, size=6):
        source = BatchSource(seed, size)
        return source.record.integers, arrays(family(source)), source.record

    _, first, record = batch(5)
    _, second, record_again = batch(5)
    assert same(record, record_again)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert any(not same(record, batch(seed)[2]) for seed in range(6, 10))


@every_generator
def test_gradients_reach_the_recorded_tensors(family, swept, arrays):
    finite = empty = 0
    for record, *_ in swept(family, 8, size=4):
        empty += not any(t.numel() for t in record.tensors)
        leaves = record.with_tensors([t.clone().requires_grad_() for t in record.tensors])
        parts = [a for a in arrays(batch_of(family, leaves)[0]) if a.requires_grad]
        if not parts:
            continue  # zeroed entries: nothing depends on what was drawn
        sum(part.sum() for part in parts).backward()
        grads = [t.grad for t in leaves.tensors if t.grad is not None]
        assert all(bool(torch.isfinite(g).all()) for g in grads)
        finite += bool(grads)
    assert finite >= 4 - empty


def test_batches_do_not_depend_on_the_process():
    assert seed_of("a", 1, None) == 2784993719396867276
    assert seed_of("a", 1) != seed_of("a1")
    source = BatchSource(3, 2)
    assert source.integer(0, 10**6) == 249523
    assert len({BatchSource(seed).integer(0, 10**9) for seed in range(50)}) == 50


@instances
def entries(source, *, count=64, low=-8.0, high=8.0):
    return source.tensor(count, low=low, high=high)


def mixture_by_numpy(rng, n, m, low, high):
    """n rows of m entries, each row of one kind; one row in sixteen is zero, one of signs, ..."""
    rows = []
    for _ in range(n):
        kind = rng.choice(["zero", "signs"] + 2 * ["integers", "sparse", "even"] + 8 * ["normal"])
        row = rng.normal(size=m) * 2 ** rng.uniform(-2.5, 1.5)
        if kind == "even":
            rows.append(rng.uniform(low, high, m))
            continue
        if kind == "integers":
            row = np.round(row)
        if kind == "signs":
            row = rng.choice([-1.0, 1.0], m)
        if kind == "sparse":
            row = row * rng.integers(0, 2, m)
        if kind == "zero":
            row = 0 * row
        if low >= 0:
            row = low + abs(row)
        if high <= 0:
            row = high - abs(row)
        rows.append(np.clip(row, low, high))
    return np.array(rows)


@pytest.mark.parametrize(("low", "high"), [(-8, 8), (0, 1), (0.5, 4), (-4, -0.5), (-1, 0), (-1, 3)])
def test_the_mixture_against_numpy(low, high):
    """The same distribution of an entry, and as many rows of each kind."""
    source = BatchSource(5, 6000)
    source.tensor(5, low=low, high=high)
    found = source.record.tensors[0].numpy()
    assert low <= found.min() < found.max() <= high
    assert ((found == 0) | (abs(found) >= SMALLEST)).all()
    expected = mixture_by_numpy(np.random.default_rng(6), 6000, 5, low, high)
    assert scipy.stats.ks_2samp(found[:, 0], expected[:, 0]).pvalue > 1e-3
    assert scipy.stats.ks_2samp(found.mean(1), expected.mean(1)).pvalue > 1e-3
    zero = min(max(low, 0), high)
    for share in (
        lambda x: (x == zero).all(1),
        lambda x: (x == zero).any(1),
        lambda x: (x == np.round(x)).all(1),
        lambda x: (abs(x - zero) == 1).all(1),
        lambda x: ((x == low) | (x == high)).any(1),
    ):
        assert abs(share(found).mean() - share(expected).mean()) < 0.025


def test_requirements_reject_alone_and_mark_in_a_batch():
    @instances
    def positive(source):
        x = source.tensor(2)
        source.require((x > 0), "both are positive")
        return x

    record = Record((Entries(torch.tensor([1.0, -1.0]).double(), (2,), -8.0, 8.0),))
    with pytest.raises(Rejected, match="both are positive"):
        positive()(ReplaySource(record))
    batch = Record((Entries(torch.tensor([[1.0, -1.0], [1.0, 2.0]]).double(), (2,), -8.0, 8.0),))
    _, valid = batch_of(positive(), batch)
    assert valid.tolist() == [False, True]
    drawing = BatchSource(1)
    drawing.require(torch.tensor(False), "what the first instance breaks")
    drawing.require(torch.tensor(False), "says nothing of the others")
    assert drawing.unmet == "what the first instance breaks"


@pytest.mark.parametrize("entries", [(), (2,)])
def test_a_requirement_is_made_of_truth_values(entries):
    @instances
    def numbers_required(source, *, of):
        source.require(of(source.tensor(*entries)), "a number is not zero")

    drawn = BatchSource(1)
    for of in (lambda x: x * float("nan"), lambda x: x * 0 + 1, lambda x: (x > 0).long()):
        with pytest.raises(TypeError, match=r"source\.require received numbers .*; a condition is"):
            numbers_required(of=of)(BatchSource(1))
        with pytest.raises(TypeError, match=r"source\.require received numbers .*; a condition is"):
            batch_of(numbers_required(of=of), BatchSource(1))
    numbers_required(of=lambda x: (x == x).numpy())(drawn)
    exact = ReplaySource(drawn.record.instance(0), BallArray.exact)
    with pytest.raises(TypeError, match=r"source\.require received numbers"):
        numbers_required(of=lambda x: x)(exact)


def test_an_exact_requirement_is_decided_exactly():
    @instances
    def apart(source):
        x = source.tensor()
        source.require((x + 2**60) - 2**60 == 0, "x is zero, up to rounding")
        return x

    record = Record((Entries(torch.tensor(1e-3).double(), (), -8.0, 8.0),))
    apart()(ReplaySource(record))
    with pytest.raises(Rejected, match="up to rounding"):
        apart()(ReplaySource(record, BallArray.exact))


@instances
def weighted(source):
    return source.integer(2, 4, weights=(1, 2, 7)), source.choice("abc", weights=(8, 1, 1))


def test_weighted_integers(drawn, swept):
    """Their weights decide how often they are drawn, and nothing else."""
    for found in (
        [pair for _, pair, _ in swept(weighted(), 600, size=1)],
        [pair for _, pair in drawn(weighted(), 600)],
    ):
        numbers = [number for number, _ in found]
        letters = [letter for _, letter in found]
        assert set(numbers) == {2, 3, 4}
        assert set(letters) == {"a", "b", "c"}
        if len(found) > 500:  # Hypothesis stops when it has seen everything
            assert 0.6 < numbers.count(4) / len(found) < 0.8
            assert 0.7 < letters.count("a") / len(found) < 0.9
    source = ReplaySource(Record((Integer(2, 2, 4), Integer(2, 0, 2))))
    assert weighted()(source) == (2, "c")
    for weights in ((1, 2), (1, 0, 1), (1, -1, 1)):
        with pytest.raises(ValueError, match="one positive weight for each"):
            source.integer(1, 3, weights)


def test_what_cannot_be_drawn():
    source = BatchSource(0, 3)
    with pytest.raises(ValueError, match=r"integer\(2, 1\) asked for an empty range"):
        source.integer(2, 1)
    with pytest.raises(ValueError, match=r"tensor\(\) asked for entries in \[1, 1\]"):
        source.tensor(low=1, high=1)
    with pytest.raises(ValueError, match="a range is finite"):
        source.tensor(high=float("inf"))
    with pytest.raises(ValueError, match="received no options"):
        source.choice(())
    assert source.record.choices == ()


def test_a_record_that_does_not_fit():
    one = Record((Integer(2, 0, 3), Entries(torch.zeros(2).double(), (2,), -1.0, 1.0)))

    def replay():
        return ReplaySource(one)

    with pytest.raises(ReplayError, match=r"the integer 2, but .* an integer in \[3, 4\]"):
        replay().integer(3, 4)
    with pytest.raises(ReplayError, match=r"the integer 2, but .* a tensor of shape \(2,\)"):
        replay().tensor(2)
    source = replay()
    source.integer(0, 3)
    with pytest.raises(ReplayError, match=r"a tensor of shape .* a tensor of shape \(3,\)"):
        source.tensor(3)
    source = replay()
    source.integer(0, 3)
    with pytest.raises(ReplayError, match=r"draws entries in \[1.0, 2.0\]"):
        source.tensor(2, low=1.0, high=2.0)
    source = replay()
    source.integer(0, 3)
    with pytest.raises(ReplayError, match="draws nothing more"):
        source.finish()
    source = replay()
    source.integer(0, 3)
    source.tensor(2)
    source.finish()
    with pytest.raises(ReplayError, match="the record is at its end"):
        source.tensor(2)


def test_families_carry_their_options():
    family = networks_at_points(depth=(2, 3))
    assert family.name == "networks_at_points(depth=(2, 3))"
    assert repr(family) == family.name
    assert networks_at_points.__doc__ == family.origin.__doc__
    assert networks_at_points(slopes="relu", depth=(1, 2)).name == (
        "networks_at_points(slopes='relu', depth=(1, 2))"
    )
    for seed in range(20):
        net, _ = family(BatchSource(seed))
        assert net.depth in (2, 3)


@instances
def points(source, *, count, low=-1.0):
    """Some points."""
    return source.tensor(count, low=low)


def test_factories_show_their_options():
    assert list(inspect.signature(networks_at_points).parameters) == [
        "depth", "width", "slopes", "biases",
    ]  # fmt: skip
    assert str(inspect.signature(points)).startswith("(*, count, low=-1.0)")
    assert inspect.signature(networks_at_points).return_annotation is Instances
    text = pydoc.plain(pydoc.render_doc(networks_at_points))
    assert "networks_at_points(*, depth: 'Range' = (1, 5)" in text
    assert "at which it is differentiable" in text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: points(count=2, hight=3), r"points: .*'hight'; points takes count, low=-1.0"),
        (lambda: points(), r"points: missing .*'count'; points takes count, low=-1.0"),
        (lambda: points(3), "points: too many positional arguments; points takes count"),
        (
            lambda: networks_at_points(dept=(1, 2)),
            r"'dept'; networks_at_points takes depth=\(1, 5\)",
        ),
        (
            lambda: networks_at_points(depth=2),
            r"depth=2; depth is a tuple, such as \(1, 5\), and \(2, 2\) is the range of 2 alone",
        ),
        (lambda: symmetric_matrices(sizes=(1, 2)), "symmetric_matrices takes size="),
        (lambda: instances(lambda source: source.integer(0, 1))(size=2), "takes no options"),
    ],
)
def test_a_mistyped_option_is_an_error_where_it_is_written(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_a_factory_is_not_yet_instances():
    assert is_factory(points)
    assert is_factory(networks_at_points)
    assert not any(map(is_factory, (points(count=1), instances, points(count=1).origin, None, 3)))
    assert not isinstance(points, Instances)


@pytest.mark.parametrize(
    "call",
    [
        lambda: matrices(rows=(0, 2)),
        lambda: matrices(columns=(4, 1)),
        lambda: networks_at_points(depth=(0, 3)),
        lambda: instances(_sized)(n=(3, 2)),
    ],
)
def test_an_empty_range_of_sizes_is_an_error_where_it_is_written(call):
    with pytest.raises(ValueError, match="is no range such as"):
        call()


def _sized(source, *, n=(1, 2)):
    return source.tensor(source.integer(*n))


def test_a_generator_of_ones_own_may_draw_a_size_of_zero():
    assert str(instances(_sized)(n=(0, 2))) == "_sized(n=(0, 2))"
