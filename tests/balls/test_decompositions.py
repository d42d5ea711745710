"""Decompositions and functions of matrices: against exact constructions and mpmath.

The exact constructions are A = Q diag(λ) Qᵀ with a rational orthogonal Q, so that eigenspaces,
projections and functions of A are known rationals, with repeated eigenvalues, clusters 10⁻³⁰ apart,
and zeros; and A = P J P⁻¹ with Jordan blocks J for general matrices.
"""

import random
from fractions import Fraction
from itertools import permutations
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from flint import arb, fmpq, fmpz_poly

from rankcheck.balls import (
    OTHER_CONVENTIONS,
    BallArray,
    NoBallForm,
    Undecided,
    choices,
    complexes,
    conventions,
    eigenvalues,
    numbers,
    pi,
    precision,
    roots,
    spectral_function,
    spectral_projection,
    spectral_radius,
)

from .cases import assert_contains, boxed, exact, fraction, orthogonal, rationals, to_mpmath, widest

TIGHT = Fraction(1, 2**100)
NEAR = Fraction(1, 10**30)
ROUNDING = Fraction(1, 10**30)
"""That of an oracle which is itself a ball."""


SPECTRA = [
    [3],
    [0, 0],
    [-1, 4],
    [1, 1, 4],
    [4, 4, 4, 4],
    [0, 1, 1, 9, 9],
    [1, 1 + NEAR, 4],
    [1, 1 + NEAR, 1 + 2 * NEAR, 9, 16],
    [-2, -2, 0, 3, 3, 3],
    [Fraction(1, 9), Fraction(4, 25), 100],
]


def with_spectrum(spectrum) -> tuple[Any, Any]:
    Q = orthogonal(random.Random(str(spectrum)), len(spectrum))
    return Q @ torch.diag(exact(spectrum)) @ Q.mT, Q


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.oracle("rankcheck.balls.spectral_function", "matrices of known spectrum")
def test_functions_of_symmetric_matrices(spectrum):
    A, Q = with_spectrum(spectrum)
    rng = random.Random(0)
    functions = {
        "abs": (torch.abs, [abs(Fraction(x)) for x in spectrum]),
        "cube": (lambda x: x**3, [Fraction(x) ** 3 for x in spectrum]),
        "positive part": (lambda x: x.clamp(min=0), [max(Fraction(x), 0) for x in spectrum]),
        "one": (torch.ones_like, [1] * len(spectrum)),
    }
    for f, values in functions.values():
        truth = Q @ torch.diag(exact(values)) @ Q.mT
        result = spectral_function(A, f)
        assert result.is_exact()
        assert (result == truth).all()
        box, inside = boxed(rng, A, symmetric=True)
        assert_contains(spectral_function(box, f), spectral_function(inside, f), ROUNDING)
        wide = spectral_function(A * pi() / pi(), f)
        assert_contains(wide, truth)
        assert widest(wide) < 1e-14


@pytest.mark.oracle("rankcheck.balls.spectral_function", "mpmath.eigsy")
def test_irrational_functions_against_mpmath():
    rng = random.Random(1)
    for n in (1, 2, 3, 5):
        B = rationals(rng, n)
        A = B + B.mT
        with mpmath.workdps(80):
            M = to_mpmath(A)
            values, V = mpmath.eigsy(M)
            truth = V * mpmath.diag([mpmath.exp(x) for x in values]) * V.T
            entries = [[fraction(truth[i, j]) for j in range(n)] for i in range(n)]
        result = spectral_function(A, torch.exp)
        assert_contains(result, exact(entries), Fraction(1, 10**60))
        assert widest(result) < 1e-20 * float(result.midpoints().abs().max())
        overlap = torch.linalg.matrix_exp(A) - result
        assert_contains(overlap, 0 * A)


