"""Bodies and generators that are not functions of one instance are caught before any verdict."""

import random
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from rankcheck import eq, leq
from rankcheck.engine.verification.batching import check_batching
from rankcheck.engine.verification.branches import BatchError
from rankcheck.engine.verification.check import verify_claim
from rankcheck.engine.verification.profiles import Profile, Settings
from rankcheck.engine.verification.stages import from_search
from rankcheck.instances import matrices, networks_at_points
from rankcheck.linalg import frobenius_squared, nuclear_norm, rank
from rankcheck.theory.instances.source import instances


def frobenius_norm(A):
    return frobenius_squared(A).sqrt()


SMALL = Profile("small", drawn=20, batches=8, size=64, single=12)


@instances
def squares(source, *, count=1, size=(2, 4)):
    n = source.integer(*size)
    return tuple(source.tensor(n, n) for _ in range(count))


def commutator(A, B):
    return leq((A @ B - B @ A).norm(), 2 ** (1 / 2) * frobenius_norm(A) * frobenius_norm(B))


def sorted_along_the_batch(A):
    x = A[..., 0, 0]
    return leq(x.sort(0).values if x.ndim else x, 8.0)


def shifted_along_the_batch(A):
    x = frobenius_norm(A)
    return leq(x.roll(1, 0) if x.ndim else x, 100.0)


MIXED: dict[str, Any] = {
    "centred": lambda A: leq(frobenius_squared(A - A.mean(0)), frobenius_squared(A)),
    "normalised": lambda A: leq(frobenius_norm(A / A.norm()), 1.0),
    "summed": lambda A: leq(A.sum(), 100.0),
    "largest": lambda A: leq(A.max(), 8.0),
    "a stray axis": lambda A: leq(frobenius_norm(A).unsqueeze(-1), nuclear_norm(A)),
    "a leading axis": lambda A: leq(frobenius_norm(A).unsqueeze(0), 100.0),
    "sorted": sorted_along_the_batch,
    "shifted": shifted_along_the_batch,
    "tolerance": lambda A: leq(frobenius_norm(A), 100.0, scale=1000 * frobenius_norm(A).max()),
}


@pytest.mark.parametrize("body", MIXED.values(), ids=MIXED)
def test_a_body_that_mixes_instances_is_an_error(declare, body):
    for seed in range(2):
        with pytest.raises(BatchError, match=r"t\.made-up, with squares\(\): .*dim=\(-2, -1\)"):
            check_batching(declare(body, squares()), seed)


def test_the_batch_axis_comes_first(declare):
    """A body that moves the axis leaves each instance as it is."""
    claim = declare(lambda A: leq(A.diagonal(0, -2, -1).movedim(-1, 0), 8.0), squares())
    with pytest.raises(BatchError, match=r"have the shape .* for a batch of 7 .* comes first"):
        check_batching(claim)


def test_a_mixed_mask_is_an_error(declare):
    """All instances but one are above the mean in one batch or the other."""

    def body(A):
        x = A[..., 0, 0]
        return leq(x, 8.0, where=x <= x.mean())

    with pytest.raises(BatchError, match=r"where= of relation 1 is (True|False)"):
        check_batching(declare(body, squares()))


def test_no_batch_is_the_other_mend(declare):
    for body in MIXED.values():
        check_batching(declare(body, squares(), no_batch="for the test"))


@instances
def centred_matrices(source):
    A = source.tensor(3, 2)
    return A - A.mean(0)


@instances
def required_of_the_batch(source):
    A = source.tensor(2)
    source.require(A.sum() > 0, "the sum is positive")
    return A


@dataclass(frozen=True)
class Pair:
    first: torch.Tensor
    others: dict[str, list[torch.Tensor]]


@instances
def pairs(source, *, mixed=False):
    A = source.tensor(2, 2)
    return ((Pair(A, {"a": [A, A / (A.norm() if mixed else 2)]}), None),)


def test_the_tight_family_is_checked_too(declare):
    claim = declare(lambda A: leq(frobenius_squared(A), 1e9), squares(), tight=centred_matrices())
    with pytest.raises(BatchError, match="with centred_matrices"):
        check_batching(claim)


RANDOM: list[Any] = [
    lambda A: leq(frobenius_norm(A + torch.randn_like(A)), 1e9),
    lambda A: leq(frobenius_norm(A) + float(np.random.rand()), 1e9),  # noqa: NPY002
    lambda A: leq(frobenius_norm(A) + random.random(), 1e9),
]


@pytest.mark.parametrize("no_batch", [None, "for the test"])
@pytest.mark.parametrize("number", range(len(RANDOM)))
def test_a_random_body_is_an_error(declare, number, no_batch):
    before = (torch.get_rng_state(), random.getstate(), np.random.get_state()[1].copy())  # noqa: NPY002
    with pytest.raises(BatchError, match="when the same instances are evaluated again"):
        check_batching(declare(RANDOM[number], squares(), no_batch=no_batch))
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == random.getstate()
    assert (before[2] == np.random.get_state()[1]).all()  # noqa: NPY002


@instances
def random_matrices(source):
    return source.tensor(2, 2) + torch.rand(2, 2, dtype=torch.float64)


@instances
def randomly_required(source):
    x = source.tensor()
    source.require(torch.rand_like(x) > 0.5, "by chance")
    return x


@instances
def doubled(source):
    return source.tensor(2, 2).mul_(2)


@instances
def of_a_random_size(source):
    n = random.randint(2, 4)
    return source.tensor(n, n)


