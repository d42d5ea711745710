"""A batch says what its instances say alone, and one bad instance harms no other."""

import random
from pathlib import Path

import numpy as np
import pytest
import torch

from rankcheck import leq
from rankcheck.balls import mapped
from rankcheck.claims.claim import ClaimError
from rankcheck.engine.verification.batches import OTHERWISE, evaluate_batch
from rankcheck.engine.verification.counts import Counts
from rankcheck.engine.verification.evaluation import CULPRITS
from rankcheck.engine.verification.profiles import Profile
from rankcheck.engine.verification.search import draw, sweep
from rankcheck.engine.verification.tally import Tally
from rankcheck.engine.verification.ways import _WAYS
from rankcheck.errors import InputError
from rankcheck.instances import matrices
from rankcheck.linalg import frobenius_squared
from rankcheck.theory.instances.drivers import BatchSource, ReplaySource
from rankcheck.theory.instances.source import instances

SMALL = Profile("small", drawn=40, batches=6, size=64, single=24)
#: For bodies that raise: their batches are halved down to single instances.
FEW = Profile("few", drawn=5, batches=2, size=8, single=8, scope_shapes=0)


@instances
def squares(source, *, size=2, invertible=False, late=False):
    """Of sixteen matrices one is zero; more are singular."""
    A = source.tensor(size, size)
    det = A[..., 0, 0] * A[..., 1, 1] - A[..., 0, 1] * A[..., 1, 0]
    if late:
        A = torch.linalg.inv(A)
    if invertible:
        source.require(det.abs() > 0, "the matrix is invertible")
    b = source.tensor(size)
    return A, b


def of_inverse(A, b):
    return leq(-frobenius_squared(torch.linalg.inv(A)), 0.0)


def of_solution(A, b):
    return leq(-torch.linalg.solve(A, b.unsqueeze(-1)).square().sum((-2, -1)), 0.0)


def of_cholesky(A, b):
    gram = A @ A.mT
    return leq(-frobenius_squared(torch.linalg.cholesky(gram)), 0.0)


def evaluated(claim, seed=3, size=64, share=1.0):
    return evaluate_batch(claim, claim.instances, BatchSource(seed, size), share=share)[1]


@instances
def numbers(source):
    return source.tensor()


def test_what_is_known_of_a_generator_goes_with_it(declare):
    """An audit makes one for its network, and a process may audit many."""
    claim, family = declare(lambda x: leq(x, 9.0), numbers()), numbers()
    evaluate_batch(claim, family, BatchSource(3, 8))
    assert len(_WAYS[claim]) == 1
    del family
    assert len(_WAYS[claim]) == 0


@instances
def lists(source, *, longest=3):
    return source.tensor(source.integer(1, longest))


def left_sides(found):
    """The first left sides of the instances that were evaluated, by their places in the batch."""
    return {
        place: side
        for part in found.parts
        for place, side in zip(part.places.tolist(), part.relations[0].lhs.tolist(), strict=True)
    }


def of_each(claim, found, function):
    """What a function of an instance's tensors returns, by place, of all that were evaluated."""
    return {
        place: function(*(values.tolist() for values in part.instance(index).tensors))
        for part in found.parts
        for index, place in enumerate(part.places.tolist())
    }


def test_a_batch_without_exceptions_is_mapped(declare):
    """The body runs once, mapped over all of them, beside the instances that it is compared on."""
    shapes = []

    def body(A, b):
        if mapped():
            shapes.append(A.shape)
        return leq(-frobenius_squared(A), 0.0)

    found = evaluated(declare(body, squares(invertible=True)))
    assert shapes == [(2, 2)]
    assert found.singly == ""
    [part] = found.parts
    assert part.valid.shape == (64,)
    assert found.raised == []
    assert found.counts.evaluated == int(part.valid.sum()) < 64
    assert found.counts.rejected == 64 - found.counts.evaluated
    assert found.counts.reasons == {"the matrix is invertible": found.counts.rejected}


