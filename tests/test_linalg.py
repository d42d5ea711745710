"""Singular values, ranks and Schatten sums against LAPACK, closed forms and exact balls."""

import math
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.linalg
import torch

from rankcheck.balls import BallArray, Undecided
from rankcheck.theory import linalg

SHAPES = [(1, 1), (1, 4), (2, 2), (2, 5), (4, 2), (3, 5), (4, 4)]


def matrices(*shape, seed=0, low=-16, high=17):
    """Random multiples of 1/4, which are exact on balls."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(low, high, shape, generator=generator).double() / 4


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [1.0, 2.0**-400, 2.0**400])
def test_singular_values_agree_with_lapack(shape, scale):
    generator = torch.Generator().manual_seed(1)
    A = torch.randn(500, *shape, dtype=torch.float64, generator=generator)
    A[:100] *= torch.logspace(0, -12, shape[-1], dtype=torch.float64)  # ill-conditioned
    A[100] = 0
    A[101] = torch.eye(*shape)
    A[102] = 1  # rank one
    s = linalg.singular_values(A * scale)
    oracle = torch.from_numpy(np.linalg.svd(A.numpy(), compute_uv=False)) * scale
    assert s.shape == oracle.shape
    assert (s.diff(dim=-1) <= 0).all()
    assert ((s - oracle).abs() <= 4e-15 * oracle[..., :1]).all()


@pytest.mark.parametrize("shape", [(2, 2), (2, 5), (4, 2)])
def test_small_singular_value_of_two_is_accurate_relative_to_the_first(shape):
    """The Gram matrix would give s_2 no better than 1e-8·s_1 here."""
    A = matrices(200, *shape, seed=2)
    A[:, 1:] = A[:, :1] + 2.0**-30 * A[:, 1:]
    s = linalg.singular_values(A)
    proof = linalg.singular_values(BallArray.exact(A)).midpoints()
    assert (proof[:, 1] < 1e-6 * proof[:, 0]).all()
    assert ((s - proof).abs() <= 1e-15 * proof[:, :1]).all()


@pytest.mark.parametrize("inner", [0, 1, 2, 3])
@pytest.mark.parametrize("shape", [(3, 2), (4, 4)])
def test_rank_of_products(shape, inner):
    m, n = shape
    A = matrices(50, m, inner, seed=3) @ matrices(50, inner, n, seed=4)
    ranks = linalg.rank(A)
    assert ranks.dtype == torch.int64
    exact = linalg.rank(BallArray.exact(A))
    assert torch.equal(ranks, exact)
    assert ranks.max() == min(m, n, inner)
    assert (linalg.rank_gap(A) > 4).all()
    # With factors that round, the last singular values are noise and must not count.
    generator = torch.Generator().manual_seed(5)
    B = torch.randn(50, m, inner, dtype=torch.float64, generator=generator)
    C = torch.randn(50, inner, n, dtype=torch.float64, generator=generator)
    assert (linalg.rank(B @ C) == min(m, n, inner)).all()


def test_rank_gap_measures_the_distance_to_another_decision():
    threshold = linalg.RANK_FACTOR * 3 * torch.finfo(torch.float64).eps
    A = torch.diag_embed(
        torch.tensor([[1, 0.5, 4 * threshold], [1, 0.5, threshold / 8], [0, 0, 0]]).double()
    )
    assert linalg.rank(A).tolist() == [3, 2, 0]
    gap = linalg.rank_gap(A)
    torch.testing.assert_close(gap[:2], torch.tensor([4.0, 8.0]).double(), rtol=1e-6, atol=0)
    assert gap[2] == math.inf
    assert linalg.rank_gap(BallArray.exact(A)).tolist() == [math.inf] * 3


def test_noise_raises_the_threshold():
    A = torch.diag(torch.tensor([1.0, 1e-9, 0.0]).double()).expand(2, 3, 3)
    noise = torch.tensor([0.0, 1e-8]).double()
    assert linalg.rank(A, noise).tolist() == [2, 1]
    assert linalg.schatten_power(A, Fraction(1, 50), noise)[1] == 1
    assert linalg.pseudo_determinant(A, noise).tolist() == pytest.approx([1e-9, 1])


@pytest.mark.parametrize("q", [Fraction(1, 25), 1, Fraction(4, 3), 2])
@pytest.mark.parametrize("shape", [(1, 4), (2, 2), (4, 4)])
def test_schatten_power_against_balls(shape, q):
    A = matrices(4, *shape, seed=6)
    A[1, -1] = A[1, 0]  # repeated row
    A[2] = 0
    if shape[0] == shape[1]:
        A[3] = 3 * torch.eye(shape[0])
    value = linalg.schatten_power(A, q)
    proof = linalg.schatten_power(BallArray.exact(A), q).midpoints()
    torch.testing.assert_close(value, proof, rtol=1e-13, atol=0)
    norm = linalg.schatten_norm(A, q)
    torch.testing.assert_close(norm, value ** (1 / float(q)), rtol=1e-13, atol=0)


def test_a_float_exponent_stands_for_its_decimal_on_balls():
    """0.3 is 3/10, whose inverse is no float; 2 / 3 was computed and stands for its neighbours."""
    four = BallArray.exact([[4]])
    assert linalg.schatten_norm(four, 0.3).radii() < 1e-30
    assert linalg.schatten_norm(four, Fraction(3, 10)).radii() < 1e-30
    norm = linalg.schatten_norm(four, 2 / 3)
    assert norm.lower() < 4 < norm.upper()


def test_schatten_power_takes_one_exponent_a_matrix():
    A = matrices(5, 3, 3, seed=7)
    q = torch.tensor([0.1, 0.5, 1, 2, 3]).double()
    each = torch.stack([linalg.schatten_power(a, float(p)) for a, p in zip(A, q, strict=True)])
    torch.testing.assert_close(linalg.schatten_power(A, q), each, rtol=1e-14, atol=0)


@pytest.mark.parametrize("q", [0, -1, Fraction(-1, 2)])
def test_schatten_power_rejects_exponents(q):
    with pytest.raises(ValueError, match="it must be positive"):
        linalg.schatten_power(torch.eye(2).double(), q)


@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_of_generic_matrices(shape):
    generator = torch.Generator().manual_seed(8)
    A = torch.randn(2, *shape, dtype=torch.float64, generator=generator, requires_grad=True)
    powers = [lambda a, q=q: linalg.schatten_power(a, q) for q in (0.3, 1, Fraction(5, 2))]
    of_products = (linalg.log_pseudo_determinant, linalg.pseudo_determinant)
    for function in (*powers, *of_products, linalg.singular_values):
        assert torch.autograd.gradcheck(function, A)


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("q", [0.3, 1, 2.5])
def test_gradient_at_repeated_singular_values(n, q):
    """For A = sQ with Q orthogonal the gradient of ‖A‖_{S^q}^q is q s^{q−1} Q.

    Rounded entries have singular values beside each other, on either side.
    """
    generator = torch.Generator().manual_seed(9)
    Q = torch.linalg.qr(torch.randn(100, n, n, dtype=torch.float64, generator=generator))[0]
    Q[0] = torch.eye(n)
    A = (1.5 * Q).requires_grad_()
    (gradient,) = torch.autograd.grad(linalg.schatten_power(A, q).sum(), A)
    torch.testing.assert_close(gradient, q * 1.5 ** (q - 1) * Q, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_are_finite_at_deficient_matrices(shape):
    A = torch.zeros(4, *shape, dtype=torch.float64)
    A[1, 0, 0] = 1
    A[2] = 1
    A[3] = torch.eye(*shape)
    A.requires_grad_()
    for function in (
        lambda A: linalg.schatten_power(A, Fraction(1, 25)),
        linalg.log_pseudo_determinant,
        linalg.pseudo_determinant,
        linalg.operator_norm,
        linalg.nuclear_norm,
        linalg.frobenius_squared,
    ):
        (gradient,) = torch.autograd.grad(function(A).sum(), A)
        assert gradient.isfinite().all()


@pytest.mark.parametrize("q", [Fraction(1, 3), 0.5, 1, 2, 7.5])
@pytest.mark.oracle("rankcheck.linalg.power", "mpmath.power")
def test_powers_against_mpmath(q):
    x = torch.tensor([0.0, 2.0**-60, 0.25, 1.0, 3.5, 1e12], dtype=torch.float64)
    if q in (1, 2, 3):
        x = torch.cat((x, -x))
    with mpmath.workdps(60):
        exponent = mpmath.mpf(Fraction(q).numerator) / Fraction(q).denominator
        truth = [mpmath.power(mpmath.mpf(v), exponent) for v in x.tolist()]
        texts = [mpmath.nstr(value, 50) for value in truth]
    expected = torch.tensor([float(value) for value in truth], dtype=torch.float64)
    torch.testing.assert_close(linalg.power(x, q), expected, rtol=1e-14, atol=0)
    exponents = torch.full_like(x, float(q))
    torch.testing.assert_close(linalg.power(x, exponents), expected, rtol=1e-14, atol=0)
    proof = linalg.power(BallArray.exact(x), q)
    for low, high, text in zip(proof.lower(), proof.upper(), texts, strict=True):
        slack = abs(Fraction(text)) / 10**45
        assert low - slack <= Fraction(text) <= high + slack
        assert high - low <= abs(Fraction(text)) / 10**12


def test_power_at_zero():
    x = torch.tensor([0.0, 1.0, 4.0], dtype=torch.float64, requires_grad=True)
    value = linalg.power(x, Fraction(1, 2))
    assert value.tolist() == [0, 1, 2]
    (gradient,) = torch.autograd.grad(value.sum(), x)
    assert gradient.tolist() == [0, 0.5, 0.25]
    assert linalg.power(x, torch.tensor([0.5, 2, 0.5]).double()).tolist() == [0, 1, 2]
    assert linalg.power(torch.tensor([-2.0]).double(), 2).tolist() == [4]
    exact = linalg.power(BallArray.exact([0, Fraction(9, 4)]), Fraction(1, 2))
    assert exact.midpoints().tolist() == [0, 1.5]


def test_pseudo_determinant_of_zero_is_the_empty_product():
    zero = torch.zeros(3, 2, dtype=torch.float64)
    assert linalg.pseudo_determinant(zero) == 1
    assert linalg.log_pseudo_determinant(zero) == 0
    assert linalg.pseudo_determinant(BallArray.exact(zero)).midpoints() == 1


def squared_volume(A, r):
    """The square of the product of r singular values: the sum of squared r × r minors."""
    m, n = len(A), len(A[0])
    return sum(
        slow_determinant([[A[i][j] for j in columns] for i in rows]) ** 2
        for rows in combinations(range(m), r)
        for columns in combinations(range(n), r)
    )


def slow_determinant(A):
    if not A:
        return Fraction(1)
    minors = ([row[:j] + row[j + 1 :] for row in A[1:]] for j in range(len(A)))
    return sum((-1) ** j * A[0][j] * slow_determinant(M) for j, M in enumerate(minors))


@pytest.mark.parametrize(("m", "n", "r"), [(2, 2, 1), (4, 3, 2), (3, 5, 2), (4, 4, 4)])
@pytest.mark.oracle(
    "rankcheck.linalg.log_pseudo_determinant", "sums of squared minors over the rationals"
)
@pytest.mark.oracle(
    "rankcheck.linalg.pseudo_determinant", "sums of squared minors over the rationals"
)
@pytest.mark.oracle(
    "rankcheck.balls.log_pseudo_determinant", "sums of squared minors over the rationals"
)
def test_pseudo_determinants_of_deficient_matrices_against_minors(m, n, r):
    """Cauchy and Binet: |A|_+² is the sum of the squares of the minors of the size of the rank."""
    generator = torch.Generator().manual_seed(100 * m + 10 * n + r)
    left, right = (
        torch.randint(-3, 4, shape, generator=generator).double()
        for shape in ((9, m, r), (9, r, n))
    )
    A = left @ right
    A = A[torch.linalg.matrix_rank(A) == r]
    assert len(A) > 3
    exact = [squared_volume([[Fraction(x) for x in row] for row in M], r) for M in A.tolist()]
    logs = torch.tensor([math.log(x) / 2 for x in exact], dtype=torch.float64)
    assert (logs.abs() > 0.1).any()
    torch.testing.assert_close(linalg.log_pseudo_determinant(A), logs, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(linalg.pseudo_determinant(A), logs.exp(), rtol=1e-11, atol=1e-12)
    proof = linalg.log_pseudo_determinant(BallArray.exact(A))
    torch.testing.assert_close(proof.midpoints(), logs, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("shape", [(2, 2), (3, 4), (5, 2)])
@pytest.mark.oracle("rankcheck.linalg.operator_norm", "torch.linalg.matrix_norm")
@pytest.mark.oracle("rankcheck.linalg.nuclear_norm", "torch.linalg.matrix_norm")
@pytest.mark.oracle("rankcheck.linalg.frobenius_squared", "torch.linalg.matrix_norm")
def test_norms(shape):
    A = matrices(10, *shape, seed=10)
    torch.testing.assert_close(linalg.operator_norm(A), torch.linalg.matrix_norm(A, 2))
    torch.testing.assert_close(linalg.nuclear_norm(A), torch.linalg.matrix_norm(A, "nuc"))
    torch.testing.assert_close(linalg.frobenius_squared(A), torch.linalg.matrix_norm(A) ** 2)
    assert torch.equal(linalg.schatten_norm(A, math.inf), linalg.operator_norm(A))


def slow_projection(A):
    """The projection onto the range, by Gram and Schmidt's process over the rationals."""
    m = len(A)
    basis: list[list[Fraction]] = []
    for column in zip(*A, strict=True):
        v = list(column)
        for b in basis:
            along = Fraction(sum(x * y for x, y in zip(column, b, strict=True)))
            length = sum(y * y for y in b)
            v = [x - along / length * y for x, y in zip(v, b, strict=True)]
        if any(v):
            basis.append(v)
    lengths = [sum(y * y for y in b) for b in basis]
    return [
        [sum((b[i] * b[j] / s for b, s in zip(basis, lengths, strict=True)), Fraction(0))
         for j in range(m)]
        for i in range(m)
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [(3, 1), (1, 3), (3, 3), (4, 2)])
@pytest.mark.oracle("rankcheck.linalg.range_projection", "Gram-Schmidt over the rationals")
def test_range_projections_against_gram_and_schmidt(shape):
    m, n = shape
    A = matrices(6, m, n, seed=32)
    A[0] = 0
    A[1:4] = matrices(3, m, 1, seed=33) @ matrices(3, 1, n, seed=34)
    truth = [slow_projection([[Fraction(x) for x in row] for row in M]) for M in A.tolist()]
    exact = linalg.range_projection(BallArray.exact(A))
    assert exact.lower().tolist() == exact.upper().tolist() == truth
    floats = torch.tensor(np.array(truth, dtype=float))
    torch.testing.assert_close(linalg.range_projection(A), floats, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 1), (1, 3), (3, 3), (4, 2)])
