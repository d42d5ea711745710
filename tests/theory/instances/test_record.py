"""Records as exact JSON: what was written is read back, and everything else is an error."""

import json
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rankcheck.text import rational_text
from rankcheck.theory.instances.record import Entries, Integer, Record, exact_float


def entries(values, low=-8.0, high=8.0):
    values = torch.tensor(values, dtype=torch.float64)
    return Entries(values, tuple(values.shape), low, high)


RECORD = Record((Integer(2, 1, 5), entries([[0.1, -0.0], [3.0, -8.0]]), entries(0.5, 0.0, 1.0)))


def test_json_and_back():
    text = json.dumps(RECORD.to_json())
    again = Record.from_json(json.loads(text))
    assert again.to_json() == RECORD.to_json()
    assert again.integers == RECORD.integers
    for a, b in zip(again.tensors, RECORD.tensors, strict=True):
        assert torch.equal(a, b)
        assert a.dtype == torch.float64
    assert [c.low for c in again.choices] == [c.low for c in RECORD.choices]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_read_back(value):
    text = rational_text(value)
    assert Fraction(text) == Fraction(value)
    assert exact_float(text) == value


def test_empty_tensors_keep_their_shape():
    record = Record((Entries(torch.zeros(0, 3, dtype=torch.float64), (0, 3), -1.0, 1.0),))
    assert Record.from_json(record.to_json()).tensors[0].shape == (0, 3)


@pytest.mark.parametrize(
    "text",
    [
        "1e3", "1e999999999", "0.1", "1/3", "1/0", "nan", "inf", "", " 1", "1 ", "1_0", "+1", "--1",
        "1/-2", "0x10", "١", "1" * 2501, "1" + "0" * 400, str(2**53 + 1), 1, 0.5, None, True,
    ],
)  # fmt: skip
def test_what_is_no_float(text):
    with pytest.raises(ValueError, match=r"a number is written|no float64 equals"):
        exact_float(text)


INTEGER = {"integer": 1, "low": 0, "high": 2}
TENSOR = {"tensor": ["1", "1/2"], "shape": [2], "low": "-8", "high": "8"}


@pytest.mark.parametrize(
    ("item", "rule"),
    [
        (None, "a choice is"),
        ([], "a choice is"),
        ({"integer": 1}, "a choice is"),
        (INTEGER | {"more": 1}, "a choice is"),
        (INTEGER | {"integer": 3}, "low <= integer <= high"),
        (INTEGER | {"integer": True}, "low <= integer <= high"),
        (INTEGER | {"integer": 1.0}, "low <= integer <= high"),
        (INTEGER | {"low": "0"}, "low <= integer <= high"),
        (TENSOR | {"shape": [3]}, "has 3 entries"),
        (TENSOR | {"shape": 2}, "a shape is"),
        (TENSOR | {"shape": [-2]}, "a shape is"),
        (TENSOR | {"shape": [True, 2]}, "a shape is"),
        (TENSOR | {"shape": [10**12, 10**12]}, "has 1000000000000000000000000 entries"),
        (TENSOR | {"tensor": [], "shape": [0, 2**31 + 1]}, "an axis is at most 2147483648 long"),
        (TENSOR | {"tensor": "12"}, "has 2 entries"),
        (TENSOR | {"tensor": ["1", "9"]}, r"the entries lie in \[-8"),
        (TENSOR | {"tensor": ["1", "1e3"]}, "a number is written"),
        (TENSOR | {"tensor": [1, 2]}, "a number is written"),
        (TENSOR | {"low": -8}, "a number is written"),
    ],
)
def test_what_is_no_choice(item, rule):
    with pytest.raises(ValueError, match=rule):
        Record.from_json([item])


def test_what_is_no_record():
    with pytest.raises(ValueError, match="received dict; a record is a list of choices"):
        Record.from_json({})
    assert Record.from_json([]).choices == ()


def test_other_entries_for_a_record():
    batch = Record((Integer(1, 0, 3), Entries(torch.arange(6.0).reshape(3, 2), (2,), -8.0, 8.0)))
    assert batch.instance(2).tensors[0].tolist() == [4.0, 5.0]
    assert batch.select(torch.tensor([2, 0])).tensors[0].tolist() == [[4.0, 5.0], [0.0, 1.0]]
    leaves = batch.with_tensors([t.requires_grad_() for t in batch.tensors])
    assert not leaves.detach().tensors[0].requires_grad
    assert leaves.tensors[0].requires_grad
    with pytest.raises(ValueError, match="received 2 tensors for a record that has 1"):
        batch.with_tensors([torch.zeros(2), torch.zeros(2)])
    with pytest.raises(ValueError, match="received 0 tensors for a record that has 1"):
        batch.with_tensors([])
