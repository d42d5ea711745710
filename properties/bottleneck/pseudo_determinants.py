"""Proof of Theorem 15 of `bottleneck`: pseudo-determinants of products and of masks."""

from fractions import Fraction

import torch

from rankcheck import bound, eq, identity, leq, linalg, paper
from rankcheck.instances import Source, chained_matrices, instances, semi_orthogonal


@instances
def meeting_factors(source: Source):
    """A and B of rank k with (ker A)^⊥ = Im B: A = P S Qᵀ, B = Q T Rᵀ with the same k columns Q."""
    k = source.integer(1, 3)
    m, n, p = (source.integer(k, k + 1) for _ in range(3))
    S, T = source.tensor(k, k, low=-2.0, high=2.0), source.tensor(k, k, low=-2.0, high=2.0)
    # Diagonal entries are at least 5, the others of a row at most 4 together: S and T are regular.
    S, T = S + 7 * torch.eye(k, dtype=torch.float64), T + 7 * torch.eye(k, dtype=torch.float64)
    Q = semi_orthogonal(source, n, k)
    return semi_orthogonal(source, m, k) @ S @ Q.mT, Q @ T @ semi_orthogonal(source, p, k).mT


@identity(
    "bottleneck.pseudo-determinant-product",
    paper("bottleneck", "proof of Thm 15"),
    instances=meeting_factors(),
    needs={"(ker A)^⊥ = Im B": chained_matrices(size=(1, 3))},
)
def test_pseudo_determinant_product(A, B):
    r"""The pseudo-determinant of AB is a product if the image of B is the row space of A.

    $\log |AB|_+ = \log |A|_+ + \log |B|_+$ when $(\ker A)^\perp = \operatorname{Im} B$.

    The control draws any $A$ and $B$. For $A = (1\ 0)$, $B = (1, 1)^\top$ the two sides are the
    logarithms of $1$ and $\sqrt 2$.
    """
    noise = linalg.frobenius_squared(A).sqrt() * linalg.frobenius_squared(B).sqrt() * 2.0**-44
    product = linalg.log_pseudo_determinant(A @ B, noise)
    parts = (linalg.log_pseudo_determinant(A), linalg.log_pseudo_determinant(B))
    return eq(product, parts[0] + parts[1], scale=1 + parts[0].abs() + parts[1].abs(), terms=2**12)


@instances
def masked_subspaces(source: Source):
    """Orthonormal bases P, Q (n × k) of two subspaces, and a diagonal D with |d_i| ≤ 1."""
    n = source.integer(1, 4)
    k = source.integer(1, n)
    return (
        semi_orthogonal(source, n, k),
        semi_orthogonal(source, n, k),
        source.tensor(n, low=-1.0, high=1.0),
    )


@instances
def equal_subspaces(source: Source):
    """One subspace twice, with D = I: all singular values are one."""
    n = source.integer(1, 4)
    P = semi_orthogonal(source, n, source.integer(1, n))
    return P, P, P.new_ones(P.shape[:-1])


@instances
def steep_masks(source: Source):
    """One subspace twice, with entries of D between 3/2 and 4."""
    P, Q, _ = masked_subspaces()(source)
    return P, P, source.tensor(Q.shape[-2], low=1.5, high=4.0)


@bound(
    "bottleneck.masked-projection",
    paper("bottleneck", "proof of Thm 15"),
    instances=masked_subspaces(),
    tight=equal_subspaces(),
    needs={"|D| ≤ 1": steep_masks()},
    mutants={"log|det| counted 1.96 times": {"logs": Fraction(49, 25)}},
)
def test_masked_projection(P, Q, d, *, logs=2):
    r"""A masked projection loses at least as much in the determinant as in the norm.

    For orthonormal $P, Q$ ($n \times k$),
    $-2 \log |\det P^\top D Q| \ge k - \|P^\top D Q\|_F^2$; and for $|D| \le 1$ every singular value is
    at most one, so that $\|P^\top D Q\|_F^2 \le k$.

    Where $P^\top D Q$ is singular the left side is infinite. The first inequality is asserted where
    $|\det P^\top D Q| > 2^{-30}$.
    """
    M = P.mT @ (d.unsqueeze(-1) * Q)
    k = M.shape[-1]
    determinant = torch.linalg.det(M)
    regular = determinant.abs() > linalg.scalar(Fraction(1, 2**30), determinant)
    safe = torch.where(regular, determinant.abs(), torch.ones_like(determinant))
    norm = linalg.frobenius_squared(M)
    return (
        leq(
            k, norm - safe.log() * linalg.scalar(logs, norm), where=regular, label="the determinant"
        ),
        leq(norm, k, label="the norm"),
    )
