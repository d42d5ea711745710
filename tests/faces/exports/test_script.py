"""Exported scripts: they run without rankcheck, they are short, and wrong ones fail."""

import pytest

from .made import STORED, alone, exported, lines_of_code

RATIONAL = "rank.cross-example-as-printed"
REAL = "bottleneck.composition-as-printed"


@pytest.mark.slow
@pytest.mark.parametrize("claim_id", STORED)
def test_a_script_proves_its_counterexample_alone(claim_id, tmp_path):
    status, said = alone(exported(claim_id, "script"), tmp_path)
    assert (status, said.count("\n")) == (0, 1), said
    assert said.startswith("lhs = ")
    assert said.rstrip().endswith("is false")


@pytest.mark.parametrize("claim_id", STORED)
def test_a_script_imports_fractions_and_mpmath_at_most(claim_id):
    imports = [line for line in lines_of_code(exported(claim_id, "script")) if "import " in line]
    assert imports[0] == "from fractions import Fraction as F"
    assert imports[1:] in ([], ["from mpmath import iv"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim_id", "right", "wrong"),
    [
        (RATIONAL, "assert lhs > rhs", "assert rhs > lhs"),
        (RATIONAL, "F(1, 4)]", "F(4)]"),
        (RATIONAL, "body_3) * 2", "body_3) * 32"),
        (RATIONAL, "x[1] <= x[0]", "x[0] <= x[1]"),
        (REAL, "assert lhs > rhs", "assert rhs > lhs"),
        ("rank.layer-energy-as-printed", "2 <= rank_1", "3 <= rank_1"),
        ("rank.sum-cost-as-printed", "power_1 ** 2 ==", "power_1 + 1 =="),
    ],
)
def test_a_wrong_script_fails(claim_id, right, wrong, tmp_path):
    text = exported(claim_id, "script")
    assert right in text
    status, said = alone(text.replace(right, wrong), tmp_path)
    assert status == 1
    assert "AssertionError" in said