def test_a_function_is_unknown_where_it_is_undefined_and_only_there():
    A, _ = with_spectrum([-1, 0, 4])
    with pytest.raises(Undecided):
        _ = spectral_function(A, torch.log) >= -100
    box, inside = boxed(random.Random(0), with_spectrum([1, 4, 4])[0], symmetric=True)
    assert_contains(spectral_function(box, torch.log), spectral_function(inside, torch.log))
    batch = torch.stack([A, exact(torch.eye(3))])
    assert (spectral_function(batch, torch.log)[1] == 0).all()


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.oracle("rankcheck.balls.spectral_projection", "matrices of known spectrum")
def test_projections_onto_the_largest(spectrum):
    A, Q = with_spectrum(spectrum)
    n, rng = len(spectrum), random.Random(0)
    ordered = sorted(map(Fraction, spectrum))
    for k in range(n + 1):
        if 0 < k < n and ordered[n - k] == ordered[n - k - 1]:
            with pytest.raises(Undecided, match="equal or too close"):
                spectral_projection(A, k)
            continue
        cut = ordered[n - k] if k else ordered[-1] + 1
        truth = Q @ torch.diag(exact([int(Fraction(x) >= cut) for x in spectrum])) @ Q.mT
        assert (spectral_projection(A, k) == truth).all()
        if 0 < k < n and ordered[n - k] - ordered[n - k - 1] > NEAR:
            box, inside = boxed(rng, A, symmetric=True)
            assert_contains(spectral_projection(box, k), spectral_projection(inside, k))
            assert widest(spectral_projection(A * pi(), k)) < 1e-30


def test_eigenvectors_of_separated_eigenvalues():
    for spectrum in ([3], [-1, 4], [1, 2, 4], [0, 1, 9], [1, 1 + Fraction(1, 1000), 5, 7]):
        A, Q = with_spectrum(spectrum)
        values, V = torch.linalg.eigh(A)
        assert (values == exact(sorted(spectrum, key=float))).all()
        for place, column in enumerate(np.argsort([float(x) for x in spectrum])):
            q = Q[:, int(column)]
            v = V[:, place]
            q = q if (v.midpoints() @ q.midpoints()) > 0 else -q
            assert_contains(v, q)
            assert widest(v) < TIGHT
        for wide in (A * pi() / pi(), boxed(random.Random(0), A, fmpq(1, 2**80))[0]):
            W = torch.linalg.eigh(wide).eigenvectors
            assert_contains(W @ torch.diag(torch.linalg.eigvalsh(wide)) @ W.mT, A)


