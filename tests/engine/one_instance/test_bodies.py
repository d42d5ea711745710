"""What a body may do with its one instance, and what makes it no function of that."""

import random
import re

import numpy as np
import pytest
import torch

from rankcheck import eq, leq
from rankcheck.engine.counterexamples import replay
from rankcheck.engine.hunt import hunt
from rankcheck.engine.verification.profiles import Profile
from rankcheck.instances import instances, matrices, networks_at_points

FEW = Profile("few", drawn=8, batches=4, size=512, single=12, scope=4)
CALLS: list[int] = []


@pytest.fixture
def row(declare, verify):
    return lambda body, family: verify(declare(body, family, kind="conjecture"), FEW)


def test_a_hypothesis_is_about_one_network(row):
    def body(net, x, *, less=True):
        positive = (net.weights[-1] >= 0).all()
        return leq(net.biases[0], net(x), where=positive & (less | (x >= 0).all()))

    family = networks_at_points(depth=(1, 1), width=(1, 2))
    net, x = row(body, family).counterexample
    assert (net.weights[-1] >= 0).all()
    assert (x < 0).any()
    true = row(lambda net, x: body(net, x, less=False), family)
    assert (true.verdict, 0 < true.asserted < 1) == ("guarded", True)


def cautious(A):
    try:
        return A[0, 0] if A[0, 1] > 0 else 0
    except Exception:  # whatever a map says of the branch
        return 0


HAND = {
    "norm": (lambda A: A.norm(), lambda a: np.linalg.norm(a), 2),
    "max": (lambda A: A.max(), lambda a: a.max(), 1),
    "mean(0)": (lambda A: A.mean(0).abs().max(), lambda a: abs(a[0] + a[1]).max() / 2, 1),
    "if": (cautious, lambda a: a[0, 0] * (a[0, 1] > 0), 1),
    "max(a, b)": (lambda A: max(A[0, 0], A[0, 1]), lambda a: a[0].max(), 1),
}


@pytest.mark.parametrize(("size", "hand", "most"), HAND.values(), ids=HAND)
def test_a_function_of_a_matrix_is_of_one_matrix(row, size, hand, most):
    """It is at most so many times the largest entry of a 2 × 2 matrix, and no factor is less."""
    family = matrices(rows=(2, 2), columns=(2, 2))
    true = row(lambda A: leq(size(A), most * A.abs().max()), family)
    assert (true.verdict, true.best_ratio) == ("guarded", pytest.approx(1))
    assert ("one at a time" in f"{true}") == (size in (cautious, HAND["max(a, b)"][0]))
    false = row(lambda A: leq(size(A), most / 2 * A.abs().max()), family)
    sides = re.search(r"lhs (\S+) > rhs (\S+) by", false.messages[0]).groups()
    a = false.counterexample["A"].numpy()
    by_hand = [hand(a), most / 2 * abs(a).max()]
    assert [float(side) for side in sides] == pytest.approx(by_hand, rel=1e-5)


def test_what_is_shown_is_what_was_drawn(declare, verify):
    def body(A):
        before = A[0, 0].clone()
        A[0, 0] = 0
        return leq(before, A[0, 0])

    claim = declare(body, matrices(), kind="conjecture")
    found = verify(claim, FEW).counterexample
    assert (found["A"].tolist(), found.lhs, found.rhs) == ([[1.0]], "1", "0")
    assert replay(found.certificate, claim=claim).refuted


def test_a_list_that_is_an_argument_is_as_it_was_drawn(row):
    @instances
    def lists(source):
        return ([source.tensor(2, 2) for _ in range(2)],)

    def body(factors):
        factors.append(factors[0] @ factors[1])
        a, b, product = [A.norm() for A in factors]
        return eq(len(factors), 3), leq(product, a * b)

    assert row(body, lists()).verdict == "guarded"


def remembers(A):
    CALLS.append(0)
    return leq(A.norm() + len(CALLS), 1e9)