@pytest.mark.oracle("rankcheck.linalg.pseudo_inverse", "numpy.linalg.pinv")
def test_pseudo_inverses(shape):
    m, n = shape
    A = matrices(6, m, n, seed=35)
    A[0] = 0
    A[1:4] = matrices(3, m, 1, seed=36) @ matrices(3, 1, n, seed=37)
    truth = torch.tensor(np.linalg.pinv(A.numpy(), rcond=1e-12))
    torch.testing.assert_close(linalg.pseudo_inverse(A), truth, rtol=1e-9, atol=1e-12)
    exact = linalg.pseudo_inverse(BallArray.exact(A))
    assert exact.lower().tolist() == exact.upper().tolist()
    torch.testing.assert_close(exact.midpoints(), truth, rtol=1e-9, atol=1e-12)


@pytest.mark.oracle("rankcheck.linalg.block_diagonal", "torch.block_diag")
@pytest.mark.oracle("rankcheck.linalg.eye", "torch.eye")
def test_blocks_and_identities_follow_their_kind():
    A, B = matrices(2, 1, 3, seed=13), matrices(2, 2, 1, seed=14)
    blocks = linalg.block_diagonal(A, B)
    assert torch.equal(blocks[1], torch.block_diag(A[1], B[1]))
    exact = linalg.block_diagonal(BallArray.exact(A), BallArray.exact(B))
    assert torch.equal(exact.midpoints(), blocks)
    assert torch.equal(linalg.eye(2, A), torch.eye(2).double())
    assert torch.equal(linalg.eye(2, BallArray.exact(A)).midpoints(), torch.eye(2).double())
    with pytest.raises(ValueError, match="batch axes must be equal"):
        linalg.block_diagonal(A, B[0])