def test_signs_and_orders_are_those_of_floats():
    generator = torch.Generator().manual_seed(2)
    for shape in [(1, 1), (2, 2), (4, 4), (5, 3), (3, 5)]:
        X = torch.randn(6, *shape, dtype=torch.float64, generator=generator)
        pairs = [
            (torch.linalg.svd(X, full_matrices=False),
             torch.linalg.svd(exact(X), full_matrices=False)),
            (torch.linalg.qr(X), torch.linalg.qr(exact(X))),
        ]  # fmt: skip
        if shape[0] == shape[1]:
            pairs += [
                (torch.linalg.eigh(X + X.mT), torch.linalg.eigh(exact(X) + exact(X).mT)),
                (torch.linalg.eigh(X, "U"), torch.linalg.eigh(exact(X), "U")),
                ((torch.linalg.eigvals(X),), (torch.linalg.eigvals(exact(X)),)),
                (torch.linalg.svd(X), torch.linalg.svd(exact(X))),
            ]
        for floats, proof in pairs:
            for a, b in zip(floats, proof, strict=True):
                assert a.dtype is b.dtype
                torch.testing.assert_close(b.midpoints(), a, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("triangle", ["L", "u"])
def test_one_triangle_is_read(triangle):
    """The other one may hold anything: eigenvalues and vectors are those of numpy for it."""
    X = torch.randn(3, 4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    values, V = np.linalg.eigh(X.numpy(), triangle.upper())
    found, vectors = torch.linalg.eigh(exact(X), triangle)
    alone = torch.linalg.eigvalsh(exact(X), triangle)
    for ascending in (found, alone):
        np.testing.assert_allclose(ascending.midpoints().numpy(), values, atol=1e-12)
    np.testing.assert_allclose(vectors.midpoints().abs().numpy(), abs(V), atol=1e-9)


def test_signs_that_floats_do_not_give_are_undecided(monkeypatch):
    """LAPACK may fail to converge. There is then no sign to follow."""
    A = exact([[2, 1], [1, 3]])
    U, _, Vh = torch.linalg.svd(A)
    V = torch.linalg.eigh(A).eigenvectors

    def fail(*_, **__):
        raise torch.linalg.LinAlgError("the algorithm failed to converge")

    monkeypatch.setattr(torch.linalg, "svd", fail)
    monkeypatch.setattr(torch.linalg, "eigh", fail)
    for vectors, kind in ((U, "singular vectors"), (Vh, "singular vectors"), (V, "eigenvectors")):
        with pytest.raises(Undecided, match=f"no {kind} to take the signs from"):
            _ = vectors + 0


def test_repeated_eigenvalues_have_no_eigenvectors_but_eigenvalues():
    for A in (exact(torch.eye(3)), exact(torch.zeros(2, 2)), with_spectrum([1, 1, 4])[0] * pi(),
              with_spectrum([1, 1 + NEAR, 4])[0]):  # fmt: skip
        values, vectors = torch.linalg.eigh(A)
        assert vectors.shape == A.shape
        assert values.shape == A.shape[:-1]
        assert widest(values) < 1e-30
        with pytest.raises(Undecided, match=r"spectral_function|arbitrary"):
            _ = vectors + 0
    with pytest.raises(Undecided, match=r"unknown entries|beyond"):
        _ = torch.linalg.eigh(exact([[1, 2], [2, 1]]) / 0).eigenvectors + 0
    with pytest.raises(Undecided, match="beyond the range of floats"):
        _ = torch.linalg.eigh(exact([[10**400, 1], [1, 2]])).eigenvectors + 0


@pytest.mark.parametrize("shape", [(1, 3), (2, 2), (4, 2), (3, 5)])
def test_singular_vectors(shape):
    rng = random.Random(str(shape))
    for trial in (1, 2):
        A = rationals(rng, *shape)
        U, s, Vh = torch.linalg.svd(A if trial < 2 else A * pi() / pi(), full_matrices=False)
        k = min(shape)
        assert U.shape == (shape[0], k)
        assert Vh.shape == (k, shape[1])
        eye = exact(torch.eye(k))
        if torch.linalg.matrix_rank(A) < k:
            continue
        assert_contains(U @ torch.diag(s) @ Vh, A)
        assert_contains(U.mT @ U, eye)
        assert_contains(Vh @ Vh.mT, eye)
        assert widest(U) < 1e-25
        assert widest(Vh) < 1e-25
        with mpmath.workdps(60):
            M = mpmath.matrix(A.midpoints().tolist())
            values = [float(x) for x in mpmath.svd_r(M, compute_uv=False)]
        torch.testing.assert_close(s.midpoints(), torch.tensor(values, dtype=torch.float64))


def test_singular_vectors_that_do_not_exist():
    for A in (exact(torch.eye(2)), exact([[1, 2], [2, 4]]), exact(torch.zeros(2, 3))):
        U, s, Vh = torch.linalg.svd(A, full_matrices=False)
        assert (s >= 0).all()
        for vectors in (U, Vh):
            with pytest.raises(Undecided, match="svdvals"):
                _ = vectors @ vectors.mT
    U, _, Vh = torch.linalg.svd(exact([[1, 2], [0, 1], [1, 0]]))
    assert U.shape == (3, 3)
    assert_contains(Vh @ Vh.mT, exact(torch.eye(2)))
    with pytest.raises(NoBallForm, match="full_matrices=False"):
        _ = U.mT


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 4), (5, 3)])
def test_qr(shape):
    rng = random.Random(str(shape))
    for trial in range(2):
        A = rationals(rng, *shape)
        if torch.linalg.matrix_rank(A[:, : min(shape)]) < min(shape):
            continue
        Q, R = torch.linalg.qr(A if trial else A * pi() / pi())
        assert_contains(Q @ R, A)
        assert_contains(Q.mT @ Q, exact(torch.eye(min(shape))))
        assert (R.tril(-1) == 0).all()
        assert widest(Q) < 1e-30
        with mpmath.workdps(60):
            _, oracle = mpmath.qr(to_mpmath(A[:, : min(shape)]), mode="skinny")
            diagonal = [abs(float(oracle[i, i])) for i in range(min(shape))]
        expected = torch.tensor(diagonal, dtype=torch.float64)
        torch.testing.assert_close(R.diagonal().abs().midpoints(), expected, rtol=1e-12, atol=0)


