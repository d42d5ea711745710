"""Claims in integers and narrow types: no true one is refuted, and most false ones are."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch

from rankcheck import eq, leq, lt
from rankcheck.engine.counterexamples.given import from_choices
from rankcheck.engine.hunt import hunt
from rankcheck.engine.verification.profiles import Profile
from rankcheck.engine.verification.search import sweep
from rankcheck.engine.verification.tally import Tally
from rankcheck.theory.instances.source import instances

HALF, BRAIN, SINGLE = torch.float16, torch.bfloat16, torch.float32


@instances
def sizes(source, *, most=40):
    """A number n, and a real number that nothing depends on."""
    n = source.integer(1, most)
    return n, source.tensor()


@instances
def vectors(source):
    return source.tensor(source.integer(1, 4))


def loop(n, dtype):
    p = torch.tensor(1, dtype=dtype)
    for k in range(1, n + 1):
        p *= k
    return p


def maxnorm(x):
    return x.abs().amax(-1)


def norm(x):
    return torch.linalg.vector_norm(x, dim=-1)


#: True statements, two of each type, and whether they have room for what the type loses.
TRUE = {
    "int64": (lambda n, x: leq(n, torch.arange(1, n + 1).prod()), True),
    "int64 powers": (lambda n, x: lt(n**2, 3 * torch.tensor(4) ** n), True),
    "int32": (lambda n, x: leq(1, loop(n, torch.int32)), True),
    "int32 sums": (
        lambda n, x: eq(
            torch.full((n,), 2**30, dtype=torch.int32).cumsum(0, dtype=torch.int32)[-1], n * 2**30
        ),
        True,
    ),
    "uint8": (lambda n, x: leq(n, torch.tensor(n, dtype=torch.uint8) * 10), True),
    "int8": (lambda n, x: leq(torch.tensor(n, dtype=torch.int8) - 100, 0), True),
    "numpy": (lambda n, x: leq(n, torch.as_tensor(np.arange(1, n + 1).prod())), False),
    "numpy int32": (lambda n, x: leq(0, torch.as_tensor(np.int32(n)) * 2**30), False),
    "float16": (lambda n, x: eq(torch.tensor(n / 3, dtype=HALF) * 3, n), False),
    "float16 norm": (lambda x: leq(maxnorm(x.half().double()), 1.01 * norm(x)), True),
    "bfloat16": (lambda x: eq(x.bfloat16().double(), x), False),
    "bfloat16 sum": (lambda n, x: leq(torch.tensor(n / 3, dtype=BRAIN), 0.4 * n), True),
    "float32": (lambda n, x: leq(16777217, torch.tensor(16777217.0) * n), False),
    "float32 norm": (lambda x: leq(norm(x.float()), 1.001 * x.abs().sum(-1) + 1e-9), True),
}

#: False statements, two of each type.
FALSE = {
    "int64": lambda n, x: leq(torch.arange(1, n + 1).prod(), 2**63 - 1),
    "int64 powers": lambda n, x: leq(torch.tensor(4) ** n, 2**62),
    "int32": lambda n, x: leq(loop(n, torch.int32), 2**31 - 1),
    "int32 sums": lambda n, x: leq(torch.full((n,), 2**30, dtype=torch.int32).sum(), 3 * 2**30),
    "uint8": lambda n, x: leq(torch.tensor(n, dtype=torch.uint8) * 10, 255),
    "int8": lambda n, x: leq(torch.tensor(n, dtype=torch.int8) * 4, 127),
    "numpy": lambda n, x: leq(torch.as_tensor(np.arange(1, n + 1).sum()), 100),
    "numpy int32": lambda n, x: leq(torch.as_tensor(np.int32(n)) * 2**30, 2**31 - 1),
    "float16": lambda n, x: leq(torch.tensor(n / 3, dtype=HALF), 0.33 * n),
    "float16 norm": lambda x: leq(norm(x.half().double()), 1.2 * maxnorm(x)),
    "bfloat16": lambda x: leq(norm(x.bfloat16()).double(), 1.2 * maxnorm(x)),
    "bfloat16 sum": lambda n, x: leq(torch.tensor(n / 3, dtype=BRAIN), 10.0),
    "float32": lambda n, x: leq(torch.tensor(16777217.0) * n, 2.0**29),
    "float32 norm": lambda x: leq(norm(x.float()), 0.999 * x.abs().sum(-1)),
}


def family(body):
    return vectors() if body.__code__.co_argcount == 1 else sizes()


@pytest.mark.parametrize("name", TRUE)
def test_no_true_statement_is_refuted(declare, verify, name):
    body, room = TRUE[name]
    row = verify(declare(body, family(body), kind="conjecture", file=Path(__file__)))
    assert row.verdict == ("guarded" if room else "undecided") or (not room and row.expected)
    if row.verdict == "undecided":
        assert "test_types.py:" in row.messages[0]


@pytest.mark.parametrize("name", FALSE)
def test_false_statements_are_refuted(declare, verify, name):
    body = FALSE[name]
    row = verify(declare(body, family(body), kind="conjecture"))
    assert row.verdict == "refuted" if name != "numpy int32" else row.verdict != "guarded"


def test_hunts_and_replays_keep_to_it_too(declare, tmp_path):
    factorial = declare(TRUE["int64"][0], sizes(), kind="conjecture")
    assert hunt(factorial, 1, 0, folder=tmp_path).verdict == "survived"
    bounded = declare(FALSE["int64"], sizes(), kind="conjecture")
    found = hunt(bounded, 5, 0, folder=tmp_path, shrink=0.1)
    assert found.verdict == "refuted"
    [instance] = [from_choices(bounded, [21, 0])]
    assert instance.in_balls.lhs.lower() == math.factorial(21)
    assert instance.in_balls.excess == Fraction(math.factorial(21) - 2**63 + 1)


def test_a_row_says_which_line_wraps(declare, verify):
    row = verify(declare(TRUE["int64"][0], sizes(), kind="conjecture"))
    assert any("prod of torch.int64" in one for one in row.arithmetic)
    assert verify(declare(TRUE["int64"][0], sizes(most=20), kind="conjecture")).arithmetic == ()


def test_a_control_is_not_caught_where_nothing_fails(declare):
    """Integers wrap, balls have no form of what follows, and floats satisfy the statement."""

    def body(n, x):
        product = torch.arange(1, n + 31).prod()
        return leq(-1, torch.special.bessel_j0(0 * product.double()) + 0 * x)

    claim, small = declare(body, sizes()), Profile("small", drawn=4, batches=2, size=8, single=2)
    assert sweep(claim, claim.instances, small, 0, Tally(), proof=True) is None
    undecided = sweep(claim, claim.instances, small, 0, Tally())
    assert undecided is not None  # the claim itself is not said to hold
    assert not undecided.conclusive
