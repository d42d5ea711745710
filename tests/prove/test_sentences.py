"""What is said of a proof: no more than was proved."""

from dataclasses import replace

import pytest

from rankcheck.prove.proof import Entry
from rankcheck.prove.sentences import controls, equation, sentence, shape_text

from .made import proof

NETS = "networks of depth 2, width 2"
BOUNDED = tuple(Entry(name=f"x{n}", low="-1", high="1", bounded=True) for n in range(4))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            proof(paths=16),
            "For networks of depth 2, width 2: true whatever numbers the generator draws, on all "
            "16 paths through the body, boundaries included (exact algebra)",
        ),
        (
            proof(method="squares"),
            "For networks of depth 2, width 2: true whatever numbers the generator draws, on its "
            "path through the body, boundaries included (exact algebra and sums of squares)",
        ),
    ],
)
def test_a_sentence(made, said):
    assert sentence(made, NETS) == said


def test_ranges_are_named():
    within = replace(proof(paths=3), entries=BOUNDED)
    assert "true whatever numbers the generator draws in their ranges, on all 3 paths" in sentence(
        within, NETS
    )


def test_exceptions_are_named():
    made = proof(exceptions=("x0*x3 - x1*x2", "x0"))
    assert sentence(made, NETS).endswith(", except possibly where x₀x₃ = x₁x₂ or x₀ = 0")


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ({}, "The claim has no mutants, so nothing tells how much a proof at this shape says"),
        ({"m": "open"}, "1 of 1 mutants cannot be proved at this shape"),
        ({"m": "open", "n": "proved"}, "1 of 2 mutants cannot be proved at this shape"),
        ({"m": "false"}, "1 of 1 mutants cannot be proved at this shape (false there)"),
        (
            {"m": "false", "n": "open"},
            "2 of 2 mutants cannot be proved at this shape (1 of them false there)",
        ),
        ({"m": "proved"}, "Its mutant is proved at this shape, too: this proof says little"),
        (
            {"m": "proved", "n": "proved"},
            "All 2 mutants are proved at this shape, too: this proof says little",
        ),
    ],
)
def test_controls(left, said):
    assert controls(proof(controls=left)) == said


@pytest.mark.parametrize(
    ("polynomial", "said"),
    [
        ("x0", "x₀ = 0"),
        ("-x0", "0 = x₀"),
        ("2*x10^3*x1 - 1/2", "2 x₁₀³x₁ = 1/2"),
        ("x0^2 + x1^2", "x₀² + x₁² = 0"),
    ],
)
def test_equations(polynomial, said):
    assert equation(polynomial) == said


def test_shapes():
    assert shape_text({"d": 3, "length of W": 2}) == "d = 3, W of length 2"
    assert shape_text({}) == "its only shape"
    assert shape_text({}, (1, 2)) == "integers of the generator: 1, 2"
    two = {"depth of f": 1, "width of f": 2, "depth of g": 3, "width of g": 1}
    assert shape_text(two) == "f of depth 1, width 2, g of depth 3, width 1"
