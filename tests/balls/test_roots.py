"""Eigenvalues so close, or entries so huge, that the work on them needs a bound."""

import random
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq, fmpq_mat, fmpz_poly
from hypothesis import given, settings
from hypothesis import strategies as st

from rankcheck.balls import Undecided, eigenvalues, matrices, numbers, roots, spectra

from .cases import orthogonal


def with_spectrum(seed, values):
    """Q diag(values) Qᵀ with a rational orthogonal Q, as an array."""
    n = len(values)
    Q = matrices.rational_matrix(orthogonal(random.Random(seed), n).elements)
    D = fmpq_mat(n, n, [values[i] if i == j else 0 for i in range(n) for j in range(n)])
    return matrices.array(Q * D * Q.transpose())


def assert_encloses(enclosures, values, width=Fraction(1, 2**100)):
    """Each enclosure has its value, and is narrow relative to it."""
    for ball, value in zip(enclosures, values, strict=True):
        low, high = numbers.bounds(ball)
        exact, _ = numbers.bounds(value)
        assert low <= exact <= high
        assert high - low <= width * abs(exact)


@st.composite
def spectra_with_close_values(draw):
    """Up to six numbers, some of them equal, some 2 to the minus hundreds or thousands apart."""
    centres = st.sampled_from([fmpq(0), fmpq(1), fmpq(-3), fmpq(5, 7), fmpq(2) ** 900])
    exponents = st.sampled_from([20, 64, 300, 900, 2500])
    offsets = st.builds(lambda k, e: fmpq(k, 2**e), st.integers(-3, 3), exponents)
    values = draw(st.lists(st.builds(lambda c, d: c + d, centres, offsets), min_size=3, max_size=6))
    return sorted(values)


@given(spectra_with_close_values(), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_close_eigenvalues_are_enclosed_with_their_multiplicities(values, seed):
    A = with_spectrum(seed, values)
    assert_encloses(matrices.eigenvalues(A), values)
    assert_encloses(matrices.singular_values(A), sorted(map(abs, values), reverse=True))
    assert matrices.rank(A) == sum(value != 0 for value in values)


@given(st.integers(0, 99), st.integers(500, 1000), st.integers(3, 6))
@settings(max_examples=20, deadline=None)
def test_entries_of_all_sizes_leave_trace_and_determinant(seed, size, n):
    rng = random.Random(seed)
    entries = [
        fmpq(rng.randint(-(2**53), 2**53)) * fmpq(2) ** rng.randint(-size, size)
        for _ in range(n * n)
    ]
    A = matrices.from_lower_triangle(np.array(entries, dtype=object).reshape(n, n))
    values = matrices.eigenvalues(A)
    assert all(x.rad() * 2**100 <= abs(x) for x in values)
    product, total = arb(1), arb(0)
    for x in values:
        product, total = product * x, total + x
    assert product.overlaps(arb(matrices.determinant(A)))
    assert total.overlaps(arb(np.trace(A)))


def test_the_dyadic_neighbour_of_a_cubic_with_a_double_root():
    """Its characteristic polynomial has 4700 bits and roots 2⁻¹⁵⁰⁰ apart: flint takes minutes."""
    exact = with_spectrum(0, [fmpq(1), 1 + fmpq(1, 2**1500), fmpq(2)])
    grid = fmpq(2) ** 1600
    A = matrices.from_lower_triangle(np.vectorize(lambda x: fmpq((x * grid).floor()) / grid)(exact))
    small = Fraction(1, 2**100)
    for ball, value in zip(matrices.eigenvalues(A), [1, 1, 2], strict=True):
        low, high = numbers.bounds(ball)
        assert value - small <= low <= high <= value + small
    with pytest.raises(Undecided):  # it has three eigenvalues, and this precision does not show it
        numbers.sign(matrices.eigenvalues(A)[1] - matrices.eigenvalues(A)[0])
    assert [len(cluster.values) for cluster in spectra.clusters(A)] == [1, 1, 1]


def test_close_eigenvalues_of_a_general_matrix_are_enclosed():
    """P diagonalises it, but for 2⁻¹⁶⁰⁰; two of its eigenvalues are close to 1 − 2⁻¹⁵⁰⁰ and 1."""
    P = fmpq_mat(4, 4, [1, 2, 0, -1, 0, 1, 3, 1, 2, 0, 1, 1, 1, 1, 1, 2])
    values = [1 - fmpq(1, 2**1500), fmpq(1), fmpq(3), fmpq(7)]
    D = fmpq_mat(4, 4, [values[i] if i == j else 0 for i in range(4) for j in range(4)])
    A = P * D * P.inv() + fmpq_mat(4, 4, [fmpq(k, 2**1600) for k in range(16)])
    found = sorted(eigenvalues.spectrum(matrices.array(A)), key=lambda z: float(z.real))
    small = Fraction(1, 2**100)
    for z, truth in zip(found, values, strict=True):
        for part, value in ((z.real, truth), (z.imag, fmpq(0))):
            low, high = numbers.bounds(part)
            assert low - small <= numbers.bounds(value)[0] <= high + small
            assert high - low <= small


def test_what_is_too_much_work_is_undecided():
    rng = random.Random(0)
    huge = [fmpq(rng.getrandbits(40000) | 1) for _ in range(900)]
    A = np.array(huge, dtype=object).reshape(30, 30)
    for of_one in (
        matrices.rank,
        matrices.determinant,
        matrices.singular_values,
        matrices.eigenvalues,
        matrices.pseudo_inverse,
        matrices.log_pseudo_determinant,
        eigenvalues.spectrum,
        spectra.clusters,
        lambda A: matrices.solve(A, matrices.identity(30)),
    ):
        with pytest.raises(Undecided, match="too much work"):
            of_one(A)


def test_the_roots_of_a_polynomial_are_undecided_beyond_their_bound(monkeypatch):
    monkeypatch.setattr(roots, "SHIFTS", 1 << 24)
    p = fmpz_poly([-(2**3000), 1]) * fmpz_poly([-(2**3000) - 1, 1]) * fmpz_poly([-7, 1])
    with pytest.raises(Undecided, match="degree 3 and 6003-bit coefficients: too much work"):
        roots.distinct_real_roots(p)