def test_a_vector_is_no_matrix():
    with pytest.raises(ValueError, match=r"received shape \(3,\); a matrix has at least two axes"):
        linalg.singular_values(torch.ones(3).double())


def test_schatten_sums_of_nearly_singular_matrices():
    """The eigenvalues of the Gram matrix have errors of 1e-8·s_1, which s^{1/25} magnifies."""
    A = torch.diag(torch.tensor([1.0, 0.5, 1e-10]).double())
    A = A @ torch.tensor([[1.0, 2, 3], [0, 1, 4], [5, 6, 0]]).double()
    exact = linalg.schatten_power(BallArray.exact(A), Fraction(1, 25)).midpoints()
    torch.testing.assert_close(linalg.schatten_power(A, Fraction(1, 25)), exact, rtol=1e-7, atol=0)


# Functions of symmetric matrices, the spectral radius and permanents.


def symmetric(*shape, seed=0):
    A = matrices(*shape, seed=seed)
    return A + A.mT


SYMMETRIC_FUNCTIONS = {
    "sqrt": lambda A: linalg.symmetric_sqrt(A @ A),
    "power": lambda A: linalg.symmetric_power(A @ A, Fraction(3, 4)),
    "log": lambda A: linalg.symmetric_log(A @ A + linalg.eye(A.shape[-1], A)),
    "abs": linalg.symmetric_abs,
    "exp": lambda A: linalg.spectral_function(A / 8, torch.exp),
    "positive part": lambda A: linalg.spectral_function(A, lambda x: x.clamp(min=0)),
    "constant": lambda A: linalg.spectral_function(A, torch.ones_like),
}
PROJECTIONS = {f"projection {k}": lambda A, k=k: linalg.spectral_projection(A, k) for k in range(3)}


