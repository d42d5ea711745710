"""Texts of numbers read back exactly; certificates pin the forms of the rest."""

from dataclasses import dataclass
from fractions import Fraction

import pytest
import torch
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from rankcheck.balls import BallArray, precision
from rankcheck.linalg import operator_norm
from rankcheck.networks import Network
from rankcheck.text import (
    array_text,
    ball_text,
    number_text,
    rational_text,
    short_text,
    value_text,
)

INTEGERS = st.integers() | st.sampled_from([2**53 + 1, 10**400])


@pytest.mark.parametrize("text", [number_text, value_text])
@given(value=st.floats(allow_nan=False) | INTEGERS | st.fractions())
def test_every_number_reads_back(text, value):
    assert type(value)(text(value)) == value


@given(value=st.floats(allow_nan=False, allow_infinity=False) | st.fractions())
def test_numbers_as_rationals(value):
    assert Fraction(rational_text(value)) == Fraction(value)


@pytest.mark.parametrize("text", [number_text, value_text, lambda x: ball_text(x, 128)])
@given(value=st.fractions())
def test_every_rational_of_a_proof_reads_back(text, value):
    assert Fraction(text(fmpq(value.numerator, value.denominator))) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-0.0, "0"),
        (1.0, "1"),
        (0.1, "0.1"),
        (2.0**53, "9007199254740992"),
        (1e16, "1e+16"),
        (float("inf"), "inf"),
        (7, "7"),
        (Fraction(-1, 3), "-1/3"),
        (fmpq(2, 3), "2/3"),
        (arb(2, 0.5), "[2e+0 +/- 0.501]"),
    ],
)
def test_one_number(value, text):
    assert number_text(value) == text


@pytest.mark.parametrize("bits", [64, 128, 512])
def test_ball_texts_contain_the_ball(bits):
    with precision(bits):
        root = arb(2).sqrt()
        for text in (number_text(root), ball_text(root, bits)):
            assert arb(text).contains(root)
        assert ball_text(BallArray.exact(2).sqrt(), bits) == ball_text(root, bits)
        assert float(arb(ball_text(root, bits)).rad()) < 2.0 ** (8 - bits)


def test_short_texts():
    assert short_text(fmpq(3, 4)) == "3/4"
    assert short_text(arb("0.5")) == "0.5"
    assert short_text(arb.nan()) == "unknown"
    assert short_text(fmpq(10**40, 3), 5) == "3.3333e+39…"
    with precision(128):
        text = short_text(arb(2).sqrt())
    assert text.startswith("1.414213562… ± ")


def test_arrays():
    generator = torch.Generator().manual_seed(17)
    x = torch.randn(3, 4, dtype=torch.float64, generator=generator)
    x = x * torch.logspace(-30, 30, 4).double()
    assert torch.equal(torch.tensor(eval(array_text(x)), dtype=torch.float64), x)
    assert array_text(x.requires_grad_()) == array_text(x.detach().numpy())
    assert array_text(torch.tensor(2.0)) == "2"
    assert array_text(torch.zeros(0, 3)) == "[]"
    assert array_text(BallArray.exact([[1, Fraction(1, 3)]])) == "[[1, 1/3]]"


@dataclass
class Pair:
    first: object
    second: object


def test_structures():
    assert value_text(torch.tensor([[1.0, -0.5], [0.1, 2.0**60]], dtype=torch.float64)) == (
        "[[1, -0.5], [0.1, 1.152921504606847e+18]]"
    )
    assert value_text([1, Fraction(2, 3), True, None, "s"]) == "[1, 2/3, True, None, s]"
    assert value_text({"a": (1, 2)}) == "{a: [1, 2]}"
    assert value_text(operator_norm) == "operator_norm"
    assert value_text(object()) == "object"
    assert value_text(Network.of([[[1.0]]])) == "depth 1, slope 0, W_1 = [[1]], b_1 = [0]"
    assert value_text(Pair(1.5, (2,))) == "Pair(first=1.5, second=[2])"
    assert value_text(torch.tensor(2.0**53)) == "9007199254740992.0"
    root = BallArray.exact([4, 2]).sqrt()
    assert value_text({"r": root}).startswith("{r: [2, 1.414213562… ± ")
