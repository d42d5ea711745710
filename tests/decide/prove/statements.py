"""Statements about a few numbers, true and false; `toys` in conftest.py declares them."""

from fractions import Fraction

import torch

from rankcheck import conjecture, eq, leq, lt
from rankcheck.linalg import nuclear_norm, rank
from rankcheck.theory.instances.source import Source, instances


@instances
def numbers(source: Source, *, count=2, low=-8.0, high=8.0):
    """So many numbers."""
    return source.tensor(count, low=low, high=high)


@instances
def matrices(source: Source, *, rows=2, columns=2):
    """A matrix."""
    return source.tensor(rows, columns)


@instances
def nonzero(source: Source):
    """Two numbers, of which the first is not zero."""
    x = source.tensor(2)
    source.require(x[..., 0] != 0, "the first number is not zero")
    return x


@conjecture("toy.means", instances=numbers(), mutants={"2.1 ab": {"factor": Fraction(21, 10)}})
def means(x, *, factor=2):
    """2|ab| is at most a² + b²."""
    a, b = x[..., 0], x[..., 1]
    return leq(factor * (a * b).abs(), a * a + b * b)


@conjecture("toy.three-products", instances=numbers(count=3))
def three_products(x):
    """ab + bc + ca is at most a² + b² + c²."""
    return leq((x * x.roll(1, -1)).sum(-1), (x * x).sum(-1))


@conjecture("toy.triangle", instances=numbers())
def triangle(x):
    """|a + b| is at most |a| + |b|."""
    return leq(x.sum(-1).abs(), x.abs().sum(-1))


@conjecture("toy.strict", instances=numbers())
def strict(x):
    """a² + b² is below 1 + a² + b² + |ab|."""
    squares = (x * x).sum(-1)
    return lt(squares, 1 + squares + x.prod(-1).abs())


@conjecture("toy.strict-at-zero", instances=numbers())
def strict_at_zero(x):
    """0 is below a²: false at 0 alone."""
    return lt(0 * x[..., 0], x[..., 0] ** 2)


@conjecture("toy.product-zero", instances=numbers(count=3))
def product_zero(x):
    """Where a(b − 1) = 0 the number c is 0: false. A prototype read the hypothesis as a = 0."""
    a, b, c = x[..., 0], x[..., 1], x[..., 2]
    return eq(c * a, 0 * c, where=a * (b - 1) == 0)


@conjecture("toy.product-zero-true", instances=numbers(count=3))
def product_zero_true(x):
    """Where a(b − 1) = 0, so is abc − ac."""
    a, b, c = x[..., 0], x[..., 1], x[..., 2]
    return eq(a * b * c, a * c, where=a * (b - 1) == 0)


@conjecture("toy.inverse", instances=nonzero())
def inverse(x):
    """a · (b / a) = b where a is not 0."""
    return eq(x[..., 0] * (x[..., 1] / x[..., 0]), x[..., 1])


@conjecture("toy.range", instances=numbers(count=1, low=0.5, high=0.75))
def in_range(x):
    """x(1 − x) is positive on (0, 1)."""
    return lt(0 * x[..., 0], x[..., 0] * (1 - x[..., 0]))


@conjecture("toy.nuclear", instances=matrices())
def nuclear(A):
    """The Frobenius norm is at most the nuclear norm."""
    return leq(torch.linalg.matrix_norm(A), nuclear_norm(A))


@conjecture("toy.rank", instances=matrices())
def ranks(A):
    """The rank of A is that of AAᵀ."""
    return eq(rank(A), rank(A @ A.mT))


@instances
def two_matrices(source: Source):
    """A row of two numbers, and a matrix of four."""
    return source.tensor(1, 2), source.tensor(2, 2)


@conjecture("toy.sylvester", instances=two_matrices())
def sylvester(A, B):
    """rank A + rank B − 2 is at most the rank of AB."""
    return leq(rank(A) + rank(B) - 2, rank(A @ B))


@conjecture("toy.either", instances=numbers())
def either(x):
    """The larger one is a, or it is b."""
    top = x.amax(-1)
    return leq(torch.minimum(top - x[..., 0], top - x[..., 1]), 0)


@conjecture("toy.logarithm", instances=numbers(count=1, low=0.25, high=8.0))
def logarithm(x):
    """2 log x is at most x² − 1."""
    return leq(2 * x[..., 0].log(), x[..., 0] ** 2 - 1)


@conjecture("toy.too-sharp-a-logarithm", instances=numbers(count=1, low=0.25, high=8.0))
def too_sharp_a_logarithm(x):
    """2.1 log x is at most x² − 1: false just above 1."""
    return leq(Fraction(21, 10) * x[..., 0].log(), x[..., 0] ** 2 - 1)


@conjecture("toy.exponential", instances=numbers(count=1))
def exponential(x):
    """2 + x is at most 2 exp(x/2)."""
    return leq(2 + x[..., 0], 2 * (x[..., 0] / 2).exp())


@conjecture("toy.too-sharp-an-exponential", instances=numbers(count=1))
def too_sharp_an_exponential(x):
    """2 + 1.1x is at most 2 exp(x/2): false just above 0."""
    return leq(2 + Fraction(11, 10) * x[..., 0], 2 * (x[..., 0] / 2).exp())


@conjecture("toy.unequal", instances=numbers())
def unequal(x):
    """a/(a − b) − b/(a − b) = 1, which has no value at a = b."""
    a, b = x[..., 0], x[..., 1]
    return eq(a / (a - b) - b / (a - b), 1 + 0 * a)