@pytest.mark.parametrize("name", SYMMETRIC_FUNCTIONS)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_functions_of_symmetric_matrices_against_balls(name, n):
    A = symmetric(6, n, n, seed=20)
    A[1] = 0
    A[2] = 3 * torch.eye(n)
    A[3] = 1
    function = SYMMETRIC_FUNCTIONS[name]
    proof = function(BallArray.exact(A))
    torch.testing.assert_close(proof.midpoints(), function(A), rtol=1e-11, atol=1e-10)
    assert (proof.radii() < 1e-10).all()


def test_only_the_lower_triangle_of_a_symmetric_matrix_is_read():
    A = symmetric(4, 4, 4, seed=21)
    skew = A + matrices(4, 4, 4, seed=22).triu(1)
    torch.testing.assert_close(linalg.symmetric_abs(skew), linalg.symmetric_abs(A))
    exact = [linalg.symmetric_abs(BallArray.exact(M)) for M in (skew, A)]
    assert (exact[0] - exact[1]).abs().amax() < 1e-30


def test_roots_of_semidefinite_and_logarithms_of_singular_matrices():
    B = matrices(5, 4, 2, seed=23)
    singular = B @ B.mT
    root = linalg.symmetric_sqrt(singular)
    torch.testing.assert_close(root @ root, singular, rtol=1e-12, atol=1e-11)
    assert torch.equal(linalg.rank(root), linalg.rank(singular))
    indefinite = torch.diag(torch.tensor([-4.0, 9.0]).double())
    roots = linalg.symmetric_sqrt(indefinite).diagonal().tolist()
    assert roots == pytest.approx([0, 3], rel=1e-14, abs=1e-14)
    threshold = linalg.RANK_FACTOR * 8 * torch.finfo(torch.float64).eps  # of an 8 x 8 matrix
    small = torch.diag(torch.tensor([1.0] * 6 + [threshold / 2, threshold * 2]).double())
    assert (linalg.symmetric_sqrt(small).diagonal() == 0).tolist() == [False] * 6 + [True, False]
    mixed = torch.stack([torch.diag(torch.tensor([1.0, -1.0])), torch.eye(2)]).double()
    logs = linalg.symmetric_log(mixed)
    assert logs[0].isnan().all()
    torch.testing.assert_close(logs[1], torch.zeros(2, 2).double(), rtol=0, atol=1e-14)
    with pytest.raises(Undecided):
        _ = linalg.symmetric_log(BallArray.exact(mixed)) >= 0