@pytest.mark.parametrize("body", [of_inverse, of_solution, of_cholesky])
def test_rejected_members_do_not_count(declare, body):
    """The body raises for the batch; the instances inside the hypotheses are evaluated."""
    found = evaluated(declare(body, squares(invertible=True)))
    plain = declare(lambda A, b: leq(b.sum(-1), 99.0), squares(invertible=True))
    reference = evaluated(plain)
    assert found.counts == reference.counts
    assert found.counts.rejected > 0
    if body is not of_cholesky:  # rounding may make a matrix indefinite
        assert found.raised == []
        [part], [whole] = found.parts, reference.parts
        assert part.relations[0].lhs.shape == part.valid.shape == (found.counts.evaluated,)
        for one, other in zip(part.record.tensors, whole.record.tensors, strict=True):
            assert torch.equal(one, other[whole.valid])


@pytest.mark.parametrize("body", [of_inverse, of_solution, of_cholesky])
def test_singular_members_are_found_alone(declare, body):
    claim = declare(body, squares())
    found = evaluated(claim)
    assert 0 < len(found.raised) < 32
    assert found.counts == Counts(64 - len(found.raised))
    for raised in found.raised:
        assert raised.by == "body"
        assert isinstance(raised.error, RuntimeError)
        A, _ = claim.instances(ReplaySource(raised.record))
        assert A.shape == (2, 2)
        with pytest.raises(RuntimeError):
            body(A, torch.ones(2).double())
    total = sum(part.valid.numel() for part in found.parts)
    assert total + len(found.raised) == 64


def test_a_generator_that_raises_is_halved_too(declare):
    found = evaluated(declare(lambda A, b: leq(-frobenius_squared(A), 0.0), squares(late=True)))
    assert 0 < len(found.raised) < 32
    assert {raised.by for raised in found.raised} == {"generator"}
    assert found.counts == Counts(64 - len(found.raised))


def test_a_search_goes_on_beside_singular_members(declare):
    """A false bound on the inverse of invertible matrices is refuted."""

    def body(A, b):
        return leq(frobenius_squared(torch.linalg.inv(A)), 1e6, where=b.sum(-1) < 99)

    def tallied(search, claim, *settings):
        tally = Tally()
        found = search(claim, claim.instances, *settings, 0, tally)
        assert tally.raised == []
        return found, tally.counts

    claim = declare(body, squares(invertible=True), no_ball="for the test")
    assert tallied(sweep, claim, SMALL)[0] is not None
    true = declare(of_inverse, squares(invertible=True), loose="so")
    found, counts = tallied(sweep, true, SMALL)
    assert (found, counts.total) == (None, 6 * 64)
    assert counts.evaluated > 0.6 * counts.total
    found, counts = tallied(draw, true, 60)
    assert found is None
    assert counts.evaluated > 0
    assert counts.rejected > 0


def test_a_counterexample_is_found_beside_instances_that_raise(declare, verify):
    def body(A):
        if isinstance(A, torch.Tensor):
            torch.linalg.inv(A[..., :1, :1])  # of zero
        return leq(A[..., 0, 0], 7.9)

    assert verify(declare(body, matrices()), SMALL).verdict == "refuted"


def test_an_instance_that_raises_fails_the_claim(declare, verify):
    row = verify(declare(of_inverse, squares(), loose="so", file=Path(__file__)), FEW)
    assert row.verdict == "failed"
    [message] = row.messages
    for fact in ("_LinAlgError", "test_evaluation.py:"):
        assert fact in message
    assert row.counts.evaluated > 0


def test_alone_an_instance_that_raises_fails_the_claim_too(declare, verify):
    def body(A, b):
        assert float(A.abs().amax()) <= 8
        return of_inverse(A, b)

    claim = declare(body, squares(), loose="so", file=Path(__file__))
    row = verify(claim, FEW)
    assert row.verdict == "failed"
    assert "_LinAlgError" in row.messages[0]
    found = evaluated(claim)
    assert found.singly.startswith("float() in line ")
    assert 0 < len(found.raised) < 32
    assert found.counts == Counts(64 - len(found.raised))