NO_FUNCTIONS = {
    "memory": remembers,
    "memory, alone": lambda A: remembers(A * A.norm().item()),
    "torch": lambda A: leq(A.norm().item() + torch.rand_like(A), 1e9),
    "numpy": lambda A: leq(A.norm() + np.random.rand(), 1e9),  # noqa: NPY002
    "a generator of numpy": lambda A: leq(A.norm() + np.random.default_rng().random(), 1e9),
    "random": lambda A: leq(A.norm() + random.random(), 1e9),
}


@pytest.mark.parametrize("body", NO_FUNCTIONS.values(), ids=NO_FUNCTIONS)
def test_a_body_is_a_function_of_its_instance(row, body):
    failed = row(body, matrices())
    assert failed.verdict == "failed"
    assert re.search("function of|random|memory", failed.messages[0])


@instances
def seldom_singular(source, *, regular=False):
    """One matrix among 512 is zero; the others have a dominant diagonal."""
    t = source.tensor(low=0.0, high=512.0)
    source.require((t >= 1) | (not regular), "it is not zero")
    return torch.where(t < 1, 0.0, source.tensor(2, 2) + 20 * torch.eye(2, dtype=torch.float64))


def test_one_singular_matrix_among_many(row):
    def inverse(A):
        return leq(1, A.norm() * torch.linalg.inv(A).norm())

    def inverse_or(A, least):
        try:
            return inverse(A)
        except torch.linalg.LinAlgError:
            return leq(least, A.norm())

    assert row(lambda A: inverse_or(A, 0), seldom_singular()).verdict == "guarded"
    assert row(lambda A: inverse_or(A, 1), seldom_singular()).counterexample["A"].norm() == 0
    assert row(inverse, seldom_singular(regular=True)).verdict == "guarded"
    failed = row(inverse, seldom_singular())
    assert failed.verdict == "failed"
    assert "singular" in failed.messages[0]


def test_a_generator_that_draws_by_what_it_drew_is_an_error(row):
    @instances
    def branching(source):
        x = source.tensor()
        return (x, source.tensor(2)) if x > 0 else (x, source.tensor(1))

    failed = row(lambda x, y: leq(y, 9), branching())
    assert failed.verdict == "failed"
    assert "if x > 0" in failed.messages[0]


@instances
def folds(source, *, most=30):
    return source.integer(1, most), source.tensor(source.integer(2, 3))


def fibonacci(n, v):
    a, b = torch.tensor(0), torch.tensor(1)
    for _ in range(n):
        a, b = b, a + b
    return leq(a, 9 * 10**18)


@pytest.mark.parametrize(
    ("body", "family"),
    [
        (lambda m, v: leq(torch.where(v > 7, 5 * 10**18, 0).sum(), 6 * 10**18), folds()),
        (fibonacci, folds(most=93)),
    ],
    ids=["for some values", "at large shapes"],
)
def test_integers_that_wrap_on_some_instances_hide_nothing(declare, verify, body, family):
    claim = declare(body, family, kind="conjecture")
    assert verify(claim, Profile("wide", 4, 12, 512, 300, shapes=128)).verdict == "refuted"


def test_the_ends_of_the_ranges_run_one_at_a_time_too(declare, verify):
    claim = declare(lambda m, v: leq(float(v.min()), 7.5), folds(), kind="conjecture")
    found = verify(claim, Profile("wide", 0, 12, 512, 300, shapes=40, scope=2))
    assert found.verdict == "undecided"


class Unruled(torch.autograd.Function):
    """A function that torch cannot map, and says so where no function of torch is called."""

    @staticmethod
    def forward(ctx, v):
        return v.abs().max()


def falls_back(v):
    try:
        return leq(Unruled.apply(v), 7.5)
    except RuntimeError:
        return leq(torch.ones(()), 7.5)


def test_a_map_is_compared_on_numbers_that_are_no_integers(row):
    @instances
    def vectors(source):
        return source.tensor(source.integer(1, 3))

    assert row(falls_back, vectors()).verdict != "guarded"


def test_numpy_in_a_descent_raises_nothing(declare, tmp_path):
    def body(A):
        return leq(np.linalg.norm(A.numpy(), 2), A.norm() + 1e-9)

    claim = declare(body, matrices(), kind="conjecture")
    found = hunt(claim, None, rounds=2, folder=tmp_path)
    assert (found.verdict, found.counts.rejected) == ("survived", 0)
