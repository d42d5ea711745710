"""Proposition 4.2/14.2 of `bottleneck` for linear maps, and §3.1: what a sum of linear maps costs."""

from fractions import Fraction

import torch

from rankcheck import Erratum, bound, costs, eq, identity, leq, linalg, paper
from rankcheck.instances import Source, instances, orthogonal, positive, semi_orthogonal

from ._invertible import NOISE, invertible

#: A bound on the rounding error of the singular values, for `maps_and_a_new_direction`.
FINE = 2.0**-36


def skew_bases(source: Source, k: int, m: int, low: float):
    """Bases of a k-plane and an m-plane with principal angles of sine 2t/(1 + t²), t in [low, 1]."""
    Q = semi_orthogonal(source, k + m + source.integer(0, 1), k + m)
    common = min(k, m)
    t = source.tensor(common, low=low, high=1.0) if low < 1 else Q.new_ones(common)
    t = torch.hstack((t, Q.new_ones(m - common)))
    cosine, sine = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    near = torch.hstack((Q[:, :common], Q[:, k : k + m - common]))
    return Q[:, :k], (cosine * near + sine * Q[:, k:]) @ orthogonal(source, m)


@instances
def skew_sums(source: Source, *, low=0.25, near_isometry=False):
    """Factors U, M, V of A = U_A M_A V_Aᵀ and of B, with independent images and row spaces."""
    k, m = source.integer(1, 2), source.integer(1, 2)
    U_A, U_B = skew_bases(source, k, m, low)
    V_A, V_B = skew_bases(source, k, m, low)
    block = orthogonal if near_isometry else invertible
    M_A, M_B = block(source, k), block(source, m)
    return U_A, M_A, V_A, U_B, M_B, V_B


@instances
def longer_bases(source: Source):
    """The same with the basis U_A multiplied by 3/2: its columns are no longer unit vectors."""
    U_A, *rest = skew_sums()(source)
    return 1.5 * U_A, *rest


@bound(
    "bottleneck.first-correction-linear-sum",
    paper("bottleneck", "Thm 3.2, for linear maps"),
    instances=skew_sums(),
    tight=skew_sums(low=1 - 2.0**-10, near_isometry=True),
    needs={"the bases are orthonormal": longer_bases()},
    mutants={"angles that weigh 2 % more": {"weight": 1.02}},
)
def test_first_correction_linear_sum(U_A, M_A, V_A, U_B, M_B, V_B, *, weight=1):
    r"""The first correction of a sum of linear maps is smaller by the angles between the parts.

    Let $A$ and $B$ have images with orthonormal bases $U_A$, $U_B$ and row spaces with $V_A$, $V_B$,
    and $\operatorname{rank}(A + B) = \operatorname{rank} A + \operatorname{rank} B$. Then
    $$\|U_A^T U_B\|_F^2 + \|V_A^T V_B\|_F^2
      \le 2 \log |A|_+ + 2 \log |B|_+ - 2 \log |A + B|_+.$$
    So $R^{(1)}(A + B) \le R^{(1)}(A) + R^{(1)}(B)$ with $R^{(1)} = 2 \log |\cdot|_+$
    (bottleneck.linear-on-cone), and equality, the hypothesis of Prop. 4.2, holds for orthogonal
    images and orthogonal row spaces only.

    Proof: $A + B = (U_A\, U_B) \operatorname{diag}(M_A, M_B) (V_A\, V_B)^T$, so $|A + B|_+$ is
    $|A|_+ |B|_+$ times $|(U_A\, U_B)|_+ |(V_A\, V_B)|_+$, and $|(U_A\, U_B)|_+^2 = \det(1 - C^T C)
    \le e^{-\|C\|_F^2}$ with $C = U_A^T U_B$.
    """
    A, B = U_A @ M_A @ V_A.mT, U_B @ M_B @ V_B.mT
    angles = linalg.frobenius_squared(U_A.mT @ U_B) + linalg.frobenius_squared(V_A.mT @ V_B)
    first, second = linalg.log_pseudo_determinant(M_A), linalg.log_pseudo_determinant(M_B)
    both = linalg.log_pseudo_determinant(A + B, NOISE)
    size = 1 + first.abs() + second.abs() + both.abs()
    return leq(angles * weight, 2 * (first + second - both), scale=size)


def sums(source: Source, low: float):
    """A and B of `skew_sums`, and a depth."""
    U_A, M_A, V_A, U_B, M_B, V_B = skew_sums(low=low)(source)
    return U_A @ M_A @ V_A.mT, U_B @ M_B @ V_B.mT, source.integer(1, 8)


@instances
def orthogonal_sums(source: Source):
    """A and B with orthogonal images and row spaces, and a depth."""
    return sums(source, 1.0)


@instances
def sums_at_an_angle(source: Source):
    """A and B whose images or row spaces are not orthogonal, and a depth."""
    return sums(source, 0.25)