def test_an_exact_hypothesis_excuses_what_raises(declare):
    """Floats accept the instance by rounding; exactly it lies outside."""

    @instances
    def generator(source):
        x = source.tensor()
        source.require(x < 9 if isinstance(x, torch.Tensor) else x < -9, "x is small")
        return x

    def body(x):
        raise KeyError("lost")

    found = evaluated(declare(body, generator()), size=4)
    assert found.raised == []
    assert found.counts == Counts(0, 4, 0, {"a hypothesis, in exact numbers": 4})


def test_a_body_that_always_raises_raises(declare, verify):
    def body(x):
        raise KeyError("lost")

    claim = declare(body, numbers())
    with pytest.raises(KeyError, match="lost") as caught:
        verify(claim, FEW)
    assert caught.value.__notes__[0].startswith("on the instance x = ")
    found = evaluated(claim, size=2 * CULPRITS)
    assert len(found.raised) == CULPRITS
    assert found.counts == Counts()


@pytest.mark.parametrize("error", [ClaimError("t.x", "so"), InputError("so")])
def test_errors_of_usage_are_not_caught(declare, error):
    def body(x):
        raise error

    with pytest.raises(type(error)):
        evaluated(declare(body, numbers()))


def test_a_control_whose_body_raises_is_not_caught(declare, verify):
    def body(A, b, *, invert=False):
        return of_inverse(A, b) if invert else leq(-frobenius_squared(A), 0.0)

    row = verify(declare(body, squares(), loose="so", mutants={"inverse": {"invert": True}}), FEW)
    assert row.verdict == "failed"
    assert row.mutants.survivors == ("inverse",)


# What a map cannot do runs one at a time


def item(x):
    return x.item()


def numpy(x):
    return np.asarray(x).item()


def branch(x):
    return 1.0 if x > 0 else -1.0


def caught(x):
    """Under a map the exception says nothing about x."""
    try:
        return x.item()
    except RuntimeError:
        return 9.0


def caught_late(x):
    try:
        found = [float(x)]
    except Exception:
        found = []
    return found[0] if found else 9.0


def line_of(function, offset=1):
    return function.__code__.co_firstlineno + offset


@pytest.mark.parametrize(
    ("read", "why"),
    [
        (item, f".item() in line {line_of(item)}"),
        (numpy, f"an array of numpy in line {line_of(numpy)}"),
        (branch, f"a branch on a value in line {line_of(branch)}"),
        (caught, f".item() in line {line_of(caught, 3)}"),
        (caught_late, f"float() in line {line_of(caught_late, 2)}"),
    ],
)
def test_what_reads_values_runs_one_at_a_time_and_is_right(declare, read, why):
    claim = declare(lambda x: leq(x * 0 + read(x), 7.0), numbers(), file=Path(__file__))
    found = evaluated(claim)
    assert found.singly == why
    assert left_sides(found) == of_each(claim, found, lambda x: read(np.float64(x)))
    assert len(left_sides(found)) == 64


QUIET_BODY = """
def body(x):
    found = 3.0
    with quiet(Exception):
        found = max(found, x.item())
    return leq(0 * x + found, 7.5)
"""
QUIET = {
    "suppress": "from contextlib import suppress as quiet",
    "of a module": "import contextlib\nquiet = contextlib.suppress",
    "a class": """
class quiet:
    def __init__(self, error):
        self.error = error

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return True
""",
    "a generator": """
from contextlib import contextmanager

@contextmanager
def quiet(error):
    try:
        yield
    except error:
        pass
""",
    "unknown": "from beside import quiet",
}