@instances
def large(source):
    x = source.tensor(3)
    source.require(x.abs().amax(-1) > 4, "an entry is large")
    return x / x.max()


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (centred_matrices(), r"with centred_matrices\(\): A is .* beside other instances"),
        (required_of_the_batch(), r"an instance is (in|out)side the hypotheses in a batch"),
        (pairs(mixed=True), r"A\[0\].others\['a'\]\[1\] is "),
        (large(), r"with large\(\): A\b"),  # larger entries meet what small ones break
        (random_matrices(), "A is .* when the same instances are evaluated again"),
        (randomly_required(), "satisfy other hypotheses"),
        (of_a_random_size(), "is random"),
        (doubled(), "the generator changed a tensor that it drew"),
    ],
)
def test_a_generator_that_is_no_function_of_one_instance_is_an_error(declare, family, message):
    with pytest.raises(BatchError, match=message):
        check_batching(declare(lambda A: leq(0, 1), family))


@pytest.mark.parametrize("no_batch", [None, "for the test"])
def test_a_body_with_a_memory_is_an_error(declare, no_batch):
    calls: list[int] = []

    def body(A):
        calls.append(0)
        return leq(frobenius_norm(A) + len(calls), 1e9)

    with pytest.raises(BatchError, match="it is random or has a memory"):
        check_batching(declare(body, squares(), no_batch=no_batch))


def test_a_body_that_remembers_by_the_shape_is_an_error(declare):
    known: dict[tuple[int, ...], torch.Tensor] = {}

    def remembers(A):
        return leq(known.setdefault(tuple(A.shape), frobenius_norm(A)), 1e9)

    with pytest.raises(BatchError):
        check_batching(declare(remembers, squares()))


@pytest.mark.parametrize("no_batch", [None, "for the test"])
def test_a_body_that_changes_its_arguments_is_an_error(declare, no_batch):
    def body(A):
        return leq(frobenius_norm(A.mul_(2)), 1e9)

    with pytest.raises(BatchError, match=r"the body changed its argument A from .* to"):
        check_batching(declare(body, squares(), no_batch=no_batch))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda A: leq(A.sum((1, 2)), 1e9), "with and without batch axes"),
        (lambda A: leq(A.reshape(A.shape[-2:]).sum((-2, -1)), 1e9), "each of them alone does not"),
    ],
)
def test_a_body_for_batches_or_for_instances_only_is_an_error(declare, body, message):
    with pytest.raises(BatchError, match=message):
        check_batching(declare(body, squares()))


@instances
def often_singular(source):
    """Half of the matrices are singular, and the inverse raises for the batch."""
    A = source.tensor(2, 2)
    return A * (source.tensor() > 0)[..., None, None]


def test_singular_members_do_not_hide_what_is_mixed(declare):
    claim = declare(lambda A: leq(torch.linalg.inv(A).norm(), 1e9), often_singular())
    for seed in range(3):
        with pytest.raises(BatchError, match="lhs of relation 1"):
            check_batching(claim, seed)


def edge(x, *, exact_alone=False):
    """A number that is zero up to rounding, which differs in a batch and alone."""
    zero = 1e-18 * torch.sin(1e12 * x) * (1 if x.ndim else 0 if exact_alone else -1)
    return leq(torch.where(zero > 0, 1.0, 0.0), 1.0, where=zero > 0)


@instances
def numbers(source):
    return source.tensor()


@instances
def barely_positive(source):
    x = source.tensor()
    source.require(torch.sin(1e12 * x) * (1 if x.ndim else -1) > 0, "rounding says so")
    return x


CORRECT: list[Any] = [
    (edge, numbers()),
    (partial(edge, exact_alone=True), numbers()),
    (lambda x: leq(x, 9.0), barely_positive()),
    (lambda A: leq(frobenius_norm(torch.linalg.inv(A)), 1e9), often_singular()),
    (lambda A: leq(nuclear_norm(A), 9e9), matrices()),
    (lambda A: eq(rank(A), rank(A.mT)), matrices()),
    (lambda net, x: leq(net.cost(), 9e9), networks_at_points()),
    (lambda A: leq(A.abs(), 8.0), matrices()),
    (lambda A: leq(A.shape[-1], 4), matrices()),
    (lambda A: leq(0, 1), pairs()),
    (lambda A: leq(0 / (frobenius_norm(A) - frobenius_norm(A)), 1.0), matrices()),
]


@pytest.mark.parametrize(("body", "family"), CORRECT)
def test_correct_claims_are_not_accused(declare, body, family):
    for seed in range(3):
        check_batching(declare(body, family), seed)


def test_verify_fails_the_claim_and_certify_refuses_it(declare, tmp_path):
    claim = declare(commutator, squares(count=2), kind="conjecture")
    row = verify_claim(claim, Settings(SMALL, folder=tmp_path))
    assert (row.verdict, row.expected) == ("failed", False)
    assert row.messages[0].startswith("t.made-up, with squares(count=2): lhs of relation 1 is ")
    assert row.counts.total == 0
    with pytest.raises(BatchError):
        from_search(claim, Settings(SMALL))


# The last digits of a batch are no mixing.


@instances
def positive(source):
    n = source.integer(1, 4)
    return source.tensor(n, low=0.0)


def test_last_digits_that_a_batch_has_and_an_instance_has_not_are_no_mixing(declare):
    """The sides cancel, and four of five moves leave the digits that are left as they are."""

    def body(x):
        # As of a `pow` in two implementations: one for many numbers, and one for few.
        digits = torch.sin(1e13 * x)
        many = 2.0**-53 * torch.where(digits > -0.8, 1.0, 0.0)
        return leq(x * 0 + (many if x.ndim > 1 else 0 * many), 0.0)

    def root(x):
        return leq((x**3) ** (1 / 3) - x, 0.0)

    for seed in range(10):
        check_batching(declare(body, positive()), seed)
        check_batching(declare(root, positive()), seed)
