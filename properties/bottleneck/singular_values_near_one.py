"""Abstract of `bottleneck`: k singular values of almost all weights are near 1, the others near 0."""

from fractions import Fraction

import torch

from rankcheck import bound, leq, linalg, paper, witnesses
from rankcheck.instances import (
    Source,
    away_from_zero,
    instances,
    matrix,
    orthogonal,
    semi_orthogonal,
    steep_networks,
)

from ._bottlenecks import (
    following_value,
    isometries_beside_small_weights,
    networks_with_bottlenecks,
    with_bias,
)
from ._rounding import rounding, size, slack


def distance_to_rank(A, k):
    """Σ_i (s_i(A) − 1_{i ≤ k})², shape (*B), for integers k (*B) up to the number of the s_i."""
    return witnesses.isometry_distance(linalg.singular_values(A), k)


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
    s = gaps.flip(-1).cumsum(-1).flip(-1)
    return P @ torch.diag_embed(s) @ Q.mT, P[..., :, :k], Q[..., :, :k]


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
    count = torch.full(A.shape[:-2], U.shape[-1] + more, device=A.device)
    left, right = distance_to_rank(A, count), linalg.frobenius_squared(A - U @ V.mT)
    return leq(left, right, scale=linalg.frobenius_squared(A) + U.shape[-1])


@bound(
    "bottleneck.singular-values-near-one",
    paper("bottleneck", "abstract, and the proof of Cor. 17"),
    instances=networks_with_bottlenecks(),
    tight=isometries_beside_small_weights(),
    needs={"|a| ≤ 1": steep_networks()},
    mutants={
        "log|Jf|_+ counted 2.04 times": {"logs": Fraction(51, 25)},
        "rank 2 % larger": {"ranks": Fraction(51, 50)},
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
    some, k = at.rank > 0, at.rank
    layers = list(zip(net.weights, net.biases, strict=True))
    biases = sum((b * b).sum(-1) for b in net.biases)
    alone = sum(distance_to_rank(w, k + more) for w in net.weights) + biases
    together = sum(distance_to_rank(with_bias(w, b), k + more) for w, b in layers)
    following = [following_value(with_bias(w, b), k) for w, b in layers]
    options = {
        "where": some,
        "scale": size(net, at),
        "error": rounding(net, at),
    }
    right = slack(net, at, logs, ranks)
    return (
        leq(alone, right, label="the weights", **options),
        leq(together, right, label="weights and biases", **options),
        leq(sum(s * s for s in following), right, label="the next singular value", **options),
    )