@pytest.mark.parametrize("q", [0, -1, Fraction(-1, 2)])
def test_powers_of_semidefinite_matrices_are_positive(q):
    with pytest.raises(ValueError, match="it must be positive"):
        linalg.symmetric_power(torch.eye(2).double(), q)


@pytest.mark.parametrize("name", [*SYMMETRIC_FUNCTIONS, *PROJECTIONS])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
def test_gradients_of_functions_of_symmetric_matrices(name, dtype):
    generator = torch.Generator().manual_seed(24)
    A = torch.randn(3, 3, dtype=dtype, generator=generator, requires_grad=True)
    function = (SYMMETRIC_FUNCTIONS | PROJECTIONS)[name]
    assert torch.autograd.gradcheck(lambda A: function((A + A.mH) / 2), A)


def test_gradients_at_repeated_eigenvalues_are_those_of_the_function():
    """At cI the derivative of f(A) is f'(c) dA, and torch's eigh has nan there."""
    for n in (1, 2, 4):
        for c, name, slope in [(4.0, "sqrt", 0.25), (2.0, "log", 0.5), (-3.0, "abs", -1.0)]:
            function = getattr(linalg, f"symmetric_{name}")
            A = (c * torch.eye(n).double()).requires_grad_()
            direction = symmetric(n, n, seed=25)
            (gradient,) = torch.autograd.grad((function(A) * direction).sum(), A)
            torch.testing.assert_close(gradient, slope * direction)
    # A cluster: the divided differences lose no digits.
    A = torch.diag(torch.tensor([1.0, 1.0 + 1e-9, 4.0]).double()).requires_grad_()
    (gradient,) = torch.autograd.grad(linalg.symmetric_sqrt(A)[0, 1], A)
    assert gradient[0, 1] == pytest.approx(0.25, rel=1e-8)


