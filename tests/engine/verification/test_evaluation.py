"""One bad instance harms no other: singular and rejected members of a batch."""

from functools import partial
from pathlib import Path

import pytest
import torch

from rankcheck import leq
from rankcheck.claims.claim import ClaimError
from rankcheck.engine.verification.counts import Counts
from rankcheck.engine.verification.evaluation import CULPRITS, evaluate_instances
from rankcheck.engine.verification.profiles import Profile
from rankcheck.engine.verification.search import draw, sweep
from rankcheck.engine.verification.tally import Tally
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


def evaluated(claim, seed=3, size=64):
    return evaluate_instances(claim, claim.instances, partial(BatchSource, seed, size))


def test_a_batch_without_exceptions_is_evaluated_once(declare):
    calls = []

    def body(A, b):
        calls.append(A.shape)
        return leq(-frobenius_squared(A), 0.0)

    found = evaluated(declare(body, squares(invertible=True)))
    assert calls == [(64, 2, 2)]
    [part] = found.parts
    assert part.batch == (64,)
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
        assert part.relations[0].lhs.shape == part.batch == (found.counts.evaluated,)
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
    row = verify(declare(of_inverse, squares(), loose="so", no_batch="for the test"), FEW)
    assert row.verdict == "failed"


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

    claim = declare(body, squares_of_numbers())
    with pytest.raises(KeyError, match="lost") as caught:
        verify(claim, FEW)
    assert caught.value.__notes__[0].startswith("on the instance x = ")
    tally = Tally()
    assert sweep(claim, claim.instances, SMALL, 0, tally) is None
    assert len(tally.raised) == CULPRITS
    assert tally.counts.evaluated == 0


@instances
def squares_of_numbers(source):
    return source.tensor()


@pytest.mark.parametrize("error", [ClaimError("t.x", "so"), InputError("so")])
def test_errors_of_usage_are_not_caught(declare, error):
    def body(x):
        raise error

    with pytest.raises(type(error)):
        evaluated(declare(body, squares_of_numbers()))


def test_a_control_whose_body_raises_is_not_caught(declare, verify):
    def body(A, b, *, invert=False):
        return of_inverse(A, b) if invert else leq(-frobenius_squared(A), 0.0)

    row = verify(declare(body, squares(), loose="so", mutants={"inverse": {"invert": True}}), FEW)
    assert row.verdict == "failed"
    assert row.mutants.survivors == ("inverse",)
