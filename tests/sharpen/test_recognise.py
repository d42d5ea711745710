"""Constants that are recognised, and random numbers that are not; mpmath reads the texts again."""

from __future__ import annotations

import random
import re
from fractions import Fraction

import mpmath
import pytest

from rankcheck.faces.report.markup import convertible
from rankcheck.sharpen.recognise import LooksLike, recognise

CONSTANTS = (
    "1", "1/2", "10/9", "7/12", "27/16", "127/128", "√2", "√3/2", "(1+√2)/2", "(1+√5)/2", "2−√3",
    "3−2·√2", "(3+√5)/4", "√2+√3", "√(2−√2)", "2^(1/4)", "4^(1/3)", "3/(2·4^(1/3))", "2·√6/9",
    "3·(4^(1/3)−1)/2", "2/(3·(4^(1/3)−1))", "2/(5·(4^(1/5)−1))", "log 2", "log(3/2)", "1/log 2",
    "log 3/log 2", "(1+log 2)/2", "log(10/3)/2", "π", "π/4", "2/π", "π^2/6", "π/(2·√3)", "√(2/π)",
    "1/√(2·π)", "4/π−1", "π−3", "e/2", "1/e", "1−1/e", "√e", "1/(√2·e)", "e/π", "√(π·e/2)",
    "1/√(2·π·e)",
)  # fmt: skip


def read(text: str) -> mpmath.mpf:
    """The value of a plain text, by mpmath."""
    if root := re.fullmatch(r"the root (\S+) of (.+)", text):
        near, polynomial = root.groups()
        return mpmath.findroot(lambda x: _evaluated(polynomial, x), mpmath.mpf(near))
    return _evaluated(text)


def _evaluated(text: str, x: object = None) -> mpmath.mpf:
    text = re.sub(r"√(\d+|[πe])", r"√(\1)", text)
    text = re.sub(r"log (\d+)", r"log(\1)", text)
    text = re.sub(r"(?<![\w.])(\d+)", r"N(\1)", text)
    for mark, meant in {"√": "sqrt", "·": "*", "−": "-", "^": "**", "π": "pi"}.items():
        text = text.replace(mark, meant)
    names = {"sqrt": mpmath.sqrt, "log": mpmath.log, "pi": +mpmath.pi, "e": +mpmath.e, "x": x}
    return eval(text, {"N": mpmath.mpf, **names})


def rounded_down(value: mpmath.mpf, digits: int) -> Fraction:
    """A decimal of so many digits below a positive number."""
    places = digits - 1 - int(mpmath.floor(mpmath.log10(value)))
    return Fraction(int(mpmath.floor(value * mpmath.mpf(10) ** places))) / Fraction(10) ** places


def looks_like(low: Fraction, high: Fraction | None = None) -> list[LooksLike]:
    return list(recognise(low, low if high is None else high))


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(50):
        yield


@pytest.mark.parametrize("digits", [12, 16])
@pytest.mark.parametrize("text", CONSTANTS)
def test_constants_are_recognised(text, digits):
    value = read(text)
    first, *others = looks_like(rounded_down(value, digits))
    assert not others
    assert abs(read(first.text) - value) < mpmath.mpf(10) ** -45
    assert digits - 1 <= first.digits


@pytest.mark.parametrize(
    ("value", "text", "latex"),
    [
        ("1/(e·√2)", "1/(√2·e)", r"\frac{1}{\sqrt{2} e}"),
        ("3/32^(1/3)", "3/(2·4^(1/3))", r"\frac{3}{2 \sqrt[3]{4}}"),
    ],
)
def test_how_they_are_written(value, text, latex):
    found = looks_like(rounded_down(read(value), 18))
    written = {one.text: one.latex for one in found}
    assert written[text] == latex


@pytest.mark.parametrize("text", [*CONSTANTS, "the root 1.3247180 of x^3−x−1"])
def test_the_formulas_are_latex(text):
    for one in looks_like(rounded_down(read(text), 15)):
        assert convertible(one.latex)


def test_a_root_of_a_cubic_polynomial():
    [one] = looks_like(rounded_down(read("the root 1.3247 of x^3−x−1"), 14))
    assert one.text == "the root 1.3247180 of x^3−x−1"


def test_few_random_numbers_are_recognised():
    draw = random.Random(5)
    numbers = [10 ** draw.uniform(-1, 1) for _ in range(12)]
    assert [looks_like(Fraction(f"{x:.{draw.randint(9, 15)}e}")) for x in numbers] == [[]] * 12


@pytest.mark.slow
def test_fewer_than_one_in_a_hundred():
    """Of 2010 such numbers, none were recognised, and 8 with a margin of 5."""
    draw = random.Random(0)
    texts = [f"{10 ** draw.uniform(-1, 1):.{draw.randint(9, 15)}e}" for _ in range(150)]
    assert sum(bool(looks_like(Fraction(text))) for text in texts) < 2


def test_a_form_below_the_ratio_is_none():
    """A supremum is at least as large as what was attained."""
    just_above = rounded_down(read("π/4"), 14) + Fraction(2, 10**14)
    assert looks_like(just_above) == []
    assert looks_like(just_above - Fraction(4, 10**14))[0].text == "π/4"


def test_as_many_digits_as_the_search_came_close():
    [one] = looks_like(rounded_down(read("√(2/π)"), 30) - Fraction(1, 10**11))
    assert (one.text, one.digits) == ("√(2/π)", 10)
    assert looks_like(rounded_down(read("√(2/π)"), 30) - Fraction(1, 10**5)) == []


def test_near_one_fewer_digits_are_telling():
    """A ratio that tends to 1 as its dimension grows; 1763 x⁴ + 4 x² = 1765 nearly."""
    assert looks_like(Fraction("0.99971659351591581")) == []


def test_bounds_that_are_wide_agree_in_few_digits():
    low = rounded_down(read("√(2/π)"), 30)
    [one] = looks_like(low - Fraction(1, 10**12), low + Fraction(1, 10**11))
    assert (one.text, one.digits) == ("√(2/π)", 10)
    assert looks_like(low - Fraction(1, 10**4), low + Fraction(1, 10**4)) == []


def test_an_exact_rational_comes_first():
    assert looks_like(Fraction(4095, 4096))[0] == LooksLike("4095/4096", r"\frac{4095}{4096}", 24)


def test_the_rational_of_dyadic_entries_is_not_offered():
    """The ratio of one instance is a quotient of large integers; the supremum is 1."""
    assert [one.text for one in looks_like(1 - Fraction(1, 2**24))] == ["1"]
    assert looks_like(Fraction(1234567, 2**22)) == []


def test_zero_and_what_is_below():
    assert [one.text for one in looks_like(Fraction(0))] == ["0"]
    assert looks_like(Fraction(-1, 2)) == looks_like(Fraction(0), Fraction(1, 10**30)) == []


def test_bounds_upside_down():
    with pytest.raises(ValueError, match="the lower one comes first"):
        recognise(Fraction(2), Fraction(1))
