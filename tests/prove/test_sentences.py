"""What is said of a proof: no more than was proved."""

from dataclasses import replace

import pytest

from rankcheck.claims.proved import METHODS
from rankcheck.prove.proof import Entry
from rankcheck.prove.sentences import controls, equation, sentence, shape_text

from .made import proof

NETS = "networks of depth 2, width 2"


@pytest.mark.parametrize(("method", "paths"), [("algebra", 16), ("squares", 1)])
def test_a_sentence(method, paths):
    said = sentence(proof(method=method, paths=paths), NETS)
    assert said.startswith(f"For {NETS}: true whatever numbers the generator draws, on ")
    assert ("on all 16 paths through the body" in said) == (paths > 1)
    assert said.endswith(f"({METHODS[method]})")


def test_ranges_are_named():
    entry = Entry(name="x0", low="-1", high="1", bounded=True)
    within = replace(proof(), entries=(entry,))
    assert "in their ranges" in sentence(within, NETS)
    assert "in their ranges" not in sentence(proof(), NETS)


def test_exceptions_are_named():
    made = proof(exceptions=("x0*x3 - x1*x2", "x0"))
    assert sentence(made, NETS).endswith(", except possibly where x₀x₃ = x₁x₂ or x₀ = 0")


@pytest.mark.parametrize(
    ("left", "facts"),
    [
        ({}, ["no mutants"]),
        ({"m": "open", "n": "proved"}, ["1 of 2 mutants cannot be proved"]),
        ({"m": "false"}, ["1 of 1 mutants cannot be proved", "(false there)"]),
        ({"m": "false", "n": "open"}, ["2 of 2", "(1 of them false there)"]),
        ({"m": "proved"}, ["Its mutant is proved", "this proof says little"]),
        ({"m": "proved", "n": "proved"}, ["All 2 mutants are proved", "this proof says little"]),
    ],
)
def test_controls(left, facts):
    said = controls(proof(controls=left))
    assert all(fact in said for fact in facts)


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
