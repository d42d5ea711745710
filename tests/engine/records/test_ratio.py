"""What balls prove of the ratio of a bound, and of the deviation of an identity."""

from fractions import Fraction

import pytest
import torch

from rankcheck import eq, leq, lt
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.records.ratio import NotCertifiedError, OutsideError, attained
from rankcheck.theory.instances.choices import read_choices
from rankcheck.theory.instances.source import instances


@instances
def positive(source):
    x = source.tensor()
    source.require(x > 0, "x is positive")
    return x


@pytest.fixture
def at(declare, scalars):
    """`at(body, 2, ...)`: what is attained at a list of numbers."""

    def make(body, *given):
        family = scalars(count=len(given))
        claim = declare(body, family)
        return attained(Instance(claim, family, read_choices(family, list(given))))

    return make


def test_the_ratio_of_a_bound_is_exact_where_its_sides_are(at):
    [one] = at(lambda x: leq(x, 3 * x + 1, label="a"), 2)
    assert (one.low, one.high, one.lhs, one.rhs) == (Fraction(2, 7), Fraction(2, 7), 2, 7)
    assert (one.name, one.number, one.kind, one.refutes) == ("a", 0, "leq", False)
    assert (one.written, one.text(4)) == ("0.28571428571428571", "0.2857")
    assert one.written_high == "0.28571428571428572"


def test_the_ends_enclose_the_ratio(at):
    [one] = at(lambda x: leq(x * (2 / 3), x), 3)
    assert one.low < Fraction(2, 3) < one.high
    [one] = at(lambda x: leq(x.sqrt(), x), 2)
    assert one.low**2 < Fraction(1, 2) < one.high**2
    assert one.high - one.low < Fraction(1, 2**80)


def test_a_side_that_nearly_cancels_takes_more_bits(at):
    [one] = at(lambda x: leq((x.sqrt() + 2.0**100) - 2.0**100, x), 2)
    assert one.bits > 128
    assert one.high - one.low < Fraction(1, 2**80)


def test_the_largest_entry_counts(at):
    [one] = at(lambda x, y: leq(torch.stack((x, y), -1), 4), 1, 3)
    assert one.low == Fraction(3, 4)


def test_what_refutes(at):
    over, even, strict, off, equal = at(
        lambda x: (leq(2 * x, x), leq(x, x), lt(x, x), eq(x, 2 * x), eq(x, x)), 1
    )
    assert (over.low, over.refutes) == (2, True)
    assert (even.low, even.refutes) == (1, False)
    assert (strict.low, strict.refutes) == (1, True)
    assert (off.low, off.refutes) == (Fraction(1, 2), True)
    assert (equal.low, equal.high, equal.refutes) == (0, 0, False)


def test_what_has_no_ratio_is_left_out(at):
    """A right side that is not positive, a hypothesis that is false."""
    [one] = at(
        lambda x: (
            leq(x, 0 * x),
            leq(-3 * x, -x),
            leq(x, 2 * x, where=x > 7),
            leq(-x, x),
        ),
        1,
    )
    assert (one.name, one.low) == ("relation 4", -1)


def test_a_float_artefact_is_no_ratio(declare, scalars):
    """Floats round the left side to multiples of four: 4/6 in place of 3/6."""
    claim = declare(lambda x: leq((x + 2.0**54) - 2.0**54, 2 * x), scalars())
    instance = Instance(claim, scalars(), read_choices(scalars(), [3]))
    [in_floats] = instance.relations
    assert float(in_floats.lhs / in_floats.rhs) > 0.66
    [one] = attained(instance)
    assert (one.low, one.high) == (Fraction(1, 2), Fraction(1, 2))


def test_nothing_is_certified(at, declare):
    with pytest.raises(NotCertifiedError, match="nothing is certified at this instance"):
        at(lambda x: leq(torch.special.i0e(x), 2), 1)
    record = read_choices(positive(), [-1], check_hypotheses=False)
    claim = declare(lambda x: leq(x, 9), positive())
    with pytest.raises(OutsideError, match="does not satisfy the hypotheses of"):
        attained(Instance(claim, positive(), record))
