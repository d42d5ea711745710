"""Proof of Theorem 15 of `bottleneck`: singular values and pseudo-determinants of matrices and layers.

As in the abstract, k singular values of almost all weights are near 1, the others near 0.
"""

from fractions import Fraction

import torch

from rankcheck import bound, eq, identity, leq, linalg, paper, witnesses
from rankcheck.instances import (
    Source,
    away_from_zero,
    chained_matrices,
    instances,
    matrices,
    matrix,
    orthogonal,
    positive,
    semi_orthogonal,
    steep_networks,
)

from ._bottlenecks import (
    following_value,
    isometries_beside_small_weights,
    networks_with_bottlenecks,
    with_bias,
)
from ._rounding import slack, tolerated


@instances
def matrices_and_frames(source: Source):
    """A matrix (m × n) and semi-orthonormal U (m × k), V (n × k)."""
    m, n = source.integer(1, 4), source.integer(1, 4)
    k = source.integer(1, min(m, n))
    A = matrix(source, m, n, bound=3.0)
    return A, semi_orthogonal(source, m, k), semi_orthogonal(source, n, k)


@instances
def singular_vectors_of_matrices(source: Source):
    """A = P diag(s) Qᵀ with s_1 ≥ ... ≥ 0, and its k leading singular vectors U, V."""
    n = source.integer(1, 4)
    k = source.integer(1, n)
    P, Q = orthogonal(source, n), orthogonal(source, n)
    gaps = away_from_zero(source, n, least=2.0**-6, high=1.0).abs()
    s = gaps.flip(0).cumsum(0).flip(0)
    return (P * s) @ Q.mT, P[:, :k], Q[:, :k]


@bound(
    "bottleneck.mirsky",
    paper("bottleneck", "abstract, with Mirsky's theorem"),
    instances=matrices_and_frames(),
    tight=singular_vectors_of_matrices(),
    mutants={"k + 1 singular values near 1": {"more": 1}, "k − 1 of them": {"more": -1}},
)
def test_mirsky(A, U, V, *, more=0):
    r"""The singular values of a matrix near a partial isometry are near 1 or 0.

    For every $A$ ($m \times n$) and all semi-orthonormal $U$ ($m \times k$), $V$ ($n \times k$)
    $$\sum_i (s_i(A) - 1_{i \le k})^2 \le \|A - UV^\top\|_F^2,$$
    with equality if $U$ and $V$ are the $k$ leading singular vectors of $A$.
    """
    k = U.shape[1]
    count = torch.tensor(k + more, device=A.device)
    left = witnesses.isometry_distance(linalg.singular_values(A), count)
    right = linalg.frobenius_squared(A - U @ V.mT)
    return leq(left, right, scale=linalg.frobenius_squared(A) + k)


@bound(
    "bottleneck.singular-values-near-one",
    paper("bottleneck", "abstract, and the proof of Cor. 17"),
    instances=networks_with_bottlenecks(),
    tight=isometries_beside_small_weights(),
    needs={"|a| ≤ 1": steep_networks()},
    mutants={
        "log|Jf|_+ counted 2.04 times": {"logs": 2.04},
        "rank 2 % larger": {"ranks": 1.02},
        "k + 1 singular values near 1": {"more": 1},
    },
    effort=0.6,
    audit="at points: |a| ≤ 1, rank ≥ 1; ranks, spectra",
)
def test_singular_values_near_one(net, x, *, logs=2, ranks=1, more=0):
    r"""In almost all layers of a cheap network k singular values are near 1, the others near 0.

    With $k = \operatorname{rank} Jf(x) \ge 1$ and $c_1 = \|\theta\|^2 - kL$

    $$\sum_{\ell=1}^L \Bigl( \sum_i (s_i(W_\ell) - 1_{i \le k})^2 + \|b_\ell\|^2 \Bigr)
      \le c_1 - 2 \log |Jf(x)|_+,$$

    and the same for the singular values of $(W_\ell\ b_\ell)$ without the last term; in particular

    $$\sum_{\ell=1}^L s_{k+1}\bigl((W_\ell\ b_\ell)\bigr)^2 \le c_1 - 2 \log |Jf(x)|_+.$$

    So at most $pL$ layers have a singular value further than
    $((c_1 - 2 \log |Jf(x)|_+)/(pL))^{1/2}$ from 1 or 0, which is the order $L^{-1/2}$ of the abstract.

    Proof: docs/proofs/weights-near-projections.md.
    """
    at = witnesses.bottleneck(net, x)
    k, right = at.rank, slack(net, at, logs, ranks)
    both = [with_bias(w, b) for w, b in zip(net.weights, net.biases, strict=True)]

    def distance(matrices):
        spectra = map(linalg.singular_values, matrices)
        return sum(witnesses.isometry_distance(s, k + more) for s in spectra)

    alone = distance(net.weights) + sum(b @ b for b in net.biases)
    following = sum(following_value(w, k) ** 2 for w in both)
    options = tolerated(net, at)
    return (
        leq(alone, right, label="the weights", **options),
        leq(distance(both), right, label="weights and biases", **options),
        leq(following, right, label="the next singular value", **options),
    )


