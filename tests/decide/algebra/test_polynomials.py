"""rankcheck/decide/algebra/polynomials.py: polynomials and their texts."""

from fractions import Fraction

import pytest

from rankcheck.decide.algebra.polynomials import parse, text


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("3*x0^2*x1 - 1/2*r0 + 4", "3*x0^2*x1 - 1/2*r0 + 4"),
        ("0", "0"),
        ("x0 - x0", "0"),
        ("-x0", "-x0"),
        ("+ 1/2", "1/2"),
        ("x10*x2", "x2*x10"),
        ("x0*x0*2*3", "6*x0^2"),
        ("x1^0", "1"),
        ("1 + x1 + x0 + x1^2", "x1^2 + x0 + x1 + 1"),
        ("-3/6*c0*l1", "-1/2*c0*l1"),
    ],
)
def test_a_text_has_one_canonical_form(written, canonical):
    assert text(parse(written)) == canonical
    assert parse(canonical) == parse(written)


def test_coefficients_by_monomials():
    assert parse("3*x0^2*x1 - 1/2*r0 + 4") == {
        (("x0", 2), ("x1", 1)): 3,
        (("r0", 1),): Fraction(-1, 2),
        (): 4,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        " ",
        "x0 +",
        "x0 x1",
        "(x0)",
        "2x0",
        "x0^-1",
        "x0**2",
        "1.5",
        "x0 + + x1",
        "1/x0",
        "*x0",
        "1/0",
    ],
)
def test_what_is_no_polynomial_is_refused(wrong):
    with pytest.raises(ValueError, match=r"no sum|neither"):
        parse(wrong)