def test_gradients_are_finite_everywhere():
    n = 3
    A = torch.zeros(7, n, n, dtype=torch.float64)
    A[1] = torch.eye(n)
    A[2] = 1
    A[3] = torch.diag(torch.ones(n - 1), 1)  # a Jordan block
    A[4] = torch.eye(n).roll(1, 0)  # three eigenvalues of modulus 1
    A[5] = -torch.eye(n)
    A[6, 0, 0] = 2
    A.requires_grad_()
    for function in (
        linalg.symmetric_sqrt,
        linalg.symmetric_log,
        linalg.symmetric_abs,
        linalg.spectral_radius,
        linalg.permanent,
        PROJECTIONS["projection 1"],
        lambda A: linalg.spectral_function(A, torch.sign),
    ):
        (gradient,) = torch.autograd.grad(function(A).nan_to_num().sum(), A)
        assert gradient.isfinite().all()


def slow_top(M, k):
    """The projection onto the k largest eigenvalues, from a Schur form with these in front."""
    values = [-math.inf, *sorted(np.linalg.eigvalsh(M)), math.inf]
    cut = (values[len(M) - k] + values[len(M) - k + 1]) / 2
    _, V, count = scipy.linalg.schur(M, sort=lambda x, *_: x.real > cut)
    assert count == k
    return V[:, :k] @ V[:, :k].T