@instances
def multiples_of_isometries(source: Source):
    """Matrices with equal non-zero singular values: a little above one, or very large."""
    m, n = source.integer(1, 4), source.integer(1, 4)
    k = source.integer(1, min(m, n))
    low, high = source.choice(((1.0, 1.0 + 2.0**-6), (2.0**21, 2.0**24)))
    size = positive(source, 1, 1, low=low, high=high)
    return size * semi_orthogonal(source, m, k) @ semi_orthogonal(source, n, k).mT


@bound(
    "bottleneck.singular-value-gap",
    paper("bottleneck", "proof of Thm 15"),
    instances=matrices(),
    tight=multiples_of_isometries(),
    mutants={"log|A|_+ counted 2.04 times": {"logs": 2.04}, "rank 2 % larger": {"ranks": 1.02}},
)
def test_singular_value_gap(A, *, logs=2, ranks=1):
    r"""The norm and the log-determinant of a matrix bound its distance from an isometry.

    $\|A\|_F^2 - \operatorname{rank} A - 2 \log |A|_+ \ge \sum_{s_i \ne 0} (s_i - 1)^2$, the squared
    distance of $A$ to its polar part $UV^\top$ (bottleneck.projection-frames).

    Both sides vanish at a partial isometry, where the left side is twice the right one to second
    order. Their ratio tends to one as the $s_i$ grow.
    """
    s, k = linalg.singular_values(A), linalg.rank(A)
    counted = torch.arange(len(s), device=A.device) < k
    distance = torch.where(counted, (s - 1) * (s - 1), 0).sum()
    square = linalg.frobenius_squared(A)
    gap = square - ranks * k - logs * linalg.log_pseudo_determinant(A)
    return leq(distance, gap, scale=square + k)


@instances
def meeting_factors(source: Source):
    """A and B of rank k with (ker A)^⊥ = Im B: A = P S Qᵀ, B = Q T Rᵀ with the same k columns Q."""
    k = source.integer(1, 3)
    m, n, p = (source.integer(k, k + 1) for _ in range(3))
    S, T = source.tensor(k, k, low=-2.0, high=2.0), source.tensor(k, k, low=-2.0, high=2.0)
    # Diagonal entries are at least 5, the others of a row at most 4 together: S and T are regular.
    S, T = S + 7 * linalg.eye(k, like=S), T + 7 * linalg.eye(k, like=T)
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
    first, second = linalg.log_pseudo_determinant(A), linalg.log_pseudo_determinant(B)
    return eq(product, first + second, scale=1 + first.abs() + second.abs(), terms=2**12)


@instances
def masked_subspaces(source: Source):
    """Orthonormal bases P, Q (n × k) of two subspaces, and a diagonal D with |d_i| ≤ 1."""
    n = source.integer(1, 4)
    k = source.integer(1, n)
    P, Q = semi_orthogonal(source, n, k), semi_orthogonal(source, n, k)
    return P, Q, source.tensor(n, low=-1.0, high=1.0)


@instances
def equal_subspaces(source: Source):
    """One subspace twice, with D = I: all singular values are one."""
    n = source.integer(1, 4)
    P = semi_orthogonal(source, n, source.integer(1, n))
    return P, P, P.new_ones(n)


@instances
def steep_masks(source: Source):
    """One subspace twice, with entries of D between 3/2 and 4."""
    P, Q, _ = masked_subspaces()(source)
    return P, P, source.tensor(len(Q), low=1.5, high=4.0)


@bound(
    "bottleneck.masked-projection",
    paper("bottleneck", "proof of Thm 15"),
    instances=masked_subspaces(),
    tight=equal_subspaces(),
    needs={"|D| ≤ 1": steep_masks()},
    mutants={"log|det| counted 1.96 times": {"logs": 1.96}},
)
def test_masked_projection(P, Q, d, *, logs=2):
    r"""A masked projection loses at least as much in the determinant as in the norm.

    For orthonormal $P, Q$ ($n \times k$),
    $-2 \log |\det P^\top D Q| \ge k - \|P^\top D Q\|_F^2$; and for $|D| \le 1$ every singular value is
    at most one, so that $\|P^\top D Q\|_F^2 \le k$.

    Where $P^\top D Q$ is singular the left side is infinite. The first inequality is asserted where
    $|\det P^\top D Q| > 2^{-30}$.
    """
    M, k = P.mT @ (d[:, None] * Q), P.shape[1]
    determinant, norm = torch.linalg.det(M).abs(), linalg.frobenius_squared(M)
    regular = determinant > linalg.scalar(Fraction(1, 2**30), determinant)
    logarithm = torch.where(regular, determinant, 1.0).log()
    return (
        leq(k, norm - logs * logarithm, where=regular, label="the determinant"),
        leq(norm, k, label="the norm"),
    )