@pytest.mark.parametrize("caught", QUIET.values(), ids=QUIET)
def test_whatever_catches_is_noticed(declare, tmp_path, monkeypatch, caught):
    """Seldom does the body say something else alone; the map, which catches, never does."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "beside.py").write_text("from contextlib import suppress as quiet\n")
    file, namespace = tmp_path / "claims.py", {"leq": leq}
    file.write_text(caught + QUIET_BODY)
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    found = evaluated(declare(namespace["body"], numbers(), file=file), size=256)
    line = file.read_text().splitlines().index("        found = max(found, x.item())") + 1
    assert found.singly == f".item() in line {line}"
    assert max(left_sides(found).values()) > 3


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_map_that_gives_other_sides_is_not_believed(declare, length):
    """At one of the shapes; at the others the instances are mapped."""

    def body(x):
        return leq(x.sum() + (mapped() is not None and len(x) == length), 9.0)

    claim = declare(body, lists())
    ways = {}
    for seed in range(12):
        found = evaluated(claim, seed)
        record = found.parts[0].record
        ways[record.integers[0]] = found.singly
        expected = of_each(claim, found, lambda x: float(np.sum(x)))
        assert left_sides(found) == pytest.approx(expected, abs=1e-12)
    assert ways == {n: OTHERWISE if n == length else "" for n in (1, 2, 3)}


def test_a_map_that_asserts_elsewhere_is_not_believed(declare):
    def body(x):
        return leq(x, 7.0, where=x > 9.0 if mapped() else x < 9.0)

    assert evaluated(declare(body, numbers())).singly == OTHERWISE


def test_other_relations_under_a_map_are_not_believed(declare):
    def body(x):
        return (leq(x, 8.0),) if mapped() else (leq(x, 8.0), leq(x, 7.0))

    claim = declare(body, numbers())
    found = evaluated(claim)
    assert found.singly == OTHERWISE
    assert {len(part.relations) for part in found.parts} == {2}


def test_relations_of_several_forms_stand_beside_one_another(declare):
    """Alone, an instance may have another number of entries, or of relations, than the next."""

    def body(x):
        return leq(x[x > 0], 7.0), leq(x[0], 7.5) if x[0] > 0 else leq(-8.0, x[0])

    claim = declare(body, lists())
    found = evaluated(claim, seed=5)
    assert len(found.parts) > 2
    assert sorted(place for part in found.parts for place in part.places.tolist()) == [*range(64)]
    for part in found.parts:
        for index in range(len(part.places)):
            (x,) = part.instance(index).tensors
            first, second = (one.lhs[index] for one in part.relations)
            assert torch.equal(first, x[x > 0])
            assert float(second) == (x[0] if x[0] > 0 else -8.0)


def test_integers_that_wrap_under_a_map_run_alone(declare):
    """2⁶⁴ is no int64; alone it becomes a double, and beside it the others stay mapped."""

    def body(x):
        n = (x * 2**29).long()
        return leq(n * n, 2**90)

    claim = declare(body, numbers())
    found = evaluated(claim)
    assert found.singly == "integers wrap"
    expected = of_each(claim, found, lambda x: float(int(x * 2**29)) ** 2)
    assert left_sides(found) == pytest.approx(expected, rel=1e-12)
    assert len(expected) == 64
    assert {part.wrapped for part in found.parts} == {True, False}


def test_integers_that_wrap_seldom_are_noticed(declare, tmp_path):
    """They are small for the instance that is looked at first."""
    (tmp_path / "quiet.py").write_text("")

    def body(x):
        return leq(torch.tensor(3) ** (41 * (x > 5)), 2**62)

    found = evaluated(declare(body, numbers(), file=tmp_path / "quiet.py"), size=256)
    expected = of_each(None, found, lambda x: 3.0**41 if x > 5 else 1.0)
    assert left_sides(found) == pytest.approx(expected, rel=1e-12)
    assert len(set(expected.values())) == 2


def test_integers_in_a_map_of_the_bodys_own(declare):
    def body(x):
        tripled = torch.func.vmap(lambda n: 3 * n)(x.long())
        return leq(tripled.sum(), 99)

    claim = declare(body, lists())
    found = evaluated(claim)
    assert left_sides(found) == of_each(claim, found, lambda x: 3 * sum(map(int, x)))


@pytest.mark.parametrize(
    ("read", "singly"), [(lambda x: 1.0, ""), (lambda x: float(x[0]) + 1, "float()")]
)
def test_in_place_writes_leave_what_was_drawn(declare, read, singly):
    """Mapped, and one at a time; the generator's too."""

    @instances
    def doubled(source):
        x = source.tensor(3)
        x.mul_(2.0)
        return x

    def body(x):
        x[0] = 0.0
        x += read(x)
        return leq(x.sum(), 99.0)

    claim = declare(body, doubled())
    source = BatchSource(1, 16)
    source.tensor(3)
    [before] = source.record.tensors
    record, found = evaluate_batch(claim, claim.instances, BatchSource(1, 16))
    assert torch.equal(record.tensors[0], before)
    assert found.singly == singly
    expected = of_each(claim, found, lambda x: 2 * x[1] + 2 * x[2] + 3)
    assert left_sides(found) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("size", "share", "places"),
    [
        (64, 0.125, [0, 1, *range(8, 64, 8)]),
        (64, 0.0, [0]),
        (3, 0.5, [0, 1]),
        (4, 1.0, [0, 1, 2, 3]),
    ],
)
def test_a_share_of_the_instances_runs_one_at_a_time(declare, size, share, places):
    claim = declare(lambda x: leq(x.item() + 0 * x, 9.0), numbers())
    found = evaluated(claim, size=size, share=share)
    assert list(left_sides(found)) == places
    assert found.counts.total == len(places)
    mapped_ = declare(lambda x: leq(x, 9.0), numbers(), id="t.mapped")
    assert evaluated(mapped_, size=size, share=share).counts.total == size


