"""An instance as text: what is written is read back, and everything else is an error."""

import json
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rankcheck.balls import BallArray
from rankcheck.theory.instances.choices import ChoicesError, read_choices, write_choices
from rankcheck.theory.instances.drivers import BatchSource, ReplaySource
from rankcheck.theory.instances.record import Entries, Integer, Record
from rankcheck.theory.instances.source import Rejected, instances, seed_of

from .families import FAMILIES


@instances
def numbers(source, *, size=(1, 4)):
    return source.tensor(source.integer(*size)), source.tensor(low=-1.0, high=1.0)


@instances
def empty(source):
    return source.tensor(0, 3), source.tensor(3, 0), source.choice(("a", "b"))


def same(record, other):
    """Records with the same choices of the same shapes and ranges."""
    assert len(record.choices) == len(other.choices)
    for a, b in zip(record.choices, other.choices, strict=True):
        assert type(a) is type(b)
        assert (a.low, a.high) == (b.low, b.high)
        if isinstance(a, Integer):
            assert a == b
        else:
            assert a.shape == b.shape
            assert a.values.dtype == b.values.dtype == torch.float64
            assert torch.equal(a.values, b.values)
    return True


def back(family, record):
    """Written, through JSON, and read."""
    text = json.dumps(write_choices(record), allow_nan=False)
    return read_choices(family, json.loads(text))


@pytest.mark.parametrize("family", [*FAMILIES, empty()], ids=repr)
def test_what_was_swept_is_read_back(family):
    for seed in range(8):
        source = BatchSource(seed_of("choices", seed))
        try:
            family(source)
        except Rejected:
            continue
        record = source.record.instance(0)
        assert same(back(family, record), record)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_float_is_read_back(number):
    @instances
    def wide(source):
        return source.tensor(low=-1.7e308, high=1.7e308)

    number = max(-1.7e308, min(1.7e308, number))
    record = Record((Entries(torch.tensor(number, dtype=torch.float64), (), -1.7e308, 1.7e308),))
    [text] = write_choices(record)
    assert isinstance(text, int) == float(number).is_integer()
    assert float(read_choices(wide(), [text]).tensors[0]) == float(record.tensors[0])


def test_the_text():
    values = torch.tensor([[0.5, -0.0], [3.0, -0.75]], dtype=torch.float64)
    record = Record((Integer(2, 0, 3), Entries(values, (2, 2), -8.0, 8.0)))
    assert write_choices(record) == [2, [["1/2", 0], [3, "-3/4"]]]
    assert write_choices(Record(())) == []


def test_what_is_not_written():
    batch = BatchSource(0, 3)
    numbers()(batch)
    with pytest.raises(ValueError, match=r"received a batch: .* written for one instance"):
        write_choices(batch.record)
    assert same(back(numbers(), batch.record.instance(1)), batch.record.instance(1))
    for number in (math.inf, math.nan):
        values = torch.tensor(number, dtype=torch.float64)
        with pytest.raises(ValueError, match="infinite or nan"):
            write_choices(Record((Entries(values, (), -1.0, 1.0),)))


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({}, r"received \{\}; an instance is the list of what numbers\(\) draws"),
        ("[1, [1], 1]", "an instance is the list"),
        ([5], r"received 5; choice 1 of numbers\(\) is an integer in \[1, 4\]"),
        (["1"], "received '1'; choice 1"),
        ([True], "received True; choice 1"),
        ([1], r"received 1 choices, which are too few; choice 2 of .* is a tensor of shape \(1,\)"),
        ([2, [1]], r"received \[1\] in place of a list of 2; choice 2 of numbers\(\) is a tensor"),
        ([2, 1], "received 1 in place of a list of 2; choice 2"),
        ([1, [9]], r"received 9; choice 2 of .* with entries in \[-8.0, 8.0\]"),
        ([1, ["1/3"]], "received '1/3', which no float64 equals; choice 2"),
        ([10**5000], "received a number of too many digits; choice 1"),
        ([1, [10**5000]], "which no float64 equals; choice 2"),
        ([1, [10**400]], "which no float64 equals; choice 2"),
        ([1, [math.inf]], "received inf, which no float64 equals; choice 2"),
        ([1, [[1]]], r"received \[1\] in place of a number; choice 2"),
        ([1, [True]], "received True in place of a number; choice 2"),
        ([1, ["1e3"]], "received '1e3'; a number is written as a rational, like '-3/4'; choice 2"),
        ([1, [1], 2], r"received 2; choice 3 of numbers\(\) is a number in \[-1.0, 1.0\]"),
        ([1, [1], 1, [4]], r"received 4 choices, but .* draws 3; .* left over is \[4\]"),
    ],
)
def test_what_is_not_read(choices, message):
    with pytest.raises(ChoicesError, match=message):
        read_choices(numbers(), choices)


def test_hypotheses_are_checked_unless_balls_will():
    @instances
    def apart(source):
        x = source.tensor()
        source.require((x + 2**60) - 2**60 != 0, "x + 2^60 is not 2^60")
        return x

    with pytest.raises(Rejected, match="is not 2"):
        read_choices(apart(), [1])
    record = read_choices(apart(), [1], check_hypotheses=False)
    apart()(ReplaySource(record, BallArray.exact))