def test_qr_of_dependent_columns_is_undecided():
    for A in (exact([[1, 2], [2, 4]]), exact(torch.zeros(3, 2)), exact([[0, 1, 2], [0, 2, 3]]),
              exact([[1, 2], [2, 4]]) * pi()):  # fmt: skip
        with pytest.raises(Undecided, match="linearly dependent"):
            torch.linalg.qr(A)
    with pytest.raises(NoBallForm, match="reduced"):
        torch.linalg.qr(exact(torch.ones(3, 2)), mode="complete")
    assert torch.linalg.qr(exact([[3, 0], [0, -2]]), mode="r")[1].is_exact()


JORDAN = {
    "diagonal": ([[2, 0, 0], [0, 2, 0], [0, 0, -3]], [2, 2, -3]),
    "nilpotent": ([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [0, 0, 0]),
    "two blocks": ([[5, 1, 0, 0], [0, 5, 0, 0], [0, 0, 5, 0], [0, 0, 0, -1]], [5, 5, 5, -1]),
    "rotation": ([[0, -2, 0], [2, 0, 0], [0, 0, 1]], [2j, -2j, 1]),
    "repeated rotation": (
        [[1, -2, 1, 0], [2, 1, 0, 1], [0, 0, 1, -2], [0, 0, 2, 1]],
        [1 + 2j, 1 - 2j, 1 + 2j, 1 - 2j],
    ),
    "one": ([[7]], [7]),
    "zero": ([[0, 0], [0, 0]], [0, 0]),
}


def unimodular(rng, n) -> Any:
    lower = exact([[rng.randint(-2, 2) if j < i else int(i == j) for j in range(n)]
                   for i in range(n)])  # fmt: skip
    upper = exact([[rng.randint(-2, 2) if j > i else int(i == j) for j in range(n)]
                   for i in range(n)])  # fmt: skip
    return lower @ upper


@pytest.mark.parametrize("name", JORDAN)
def test_eigenvalues_of_general_matrices(name):
    J, spectrum = JORDAN[name]
    P = unimodular(random.Random(name), len(J))
    A = P @ exact(J) @ torch.linalg.inv(P)
    truth = sorted((complex(z).real, complex(z).imag) for z in spectrum)
    values = torch.linalg.eigvals(A)
    assert values.dtype is torch.complex128
    assert values.is_exact()
    assert sorted((z.real, z.imag) for z in values.midpoints().tolist()) == truth
    radius = spectral_radius(A)
    assert (radius == exact(max(abs(z) for z in spectrum)) if name != "repeated rotation"
            else (radius**2 - 5).abs() < TIGHT)  # fmt: skip
    # Balls: every matrix inside has its spectrum enclosed.
    for width, limit in ((fmpq(1, 2**110), 1e-5), (fmpq(1, 2**40), None)):
        box = BallArray(np.frompyfunc(lambda x, w=width: arb(x, arb(w)), 1, 1)(A.elements))
        outer = torch.linalg.eigvals(box)
        assert_spectrum_inside(outer, [complex(z) for z in spectrum])
        assert limit is None or widest(outer) < limit
        inside = A + exact([[Fraction((-1) ** (i + j), 2**41) for j in range(len(J))]
                            for i in range(len(J))])  # fmt: skip
        if limit is None:
            with precision(64):
                assert_spectrum_inside(outer, torch.linalg.eigvals(inside).midpoints().tolist())
            assert float(spectral_radius(box).upper()) >= float(spectral_radius(inside).lower())
            assert float(spectral_radius(box).lower()) <= float(spectral_radius(inside).upper())


@pytest.mark.parametrize("n", [2, 3])
def test_the_spectrum_moves_by_at_most_the_bound_of_elsner(n):
    """A large Jordan block with δ in the corner has the eigenvalues (c^{n−1} δ)^{1/n}."""
    size, small = 10**4, Fraction(1, 10**12)
    J = np.full((n, n), fmpq(0), dtype=object)
    for i in range(n - 1):
        J[i, i + 1] = fmpq(size)
    box = J.copy()
    box[n - 1, 0] = arb(0, arb(numbers.exact(small)))
    boxes = eigenvalues._moved([fmpq(0)] * n, box, arb(numbers.exact(small)))
    truth = (float(size) ** (n - 1) * float(small)) ** (1 / n)
    for z in boxes:
        assert float(z.real.abs_upper()) >= truth
        assert float(z.imag.abs_upper()) >= truth * (n > 2)
        assert float(z.real.abs_upper()) <= 16 * truth
    ones = np.full((n, n), arb(0, 1), dtype=object)  # the matrix of ones has the eigenvalue n
    for z in eigenvalues._moved([fmpq(0)] * n, ones, arb(n)):
        assert z.real.abs_upper() >= n
    outer = torch.linalg.eigvals(BallArray(box))
    corner = J.copy()
    corner[n - 1, 0] = numbers.exact(small)
    inside = torch.linalg.eigvals(BallArray(corner))
    assert_spectrum_inside(outer, inside.midpoints().tolist())


def test_roots_that_are_not_real_are_noticed():
    with pytest.raises(ArithmeticError, match=r"found 1 real roots of .*, which has 3"):
        roots.distinct_real_roots(fmpz_poly([-1, 0, 0, 1]))


def assert_spectrum_inside(outer, values):
    """A bijection of the boxes and the values, each value inside its box, by exhaustion."""
    real, imag = outer.real, outer.imag
    n = len(values)

    def inside(x, i, value):
        return float(x.lower()[i]) - 1e-12 <= value <= float(x.upper()[i]) + 1e-12

    def fits(i, z):
        return inside(real, i, z.real) and inside(imag, i, z.imag)

    assert any(
        all(fits(i, values[j]) for i, j in enumerate(order)) for order in permutations(range(n))
    )


@pytest.mark.oracle("rankcheck.balls.spectral_radius", "mpmath.eig")
def test_eigenvalues_of_random_matrices_against_mpmath():
    rng = random.Random(11)
    for n in (2, 3, 5, 6):
        A = rationals(rng, n)
        with mpmath.workdps(60):
            M = to_mpmath(A)
            oracle = mpmath.eig(M, left=False, right=False)
            size = max(abs(z) for z in oracle)
            truth = [exact(fraction(abs(z))) for z in oracle]
            assert_contains(spectral_radius(A), exact(fraction(size)), Fraction(1, 10**35))
            assert widest(spectral_radius(A)) < TIGHT
        values = torch.linalg.eigvals(A)
        assert widest(values) < TIGHT
        for x in values.abs():
            assert any((x - y).abs() < 1e-35 for y in truth)
        assert_contains(values.sum(), torch.complex(torch.trace(A), 0 * torch.trace(A)))
        product = values.prod()
        assert_contains(product, torch.complex(torch.linalg.det(A), 0 * torch.linalg.det(A)))
        wide = torch.linalg.eigvals(A * pi() / pi())
        assert_contains(wide, values, Fraction(1, 10**30))
        assert widest(wide) < 1e-25


def test_eigenvalues_that_floats_do_not_tell_apart_share_a_box():
    A = exact([[1, 1000, 0], [0, 1 + NEAR, 0], [0, 0, 3]])
    values = torch.linalg.eigvals(A)
    near = [z for z in values if abs(z.midpoints() - 1) < 0.5]
    assert len(near) == 2
    for z in near:
        assert z.real.lower() <= 1
        assert z.real.upper() >= 1 + NEAR
    assert widest(values) < 1e-29


def test_the_eigenvectors_of_a_general_matrix_have_no_ball_form():
    with pytest.raises(NoBallForm, match="eigvals"):
        torch.linalg.eig(exact([[1, 2], [3, 4]]))


def test_matrix_exponentials_against_mpmath():
    rng = random.Random(12)
    cases = [rationals(rng, n) for n in (1, 2, 4)]
    cases += [exact(torch.zeros(3, 3)), exact([[0, 1], [0, 0]]), exact([[0, -1], [1, 0]])]
    for A in cases:
        with mpmath.workdps(80):
            M = to_mpmath(A)
            E = mpmath.expm(M, method="taylor")
            truth = [[fraction(E[i, j]) for j in range(E.cols)] for i in range(E.rows)]
        result = torch.linalg.matrix_exp(A)
        assert_contains(result, exact(truth), Fraction(1, 10**45))
        assert widest(result) < 1e-25 * max(1, float(result.midpoints().abs().max()))
        assert_contains(result @ torch.matrix_exp(-A), exact(torch.eye(len(A))))


def test_functions_raise_for_shapes_that_do_not_fit():
    A = exact(torch.ones(2, 3))
    for function in (torch.linalg.eigh, torch.linalg.eigvals, spectral_radius,
                     torch.linalg.matrix_exp, torch.linalg.eigvalsh, torch.linalg.det,
                     torch.linalg.inv, torch.linalg.cholesky,
                     lambda X: torch.linalg.solve(X, X),
                     lambda X: spectral_function(X, torch.exp)):  # fmt: skip
        for batch in (A, A[None][:0]):  # of no matrices as well
            with pytest.raises((ValueError, RuntimeError), match="square"):
                function(batch)


def test_empty_matrices():
    A = exact(torch.zeros(2, 0, 0))
    assert torch.linalg.eigh(A).eigenvalues.shape == (2, 0)
    assert torch.linalg.eigvals(A).shape == (2, 0)
    assert (spectral_radius(A) == 0).all()
    assert spectral_function(A, torch.exp).shape == (2, 0, 0)
    assert torch.linalg.svd(exact(torch.zeros(3, 0)), full_matrices=False).U.shape == (3, 0)


def test_other_conventions_turn_all_signs_and_tell_any_two_columns_apart():
    """The columns of any size up to 16: a sign each, and the orders that the module names."""

    def under(pattern, question):
        with conventions(pattern):
            return question()

    turned = [under(p, lambda: [choices.sign(k) for k in range(16)]) for p in OTHER_CONVENTIONS]
    assert [-1] * 16 in turned
    assert any(under(p, lambda: {choices.sign(k) for k in range(40)}) == {-1}
               for p in OTHER_CONVENTIONS)  # fmt: skip
    for k in range(16):
        for j in range(k):
            assert any(signs[k] != signs[j] for signs in turned)
    assert under(0, lambda: [choices.sign(k) for k in range(17)]) == [1] * 17
    orders = {p: under(p, lambda: choices.order(5)) for p in (0, *OTHER_CONVENTIONS)}
    assert list(orders.values()) == [
        [0, 1, 2, 3, 4],
        [4, 3, 2, 1, 0],
        [1, 0, 3, 2, 4],
        [0, 2, 1, 4, 3],
        [1, 2, 3, 4, 0],
        [2, 3, 4, 0, 1],
    ]
    assert (choices.sign(3), choices.order(3)) == (1, [0, 1, 2])  # outside of any


def test_the_width_of_boxes_is_that_of_the_widest_side():
    boxes = [complexes.Complex(arb(0, 0.5), arb(1, 2)), complexes.Complex(arb(3), arb(0, 1))]
    assert eigenvalues._width(boxes) == pytest.approx(2)


def test_other_conventions_turn_signs_and_orders_and_nothing_else():
    A = exact([[2, 1, 0], [1, 3, 1], [0, 1, 5]])
    B = exact([[1, 2, 0], [0, 3, 1], [1, 0, 4]])

    def arbitrary():
        U, _, Vh = torch.linalg.svd(B)
        return [torch.linalg.eigh(A).eigenvectors + 0, torch.linalg.qr(B).Q, U + 0, Vh.mT + 0]

    def determined():
        values, V = torch.linalg.eigh(A)
        Q, R = torch.linalg.qr(B)
        U, s, Vh = torch.linalg.svd(B)
        return [V @ torch.diag(values) @ V.mT, Q @ R, U @ torch.diag(s) @ Vh]

    plain, order = arbitrary(), torch.linalg.eigvals(B)
    orders = {repr(order)}
    for pattern in OTHER_CONVENTIONS:
        turned = torch.tensor([-1 if pattern >> k & 1 else 1 for k in range(3)])
        with conventions(pattern) as noticed:
            for x, y in zip(arbitrary(), plain, strict=True):
                assert_contains(x * turned - y, 0 * y)
            for x, y in zip(determined(), (A, B, B), strict=True):
                assert_contains(x, y)
            found = torch.linalg.eigvals(B)
            assert sorted(map(repr, found)) == sorted(map(repr, order))
            orders.add(repr(found))
        assert noticed.used
    assert len(orders) == 6
    with conventions() as noticed:
        torch.linalg.svdvals(B)
        torch.linalg.eigvalsh(A)
        spectral_function(A, torch.exp)
        spectral_radius(B)
    assert not noticed.used
    with conventions() as noticed:
        torch.linalg.eigvals(B)
    assert noticed.used
