"""A Python value of what is drawn is found wherever the line stands, and nothing else is."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from rankcheck import leq
from rankcheck.engine.hunt.run import hunt
from rankcheck.engine.verification.batching import check_batching
from rankcheck.engine.verification.branches import BatchError, check_branches
from rankcheck.engine.verification.check import verify_claim
from rankcheck.engine.verification.profiles import Profile, Settings
from rankcheck.instances import matrices, networks_at_points
from rankcheck.linalg import frobenius_squared, operator_norm, rank, schatten_power
from rankcheck.regions import regions
from rankcheck.theory.instances.drivers import BatchSource
from rankcheck.theory.instances.source import instances

SMALL = Profile("small", drawn=5, batches=8, size=64, single=12, scope=0)


@instances
def squares(source, *, size=(2, 4)):
    n = source.integer(*size)
    return source.tensor(n, n)


def bound(A):
    return leq(frobenius_squared(A), 1e9)


def holds(value, A):
    """A relation that needs a Python value, after some of it was computed."""
    return leq(frobenius_squared(A), 1e9 if value else 2e9)


def loops(A):
    x = A.abs().sum()
    while x > 1:
        x = x / 2
    return bound(A)


def swallows(A):
    try:
        larger = bool((A > 0).all())
    except ValueError:
        larger = False
    return holds(larger, A)


def in_place(A):
    B = torch.zeros(2)
    B[0] = A.sum()
    return holds(B[0] > 0, A)


def by_gradient(A):
    x = A.clone().requires_grad_()
    (slope,) = torch.autograd.grad((x * x).sum(), x)
    return holds((slope > 0).all(), A)


CAUGHT: dict[str, Any] = {
    "if": lambda A: bound(A) if (A > 0).all() else bound(-A),
    "and": lambda A: holds(A.shape[-1] > 1 and (A > 0).all(), A),
    "or": lambda A: holds((A > 0).any() or False, A),
    "not": lambda A: holds(not (A > 0).any(), A),
    "while": loops,
    "max": lambda A: leq(max(A.sum(), A.abs().sum()), 1e9),
    "any": lambda A: holds(any(A.reshape(-1) > 0), A),
    "in": lambda A: holds(0.0 in A, A),
    "equal": lambda A: holds(torch.equal(A, A.mT), A),
    "allclose": lambda A: holds(torch.allclose(A, A.mT), A),
    "is_nonzero": lambda A: holds(A.sum().is_nonzero(), A),
    "item": lambda A: leq(frobenius_squared(A), 1e9 + A.sum().item()),
    "float": lambda A: leq(frobenius_squared(A), 1e9 + float(A.sum())),
    "int": lambda A: leq(frobenius_squared(A), 10**9 + int(A.sum())),
    "complex": lambda A: leq(frobenius_squared(A), 1e9 + complex(A.sum()).real),
    "math": lambda A: leq(frobenius_squared(A), 1e9 + math.sin(A.sum())),
    "range": lambda A: leq(frobenius_squared(A), 1e9 + len(range((A > 0).sum()))),
    "slice": lambda A: leq(frobenius_squared(A[..., : (A > 0).any().long() + 1]), 1e9),
    "tolist": lambda A: leq(frobenius_squared(A), 1e9 + len(A.tolist())),
    "numpy": lambda A: leq(torch.from_numpy(A.numpy()).abs().amax((-2, -1)), 1e9),
    "numpy function": lambda A: leq(torch.as_tensor(np.abs(A)).amax((-2, -1)), 1e9),
    "nonzero": lambda A: leq(frobenius_squared(A), 1e9 + len((A > 0).nonzero())),
    "iteration": lambda A: leq(frobenius_squared(A), 1e9 + sum(1 for _ in (A > 0).nonzero())),
    "where": lambda A: leq(frobenius_squared(A), 1e9 + torch.where(A > 0)[0].shape[0]),
    "mask": lambda A: leq(frobenius_squared(A), 1e9 + A[A > 0].numel()),
    "mask of a mask": lambda A: leq(frobenius_squared(A), 1e9 + len(A[A > 0].abs() + 1)),
    "unique": lambda A: leq(frobenius_squared(A), 1e9 + torch.unique(A).size(0)),
    "what rankcheck computed": lambda A: holds((rank(A) > 1).all(), A),
    "swallowed": swallows,
    "in place": in_place,
    "gradient": by_gradient,
}


@pytest.mark.parametrize("body", CAUGHT.values(), ids=CAUGHT)
def test_every_form_is_caught(declare, body):
    with pytest.raises(BatchError, match=r"test_branches\.py:.*(drawn|that values select)"):
        check_batching(declare(body, squares()))


def by_shape(A):
    n = A.shape[-1]
    if n > 2 and A.ndim >= 2 and len(A.shape) and A.dtype == torch.float64 and not A.is_cuda:
        return bound(A)
    return leq(frobenius_squared(A[..., : max(1, n - 1)]), 1e9)


def by_constants(A):
    n = A.shape[-1]
    steps = torch.arange(n).sum().item() + float(torch.eye(n).sum()) + len(torch.ones(n).nonzero())
    like = A.new_ones(n).sum() + torch.zeros_like(A).sum() + torch.full_like(A, 2.0).mean()
    near = torch.tensor(2.0).to(A)
    table = np.linspace(0, 1, n).tolist()
    if like > 1 and near > 1 and steps > 0 and table:
        return bound(A)
    return bound(-A)


def by_constant_masks(A):
    off = ~torch.eye(A.shape[-1], dtype=torch.bool)
    rest = A[..., off]
    return leq(rest.square().sum(-1), 1e9 + rest.shape[-1])


def rows_and_columns(A):
    rows = sum(row.abs().amax(-1) for row in A.unbind(-2))
    return leq(rows, 8 * len(A.unbind(-1)))


def replaced(A):
    B = A.clone()
    B[B > 0] = 0
    return leq(B.amax((-2, -1)) + 0 * B.shape[-1], 0.0)


def selected(A):
    clear = torch.where(A[..., :1, :] > 0, A[..., :, :1], 0.0)
    return leq(clear.square().sum((-2, -1)), 1e9 + clear.shape[-1], where=A.sum((-2, -1)) > 0)


def by_rankcheck(A):
    return leq(rank(A), A.shape[-1]), leq(schatten_power(A, 1), 1e9), leq(operator_norm(A), 1e9)


def by_depth(net, x):
    return leq(net.cost() if net.depth > 1 and max(net.widths) > 1 else net.cost() * 2, 1e9)


LEGAL = [by_shape, by_constants, by_constant_masks, rows_and_columns, replaced, selected]


@pytest.mark.parametrize("body", [*LEGAL, by_rankcheck, by_depth], ids=lambda body: body.__name__)
def test_shapes_constants_and_functions_of_rankcheck_are_no_branches(declare, body):
    claim = declare(body, networks_at_points() if body is by_depth else squares())
    assert claim.relations(claim.instances(BatchSource(0, 3)))
    check_batching(claim)


def test_no_batch_may_branch(declare):
    for body in (CAUGHT["if"], CAUGHT["item"], CAUGHT["numpy"]):
        check_batching(declare(body, squares(), no_batch="for the test"))


def test_rankcheck_looks_at_values_where_it_knows_how(declare):
    """The regions of a network are counted in Python, from its entries."""

    def body(net, x):
        return leq(len(regions(net, -1.0, 1.0)), 10**9)

    found = declare(body, networks_at_points(depth=(2, 2), width=(2, 2)))
    source = BatchSource(1, None)
    assert found.relations(found.instances(source))
    check_branches(found, found.instances, source.record, (), set())


@instances
def sorted_by_hand(source):
    A = source.tensor(2, 2)
    return A if float(A.sum()) > 0 else -A


@instances
def until_positive(source):
    x = source.tensor()
    source.require(bool((x > 0).all()), "positive")
    return x


def test_a_generator_is_watched_too(declare):
    with pytest.raises(BatchError, match=r"with sorted_by_hand\(\): .*`return A if float"):
        check_batching(declare(bound, sorted_by_hand()))
    with pytest.raises(BatchError, match="takes the truth value"):
        check_batching(declare(lambda x: leq(x, 9.0), until_positive()))
    with pytest.raises(BatchError, match="sorted_by_hand"):
        check_batching(declare(bound, matrices(), tight=sorted_by_hand()))


def behind_a_shape(A):
    if A.shape[-1] == 37 and (A > 0).all():
        return leq(0 * frobenius_squared(A), -1.0)
    return leq(0 * frobenius_squared(A), 1.0)


@instances
def seldom_large(source):
    """A shape that the first batches do not have."""
    n = 37 if source.integer(0, 7) == 3 else 2
    return source.tensor(n, n)


def test_sweeps_and_hunts_look_at_every_shape(declare, tmp_path):
    """The shape is none of those that are compared before the sweep."""
    claim = declare(behind_a_shape, seldom_large(), kind="conjecture")
    seed = next(seed for seed in range(9) if passes(claim, seed))
    row = verify_claim(claim, Settings(SMALL, seed, folder=tmp_path))
    assert row.verdict == "failed"
    assert "takes the truth value of what is drawn" in row.messages[0]
    with pytest.raises(BatchError, match=r"if A\.shape"):
        hunt(claim, None, seed, rounds=3, folder=tmp_path, scope=0)


def passes(claim, seed):
    try:
        check_batching(claim, seed)
    except BatchError:
        return False
    return True
