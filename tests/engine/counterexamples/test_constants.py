"""What the floats of a body stand for: no proof rests on how one was rounded."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch

from rankcheck import eq, leq
from rankcheck.balls import BallArray, computed_constants, conventions, widths
from rankcheck.engine.counterexamples.given import NotRefutedError, from_choices
from rankcheck.engine.counterexamples.judge import judge
from rankcheck.engine.hunt import hunt
from rankcheck.engine.verification.check import verify_claim
from rankcheck.engine.verification.profiles import Profile, Settings
from rankcheck.files import shown_path
from rankcheck.linalg import schatten_norm
from rankcheck.theory.scalars import scalar

#: Each statement is true, or false on a good part of its instances.
PROFILE = Profile("few", drawn=5, batches=2, size=64, single=4, scope=1, scope_instances=100)


def product(value, count):
    result = 1
    for _ in range(count):
        result = result * value
    return result


# True statements whose constants were computed in floats, and the same in fractions.


def difference(x, *, exact=False, share=1):
    thousandth = scalar(1 - Fraction("0.999"), x) if exact else 1 - 0.999
    return leq(thousandth * x * share - x / 1000, 0)


def powers(x, *, exact=False, share=1):
    factor = scalar(product(Fraction(11, 10), 30), x) if exact else product(1.1, 30)
    meant = scalar(Fraction(11**30, 10**30), x)
    return leq(factor * x * share - meant * x, 0)


def sums(x, *, exact=False, share=1):
    total = scalar(sum([Fraction(1, 10)] * 10**3) * 1000, x) if exact else sum([0.1] * 10**6)
    return eq(total * x * share, 100000 * x)


def table(x, *, exact=False, share=1):
    thirds = x.new_tensor([1, 2]) / 3 if exact else torch.tensor([1 / 3, 2 / 3]).to(x.dtype)
    return leq(x.unsqueeze(-1) * thirds * 3 * share, torch.tensor([1, 2]) * x.unsqueeze(-1))


def counted(x, *, exact=False, share=1):
    thirds = x.new_tensor([1, 2]) / 3 if exact else (torch.arange(1, 3) / 3).double()
    return leq(x.unsqueeze(-1) * thirds * 3 * share, torch.tensor([1, 2]) * x.unsqueeze(-1))


BODIES = {body.__name__: body for body in (difference, powers, sums, table, counted)}


@pytest.fixture
def stated(declare, scalars):
    """`stated("sums", exact=True)`: the statement about a number in [1, 8], in this file."""

    def make(name, **settings):
        def body(x):
            return BODIES[name](x, **settings)

        return declare(body, scalars(low=1.0), kind="conjecture", file=Path(__file__))

    return make


def verified(claim, folder):
    return verify_claim(claim, Settings(PROFILE, seed=0, folder=folder, shrink=0))


@pytest.mark.slow
@pytest.mark.parametrize("name", BODIES)
def test_nothing_is_proved_about_a_computed_float(stated, tmp_path, name):
    row = verified(stated(name), tmp_path)
    assert row.verdict == "undecided", row.messages
    assert "a fractions.Fraction is exact" in " ".join(row.messages)
    found = hunt(stated(name), None, rounds=1, folder=tmp_path, shrink=0)
    assert found.verdict == "undecided"
    with pytest.raises(NotRefutedError, match="undecided"):
        from_choices(stated(name), [1])


@pytest.mark.parametrize("name", BODIES)
def test_the_same_in_fractions_is_true(stated, tmp_path, name):
    row = verified(stated(name, exact=True), tmp_path)
    assert row.verdict == "guarded", row.messages


@pytest.mark.parametrize("name", BODIES)
def test_what_is_false_by_more_than_the_width_is_refuted(stated, tmp_path, name):
    assert verified(stated(name, share=1.01), tmp_path).verdict == "refuted"
    assert from_choices(stated(name, share=1.01), [1]).proved


# What a message says.


def test_the_constant_and_its_line_are_named(declare, scalars, record):
    def body(x):
        share = 1 - 0.999
        return leq(share * x, x / 1000)

    claim = declare(body, scalars(), file=Path(__file__))
    place = f"{shown_path(Path(__file__))}:{body.__code__.co_firstlineno + 2}"
    reason = judge(claim, record(1.0)).reason
    assert f"0.0010000000000000009 ({place}), a computed float" in reason
    elsewhere = declare(body, scalars(), file=Path("elsewhere.py"))
    assert "0.0010000000000000009, a computed float" in judge(elsewhere, record(1.0)).reason


def test_exact_constants_are_not_named(declare, scalars, record):
    claim = declare(lambda x: leq((x * x).sqrt() * 0.1 + x * 0.5, x * 0.1 + x / 2), scalars())
    assert "float" not in judge(claim, record(3.0)).reason


# Doors by which constants and instances come in.


def wide(make):
    """The texts of the computed floats that `make` lets in beside the numbers 1 and 2."""
    with computed_constants() as found, conventions(), widths():
        make(BallArray.exact([1, 2]))
    return set(found)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.new_tensor([0.1, 0.9]) * x,
        lambda x: x.new_full((2,), 0.9),
        lambda x: torch.full_like(x, 0.1),
        lambda x: x * torch.full((2,), 0.9, dtype=torch.float64),
        lambda x: x * torch.tensor([0.1, 1e-3], dtype=torch.float64),
        lambda x: x * np.array([0.1, 0.7]),
        lambda x: x * np.float64(0.1),
        lambda x: x * torch.arange(2),
        lambda x: x * torch.arange(2.0),
        lambda x: x * torch.linspace(0, 1, 2),
        lambda x: torch.where(x > 1.1, x, 0.3),
        lambda x: x.clamp(min=1e-9),
        lambda x: x**0.3,
        lambda x: leq(x, 0.7),
        lambda x: schatten_norm(x.reshape(1, 2), 0.9),
        lambda x: torch.linalg.vector_norm(x, ord=1.1),
    ],
)
def test_written_constants_are_exact_by_each_door(make):
    assert wide(make) == set()


@pytest.mark.parametrize(
    ("make", "texts"),
    [
        (lambda x: x.new_tensor([1 / 3, 0.5]), {"0.3333333333333333"}),
        (lambda x: x.new_full((2,), 1 / 3), {"0.3333333333333333"}),
        (lambda x: x * torch.full((2,), 0.9), {"0.9"}),
        (lambda x: x * torch.full((2,), 0.9).double(), {"0.9"}),
        (lambda x: x * torch.tensor(0.9), {"0.9"}),
        (lambda x: x * torch.linspace(0, 1, 11, dtype=torch.float64)[3:5], {"0.30000000000000004"}),
        (lambda x: x * np.array([1 / 3, 1]), {"0.3333333333333333"}),
        (lambda x: x * np.float32(0.1), {"0.1"}),
        (lambda x: x * (np.longdouble(1) / 3), {str(np.longdouble(1) / 3)}),
        (lambda x: x * math.sqrt(2), {"1.4142135623730951"}),
        (lambda x: leq(x, math.pi), {"3.141592653589793"}),
        (lambda x: x * complex(0, 1 / 3), {"0.3333333333333333"}),
    ],
)
def test_computed_constants_are_not(make, texts):
    assert wide(make) == texts


def test_the_entries_of_an_instance_are_themselves(declare, scalars):
    """A number that is drawn, or typed, is the dyadic number that it is, however it looks."""
    claim = declare(lambda x: leq(x, Fraction(1, 1000)), scalars())
    violation = from_choices(claim, [1 - 0.999])
    assert violation.judgement.excess == Fraction(1 - 0.999) - Fraction(1, 1000)
    assert "float" not in violation.judgement.reason