def test_without_tensors_a_batch_is_one_instance(declare):
    @instances
    def integers(source):
        return source.integer(2, 5)

    found = evaluated(declare(lambda n: leq(n, 5), integers()))
    assert found.counts == Counts(1)
    assert found.parts[0].valid.shape == (1,)


def test_warnings_of_a_slow_map_are_no_errors(declare):
    """torch has no rule for `take`, and goes through the batch; pytest makes errors of warnings."""
    claim = declare(lambda x: leq(x.take(torch.tensor([0])).sum(), 9.0), lists())
    found = evaluated(claim)
    assert found.singly == ""
    assert left_sides(found) == of_each(claim, found, lambda x: x[0])


# What is no function of what is drawn


def depends_on_a_value(source):
    x = source.tensor()
    return x, source.tensor(2 if x > 0 else 1)


def draws_an_integer_if(source):
    x = source.tensor()
    return x, source.integer(0, 9) if x.item() > 0 else 0


def rounds_to_a_size(source):
    return source.tensor(int(source.tensor(low=1.0, high=4.0)))


@pytest.mark.parametrize(
    ("generator", "offset"),
    [(depends_on_a_value, 2), (draws_an_integer_if, 2), (rounds_to_a_size, 1)],
)
def test_a_generator_whose_shape_depends_on_values_is_an_error(declare, generator, offset):
    claim = declare(lambda *parts: leq(0.0 * parts[0].sum(), 1.0), instances(generator)())
    line = line_of(generator, offset)
    message = rf"test_evaluation\.py:{line}, `.*source\..*`: what is drawn depends on a value"
    with pytest.raises(ClaimError, match=message):
        evaluated(claim)


RANDOM = {
    "torch": lambda: torch.rand((), dtype=torch.float64),
    "numpy.random": np.random.random,
    "random": random.random,
}


@pytest.mark.parametrize("name", RANDOM)
@pytest.mark.parametrize("size", [1, 8])
def test_random_numbers_are_an_error(declare, name, size):
    @instances
    def noisy(source):
        return source.tensor() + RANDOM[name]()

    message = f"the body or a generator draws random numbers from {name};"
    with pytest.raises(ClaimError, match=message):
        evaluated(declare(lambda x: leq(x + RANDOM[name](), 99.0), numbers()), size=size)
    with pytest.raises(ClaimError, match=message):
        evaluated(declare(lambda x: leq(x, 99.0), noisy(), id="t.noisy"), size=size)


def test_a_memory_is_an_error(declare):
    seen: list = []

    def body(x):
        seen.append(1)
        return leq(x + len(seen), 99.0)

    with pytest.raises(ClaimError, match="so something is random or has a memory"):
        evaluated(declare(body, numbers()))
