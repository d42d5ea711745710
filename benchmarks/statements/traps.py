"""Traps: claims that a careless referee judges wrongly, and statements with an honest end."""

import torch

from rankcheck import conjecture, eq, leq
from rankcheck.balls import is_ball
from rankcheck.instances import instances, matrices
from rankcheck.linalg import frobenius_squared, nuclear_norm, operator_norm


@instances
def pairs(source, *, size=(2, 3)):
    """Two square matrices."""
    n = source.integer(*size)
    return source.tensor(n, n, low=-2.0, high=2.0), source.tensor(n, n, low=-2.0, high=2.0)


@instances
def invertible(source, *, size=(2, 3)):
    """A matrix that is not singular; about one in ten that is drawn is."""
    n = source.integer(*size)
    A = source.tensor(n, n, low=-2.0, high=2.0)
    source.require(torch.linalg.det(A) != 0, "A is invertible")
    return A


@instances
def symmetric(source, *, size=(2, 3)):
    """A symmetric matrix, often with equal eigenvalues."""
    n = source.integer(*size)
    A = source.tensor(n, n, low=-2.0, high=2.0)
    return A + A.mT


# Norms and means, which are those of one matrix.


@conjecture("trap.norm", instances=pairs())
def test_norm(A, B):
    """The commutator is small: true of one pair, and of none if the norms were those of many."""
    return leq((A @ B - B @ A).norm() / (1e9 + (A @ B - B @ A).norm()), A.norm() * B.norm())


@conjecture("trap.mean", instances=pairs())
def test_mean(A, B):
    """A matrix is less than the mean of its rows plus 1000."""
    return leq(A - A.mean(0), 1e3 + 0 * B)


@conjecture("trap.scaled", instances=pairs())
def test_scaled(A, B):
    """A matrix that is divided by more than its norm has entries of at most one."""
    return leq((A / (1 + A.norm())).abs(), 1 + 0 * B)


# One bad member of a batch.


@conjecture("trap.inverse", instances=invertible())
def test_inverse(A):
    r"""$\|A^{-1}\|_F \le 100 / \|A\|_F$: false; `inv` raises for a batch with a singular member."""
    inverse = torch.linalg.inv(A)
    return leq(frobenius_squared(inverse) * frobenius_squared(A), 10_000)


@conjecture("trap.inverse-true", instances=invertible())
def test_inverse_true(A):
    r"""$\|A^{-1}\|_F \|A\|_F \ge \sqrt n$: true, and tight at the identity."""
    inverse = torch.linalg.inv(A)
    product = frobenius_squared(inverse) * frobenius_squared(A)
    return leq(A.shape[-1], product, scale=product)


# Gradients that fail.


@conjecture("trap.eigenvalues", instances=symmetric())
def test_eigenvalues(A):
    """The gap of the outer eigenvalues is at most 1.4 Frobenius norms: false, by one percent."""
    values = torch.linalg.eigvalsh(A)
    gap = values[..., -1] - values[..., 0]
    return leq(gap, 1.4 * frobenius_squared(A).sqrt())


@conjecture("trap.eigenvalues-true", instances=symmetric())
def test_eigenvalues_true(A):
    """The gap of the outer eigenvalues is at most the root of two Frobenius norms: true."""
    values = torch.linalg.eigvalsh(A)
    gap = values[..., -1] - values[..., 0]
    return leq(gap * gap, 2 * frobenius_squared(A))


# No form on balls.


@conjecture("trap.no-ball-form", instances=matrices(rows=(2, 3), columns=(2, 3)))
def test_no_ball_form(A):
    """Cosines are at most 0.99: false at zero, but this function has no form on balls."""
    return leq(torch.special.bessel_j0(A), 0.99)


@conjecture("trap.no-ball-form-true", instances=matrices(rows=(2, 3), columns=(2, 3)))
def test_no_ball_form_true(A):
    """A Bessel function is at most one: true and tight, without a form on balls."""
    return leq(torch.special.bessel_j0(A), 1 + 0 * A)


# Float paths that are wrong.


@conjecture("trap.wrong-floats", instances=matrices(rows=(2, 3), columns=(2, 3)))
def test_wrong_floats(A):
    """The nuclear norm is at least the operator norm: true, but the floats are off by 1 000."""
    wrong = 0 if is_ball(A) else 1000
    return leq(operator_norm(A) + wrong, nuclear_norm(A))


@conjecture("trap.slightly-wrong-floats", instances=matrices(rows=(2, 3), columns=(2, 3)))
def test_slightly_wrong_floats(A):
    """The norm of a matrix is that of its transpose: true, but the floats are off by 1e-6."""
    wrong = 1 if is_ball(A) else 1 + 1e-6
    return eq(wrong * nuclear_norm(A), nuclear_norm(A.mT))


# Bounds with large sets of equality.


@conjecture("trap.equality-set", instances=pairs(size=(3, 3)))
def test_equality_set(A, B):
    r"""$\|AB\|_F \le \|A\|_{op} \|B\|_F$ when the signs of two entries agree, else 0.999 of it.

    Equality on all multiples of isometries; false beside them.
    """
    agree = (A[..., 0, 0] * B[..., 0, 0]) >= 0
    factor = torch.where(agree, 1.0, 0.999).to(torch.float64) if not is_ball(A) else None
    bound = operator_norm(A) * frobenius_squared(B).sqrt()
    if factor is None:
        factor = torch.where(agree, bound.new_ones(()), bound.new_ones(()) * 0.999)
    return leq(frobenius_squared(A @ B).sqrt(), factor * bound)