@pytest.mark.oracle("rankcheck.linalg.spectral_projection", "scipy.linalg.schur, sorted")
def test_spectral_projections():
    A = symmetric(6, 4, 4, seed=26)
    for k in range(5):
        P = linalg.spectral_projection(A, k)
        for M, projection in zip(A.numpy(), P.numpy(), strict=True):
            np.testing.assert_allclose(projection, slow_top(M, k), rtol=0, atol=1e-11)
        proof = linalg.spectral_projection(BallArray.exact(A), k)
        torch.testing.assert_close(proof.midpoints(), P, rtol=1e-9, atol=1e-9)
    with pytest.raises(ValueError, match="0 <= k <= n"):
        linalg.spectral_projection(A, 5)
    with pytest.raises(ValueError, match="square"):
        linalg.spectral_projection(A[:, :2], 1)


@pytest.mark.oracle("rankcheck.linalg.spectral_radius", "numpy.linalg.eigvals")
def test_spectral_radii():
    A = matrices(12, 4, 4, seed=27)
    A[0] = 0
    A[1] = torch.eye(4)
    A[2] = torch.eye(4).roll(1, 0)
    radius = linalg.spectral_radius(A)
    oracle = np.abs(np.linalg.eigvals(A.numpy())).max(-1)
    torch.testing.assert_close(radius, torch.from_numpy(oracle), rtol=1e-12, atol=1e-12)
    proof = linalg.spectral_radius(BallArray.exact(A))
    torch.testing.assert_close(proof.midpoints(), radius, rtol=1e-12, atol=1e-12)
    assert linalg.spectral_radius(torch.zeros(3, 0, 0)).tolist() == [0, 0, 0]
    generator = torch.Generator().manual_seed(28)
    for dtype in (torch.float64, torch.complex128):
        B = torch.randn(4, 3, 3, dtype=dtype, generator=generator, requires_grad=True)
        assert torch.autograd.gradcheck(linalg.spectral_radius, B)


def slow_permanent(A):
    n = len(A)
    return sum(math.prod(A[i][p[i]] for i in range(n)) for p in permutations(range(n)))


@pytest.mark.parametrize("n", [0, 1, 3, 5])
@pytest.mark.oracle("rankcheck.linalg.permanent", "the sum over all permutations")
def test_permanents(n):
    A = matrices(5, n, n, seed=29)
    A[0] = 0
    A[1] = 1
    value = linalg.permanent(A)
    assert value.shape == (5,)
    truth = [slow_permanent([[Fraction(x) for x in row] for row in M]) for M in A.tolist()]
    torch.testing.assert_close(value, torch.tensor([float(x) for x in truth]).double())
    proof = linalg.permanent(BallArray.exact(A))
    assert proof.is_exact()
    assert proof.lower().tolist() == truth
    assert value[1] == math.factorial(n)
    if n:
        assert torch.autograd.gradcheck(linalg.permanent, A.requires_grad_())