@identity(
    "bottleneck.second-correction-sum",
    paper("bottleneck", "Prop. 4.2/14.2"),
    instances=orthogonal_sums(),
    needs={"the first corrections add up": sums_at_an_angle()},
    mutants={"the part of B left out": {"share": 0}},
    errata=Erratum(
        printed=r"$R(f+g;\Omega,L) \le R(f;g(\Omega),L) + R(g;\Omega,L)$",
        right=r"$R(f;\Omega,L)$ in place of $R(f;g(\Omega),L)$. The inequality holds where $f$ or "
        "$g$ needs no bias in its last layer (bottleneck.sum-as-printed).",
        survives="Prop. 4.2 and 14.2 where $f$ or $g$ needs no bias in its last layer.",
        place="proof of Prop. 14.2",
    ),
)
def test_second_correction_sum(A, B, L, *, share=1):
    r"""For linear maps whose first corrections add up, the second corrections and the costs add up.

    Let $\operatorname{rank}(A + B) = \operatorname{rank} A + \operatorname{rank} B$ and
    $|A + B|_+ = |A|_+ |B|_+$, the hypothesis of Prop. 4.2 for linear maps. It makes the images and the row
    spaces orthogonal (bottleneck.first-correction-linear-sum), so that
    $$\|\log_+ (A+B)^T (A+B)\|_F^2 = \|\log_+ A^T A\|_F^2 + \|\log_+ B^T B\|_F^2$$
    and $L \|A + B\|_{S^{2/L}}^{2/L} = L \|A\|_{S^{2/L}}^{2/L} + L \|B\|_{S^{2/L}}^{2/L}$ at every depth: for
    linear maps the inequality of Prop. 4.2 is an equality.

    Without $R^{(1)}(A + B) = R^{(1)}(A) + R^{(1)}(B)$ even "at most" is false for about half of
    the drawn pairs. For nonlinear networks, see bottleneck.second-correction-of-sums; for functions in
    general the rule follows from bottleneck.sum where one of the two sequences of networks has no bias in
    its last layer, which is not checked.
    """
    u, v, both = (costs.log_gram_squared(M, NOISE) for M in (A, B, A + B))
    cost = costs.linear_cost(A, L, NOISE) + costs.linear_cost(B, L, NOISE) * share
    return (
        eq(both, u + v * share, scale=1 + u + v, label="the second correction"),
        eq(costs.linear_cost(A + B, L, NOISE), cost, scale=cost, label="the cost"),
    )


@instances
def maps_and_a_new_direction(source: Source):
    """A of rank k, unit vectors orthogonal to its image and its row space, ε in [2⁻¹⁰, 1], a depth."""
    k, L = source.integer(1, 3), source.integer(1, 12)
    out, into = (semi_orthogonal(source, k + 1, k + 1) for _ in range(2))
    A = out[:, :k] @ invertible(source, k) @ into[:, :k].mT
    return A, out[:, k], into[:, k], positive(source, low=2.0**-10, high=1.0), L


def costs_of_two_terms(A, L, noise):
    """L rank A + 2 log|A|_+."""
    return L * linalg.rank(A, noise) + 2 * linalg.log_pseudo_determinant(A, noise)


@identity(
    "bottleneck.minima-of-each-rank",
    paper("bottleneck", "§3.1, minima of each rank"),
    instances=maps_and_a_new_direction(),
    mutants={
        "the two-term sum for the cost": {"cost": costs_of_two_terms},
        "the exponent of one layer more": {"more": 1},
    },
)
def test_minima_of_each_rank(A, u, v, e, L, *, cost=costs.linear_cost, more=0):
    r"""A new singular value raises the cost of a linear map, and lowers its two-term approximation.

    For $A$ of rank $k$, unit vectors $u \perp \operatorname{Im} A$ and $v \perp \operatorname{Im} A^T$, and
    $\varepsilon > 0$,
    $$R(A + \varepsilon u v^T; L) = R(A; L) + L\,\varepsilon^{2/L},$$
    while $L \operatorname{rank} A + 2 \log|A|_+$ changes by $L + 2 \log \varepsilon$, which is negative for
    $\varepsilon < e^{-L/2}$ and tends to $-\infty$.

    So for $L \ge 3$ the cost is a cusp at the matrices of rank $k$, in the directions that raise the rank, and a
    minimum of loss plus cost among them is a local minimum in these directions. The sum of the first two terms,
    with which the source argues for one local minimum for each rank, has no local minimum of a rank below
    the largest: the argument is about the cost, or about functions of a fixed rank. Only these directions are
    checked, and linear maps.
    """
    B = A + e * torch.outer(u, v)
    size = 1 + L * A.shape[1] + costs.linear_cost(A, L, FINE)
    rise = linalg.power(e, Fraction(2, L + more)) * L
    two = costs_of_two_terms(B, L, FINE) - costs_of_two_terms(A, L, FINE)
    return (
        eq(cost(B, L, FINE) - cost(A, L, FINE), rise, scale=size, label="the cost"),
        eq(two, 2 * e.log() + L, scale=size, label="two terms"),
    )
