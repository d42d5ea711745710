"""Traced numbers: what they keep, what they fold, and what their linear algebra gives."""

import ast

import numpy as np
import pytest
import torch
from flint import arb, fmpq, fmpq_mat

from rankcheck.balls import BallArray, NoBallForm, Undecided, balls, matrices, numbers
from rankcheck.faces.exports import algebra
from rankcheck.faces.exports.script import script
from rankcheck.faces.exports.traced import constant, given, traced, tracing

from .made import stored


def value(x):
    return x.value if hasattr(x, "value") else x


@pytest.fixture
def trace():
    with tracing() as trace:
        yield trace


def matrix(rows):
    """A matrix of given numbers."""
    A = np.array([[fmpq(x) for x in row] for row in rows], dtype=object)
    return np.array(
        [[given(f"A_{i}_{j}", x) for j, x in enumerate(row)] for i, row in enumerate(A)],
        dtype=object,
    )


def test_equal_expressions_are_one_number(trace):
    x, y = given("x", fmpq(2)), given("y", fmpq(3))
    assert x + y is x + y
    assert (x + y).operation == "add"
    assert (x * y + 1).value == 7
    assert x + 0 is x
    assert 1 * x is x
    negative = -x
    assert -negative is x
    assert given("x", fmpq(5)) is not x  # the same name, and another number
    assert (x - x).is_constant
    assert (x * 0).is_constant
    assert traced(fmpq(1, 2)) is constant(fmpq(1, 2))


def test_comparisons_are_kept_once_and_sharply(trace):
    x, y = given("x", fmpq(2)), given("y", fmpq(3))
    assert x <= y
    assert x < y
    assert not x >= y
    assert not y < x
    assert -x < 0
    assert x != y
    assert constant(1) < constant(2)
    kept = [(b.left.describe(), b.relation, b.right.describe()) for b in trace.branches]
    assert kept == [("2", "<", "3"), ("0", "<", "2")]


def test_equal_irrational_numbers_are_undecided(trace):
    two = given("two", fmpq(2))
    assert two.sqrt() ** 2 == 2  # its square is exact
    with pytest.raises(Undecided, match="lemma"):
        _ = two.log() * 2 >= (two * two).log()


def test_the_domain_of_a_function_is_a_branch(trace):
    x, zero = given("x", fmpq(-1)), given("zero", fmpq(0))
    assert not x.sqrt().is_finite()
    assert not x.log().is_finite()
    assert not x.power(fmpq(1, 3)).is_finite()
    assert zero.power(fmpq(1, 3)) == 0
    assert not numbers.divide(x, zero).is_finite()
    assert {b.relation for b in trace.branches} == {"<", "<=", "="} - {"<="}


def test_constants_of_a_body_are_traced(trace):
    root = balls(2).sqrt().elements[()]
    assert root.operation == "sqrt"
    assert torch.exp(balls(1)).elements[()].operation == "exp"
    with pytest.raises(NoBallForm, match="ball"):
        _ = given("x", fmpq(1)) + arb(1)


@pytest.mark.parametrize(
    "rows",
    [
        [[3]],
        [[1, 2, 2]],
        [[1, 2], [3, 4]],
        [[1, 2], [2, 4]],
        [[0, 0], [0, 0]],
        [[1, 0, 2], [0, 1, 1]],
        [[1, 2], [3, 4], [5, 6]],
        [[2, -1, 0], [-1, 1, 0], [0, 0, 0]],
    ],
)
def test_linear_algebra_is_that_of_balls(rows, trace):
    A = matrix(rows)
    plain = np.array([[fmpq(x) for x in row] for row in rows], dtype=object)
    token = algebra.singular_values(A)
    assert algebra.rank(A).value == fmpq_mat(rows).rank()
    inverse = [[value(x) for x in row] for row in algebra.pseudo_inverse(A).tolist()]
    from rankcheck.balls.formal import exact_numbers

    outside = exact_numbers.set(None)
    try:
        expected = matrices.singular_values(plain)
        log = matrices.log_pseudo_determinant(plain)
        assert inverse == matrices.pseudo_inverse(plain).tolist()
    finally:
        exact_numbers.reset(outside)
    assert all(arb(value(x)).overlaps(arb(y)) for x, y in zip(token, expected, strict=True))
    assert arb(value(algebra.log_pseudo_determinant(A))).overlaps(arb(log))


@pytest.mark.parametrize("rows", [[[2]], [[2, 1], [1, 3]], [[0, 1, 2], [1, 0, 3], [4, 5, 6]]])
def test_determinants_and_solutions(rows, trace):
    A, M = matrix(rows), fmpq_mat(rows)
    assert value(algebra.determinant(A)) == M.det()
    n = len(rows)
    solved = algebra.solve(A, matrices.identity(n))
    assert [value(x) for x in solved.ravel().tolist()] == M.inv().entries()
    with pytest.raises(torch.linalg.LinAlgError):
        algebra.solve(matrix([[1, 2], [2, 4]]), matrices.identity(2))


@pytest.mark.parametrize("rows", [[[2]], [[2, 1], [1, 3]], [[1, 2], [2, 4]]])
def test_eigenvalues(rows, trace):
    found = algebra.eigenvalues(matrix(rows))
    trace_, product = sum(map(value, found)), value(found[0]) * value(found[-1])
    assert arb(trace_).overlaps(arb(fmpq_mat(rows).charpoly()[len(rows) - 1] * -1))
    if len(rows) == 2:
        assert arb(product).overlaps(arb(fmpq_mat(rows).det()))


def test_what_has_no_closed_form_is_named(trace):
    A = matrix([[2, 1, 1], [1, 2, 1], [1, 1, 3]])
    for function in (algebra.singular_values, algebra.eigenvalues):
        with pytest.raises(NoBallForm, match="3 × 3"):
            function(A)
    with pytest.raises(NoBallForm, match="irrational"):
        algebra.rank(BallArray(A).sqrt().elements)


def test_a_docstring_ends_where_the_script_begins():
    account, _ = stored("rank.cross-example-as-printed")
    hostile = 'a """\nimport os\n""" and \\""" and \\'
    body = ast.parse(script(account, hostile)).body
    assert isinstance(body[0].value, ast.Constant)
    assert {type(line) for line in body if isinstance(line, ast.Import)} == set()
    assert "import os" in body[0].value.value