def test_a_permanent_of_nonnegative_entries_loses_no_digits():
    A = 2.0 ** (-torch.arange(64.0, dtype=torch.float64).reshape(8, 8))
    proof = linalg.permanent(BallArray.exact(A)).midpoints()
    torch.testing.assert_close(linalg.permanent(A), proof, rtol=1e-14, atol=0)
    with pytest.raises(ValueError, match="n <= 20"):
        linalg.permanent(torch.ones(21, 21))
    with pytest.raises(ValueError, match="square"):
        linalg.permanent(torch.ones(2, 3))


# Against numpy and scipy, for every public function of the module that has no such test above.


@pytest.mark.oracle("rankcheck.linalg.singular_values", "numpy.linalg.svd")
@pytest.mark.oracle("rankcheck.linalg.rank", "numpy.linalg.matrix_rank")
@pytest.mark.oracle("rankcheck.linalg.schatten_power", "a sum over numpy.linalg.svd")
@pytest.mark.oracle("rankcheck.linalg.schatten_norm", "a sum over numpy.linalg.svd")
@pytest.mark.parametrize("shape", SHAPES)
def test_functions_of_singular_values_against_numpy(shape):
    A = matrices(12, *shape, seed=30)
    A[0] = 0
    A[1:4] = A[1:4, :, :1] @ A[1:4, :1, :]
    N = A.numpy()
    s = np.linalg.svd(N, compute_uv=False)
    np.testing.assert_allclose(linalg.singular_values(A).numpy(), s, atol=1e-12)
    ranks = np.linalg.matrix_rank(N)
    assert linalg.rank(A).tolist() == ranks.tolist()
    kept = np.where(np.arange(s.shape[-1]) < ranks[:, None], s, 0.0)
    for q in (0.25, 1.0, 2, 3.0):
        powers = (kept**q).sum(-1)
        np.testing.assert_allclose(linalg.schatten_power(A, q).numpy(), powers, rtol=1e-11)
        norms = linalg.schatten_norm(A, q).numpy()
        np.testing.assert_allclose(norms, powers ** (1 / q), rtol=1e-10)


@pytest.mark.oracle("rankcheck.linalg.spectral_function", "scipy.linalg.funm")
@pytest.mark.oracle("rankcheck.linalg.symmetric_sqrt", "scipy.linalg.sqrtm")
@pytest.mark.oracle("rankcheck.linalg.symmetric_power", "scipy.linalg.fractional_matrix_power")
@pytest.mark.oracle("rankcheck.linalg.symmetric_log", "scipy.linalg.expm")
@pytest.mark.oracle("rankcheck.linalg.symmetric_abs", "scipy.linalg.polar")
@pytest.mark.parametrize("n", [1, 2, 4])
def test_functions_of_symmetric_matrices_against_scipy(n):
    for A in symmetric(5, n, n, seed=31):
        G = A @ A + torch.eye(n)
        near: Any = {"rtol": 1e-9, "atol": 1e-9}
        np.testing.assert_allclose(linalg.symmetric_sqrt(G), scipy.linalg.sqrtm(G.numpy()), **near)
        for q in (Fraction(1, 3), 0.75, 2):
            powers = scipy.linalg.fractional_matrix_power(G.numpy(), float(q))
            np.testing.assert_allclose(linalg.symmetric_power(G, q), powers, **near)
        logarithm = linalg.symmetric_log(G).numpy()
        np.testing.assert_allclose(scipy.linalg.expm(logarithm), G.numpy(), **near)
        np.testing.assert_allclose(
            linalg.symmetric_abs(A), scipy.linalg.polar(A.numpy())[1], **near
        )
        sines = scipy.linalg.funm(A.numpy(), np.sin)
        np.testing.assert_allclose(linalg.spectral_function(A, torch.sin), sines, **near)


@pytest.mark.oracle("rankcheck.linalg.matrix", "numpy.array")
def test_a_matrix_of_entries():
    rows = ((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
    entries = tuple(tuple(torch.tensor([v, -v], dtype=torch.float64) for v in row) for row in rows)
    np.testing.assert_array_equal(linalg.matrix(entries), np.array([rows, -np.array(rows)]))
