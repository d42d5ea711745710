r"""The distance of sums of separable functions from inner-product functions: the main theorem.

An inner-product function is $F = \sum_i \alpha_i h_i$, a $(v, v')$-separable function
$g = \sum_{k,l} \beta_{kl}\,L_k^v \otimes L_l^{v'}$ (v, v' unit vectors;
:mod:`rankcheck.theory.separation.zonal`). In coefficients everything is exact:
$\|F\|^2 = \sum \alpha_i^2$, $\|g\|^2 = \sum \beta_{kl}^2$,

$$\langle g, g' \rangle
   = \sum_{k,l} \beta_{kl}\,\beta'_{kl}\,P_k(\langle v_1, v_2 \rangle)\,
     P_l(\langle v'_1, v'_2 \rangle), \qquad
  \langle F, g \rangle = \sum_i \alpha_i\,\beta_{ii}\,P_i(\langle v, v' \rangle)/\sqrt{N_{d,i}} .$$

*Theorem.* With $P_n F = \sum_{i \ge n} \alpha_i h_i$ and separable $g_1, \dots, g_r$,

$$\Bigl\| F - \sum_j g_j \Bigr\|^2 \ge
   \|P_n F\| \Bigl( \|P_n F\| - 2 \sum_j \|g_j\| / \sqrt{N_{d,n}} \Bigr) .$$

*Proof.* Keep of F - Σg_j only the components in (harmonics of degree i) ⊗ (the same), i >= n:
$\sum_{i\ge n} \|\alpha_i h_i - G_i\|^2 \ge \sum_{i \ge n} \alpha_i^2 - 2\alpha_i \langle h_i, G_i
\rangle$, $G_i = \sum_j \beta^j_{ii} L_i \otimes L_i$, then $|P_i| \le 1$, $N_{d,i} \ge N_{d,n}$,
Cauchy–Schwarz, and $\sum_i (\beta^j_{ii})^2 \le \|g_j\|^2$. The proof drops the off-diagonal
coefficients and $\|G_i\|^2$, so the statement is "≥" and not the "=" of the slides (F = 0, g = 1);
the gap closes as g → 0.

*In norm.* With $Q_n g = \sum_{i \ge n} \beta_{ii} L_i^v \otimes L_i^{v'}$ and
$u = P_nF/\|P_nF\|$: $\langle g, u \rangle \le \|Q_n g\|/\sqrt{N_{d,n}}$, hence

$$\Bigl\| F - \sum_j g_j \Bigr\| \ge \Bigl\langle F - \sum_j g_j, u \Bigr\rangle \ge
   \|P_nF\| - \sum_j \|Q_n g_j\|/\sqrt{N_{d,n}} ,$$

whose square is at least the right side of the theorem. It is attained by $F = h_n$ and
$g_j = s w_j L_n^{v_j} \otimes L_n^{v_j}$, where the $v_j$ and $w_j$ are the points and weights of a
rule on the sphere that is exact for degree 2n. Constants and linear functions have $Q_n g = 0$ for
n >= 1.

*Neurons.* $\sigma(\langle w, x \rangle + \langle w', x' \rangle + b)$ with all entries at most B in
size: $\|w\|, \|w'\| \le B\sqrt d$, so on the spheres it is at most $B(1 + 2\sqrt d)$, and times an
output weight the norm is at most $B^2(1 + \sqrt{4d})$; the supremum is attained, at
$x = w/\|w\|$. The L² norm is much smaller: $E\,[z]_+^2 \le E z^2 = \|w\|^2/d + \|w'\|^2/d + b^2
\le 3B^2$. Only $|z|/2$ counts in $Q_n$, as $[z]_+ = z/2 + |z|/2$ and $Q_n z = 0$ for n >= 1:
$\|Q_n [z]_+\| \le \sqrt3 B/2$. Proofs: docs/proofs/width-of-depth-two.md.

Source: T. Kocák, *Depth separation for neural networks* (slides, 2019), "Main result", after
A. Daniely, COLT 2017.
"""

from __future__ import annotations

from fractions import Fraction

import torch
from torch import Tensor

from rankcheck.theory.linalg import Array, Number, eye, power
from rankcheck.theory.scalars import scalar, square_root
from rankcheck.theory.separation.legendre import (
    legendre_table,
    multiplicity,
    orthonormal_table,
    quadrature,
)


def tail_norm(alpha: Array, n: int) -> Array:
    """‖P_n F‖, the root of Σ_{i >= n} α_i²: shape (*B) for alpha (*B, A)."""
    tail = alpha[..., n:]
    return power((tail * tail).sum(-1), Fraction(1, 2))


def separable_norms(beta: Array) -> Array:
    """‖g_j‖, shape (*B, r), for beta (*B, r, K, K)."""
    return power((beta * beta).sum(-1).sum(-1), Fraction(1, 2))


def diagonal_norms(beta: Array, n: int) -> Array:
    """‖Q_n g_j‖, the root of Σ_{i >= n} β_ii²: shape (*B, r) for beta (*B, r, K, K)."""
    return tail_norm((beta * eye(beta.shape[-1], beta)).sum(-1), n)


def separable_gram(d: int, beta: Array, v: Array, w: Array) -> Array:
    """⟨g_i, g_j⟩, shape (*B, r, r), for beta (*B, r, K, K) and unit vectors v, w (*B, r, d)."""
    degree = beta.shape[-1] - 1
    left = legendre_table(d, degree, v @ v.mT)
    right = legendre_table(d, degree, w @ w.mT)
    both = beta.unsqueeze(-3) * beta.unsqueeze(-4)
    return (both * left.unsqueeze(-1) * right.unsqueeze(-2)).sum(-1).sum(-1)


def correlations(d: int, alpha: Array, beta: Array, v: Array, w: Array) -> Array:
    """⟨F, g_j⟩, shape (*B, r), for alpha (*B, A), beta (*B, r, K, K) and v, w (*B, r, d).

    Raises ValueError unless A >= K.
    """
    degrees = beta.shape[-1]
    if alpha.shape[-1] < degrees:
        raise ValueError(
            f"received coefficients of shapes {tuple(alpha.shape)} and {tuple(beta.shape)}; "
            "F has at least as many coefficients as g has degrees: pad it with zeros"
        )
    diagonal = (beta * eye(degrees, beta)).sum(-1)
    values = legendre_table(d, degrees - 1, (v * w).sum(-1))
    roots = torch.stack([square_root(multiplicity(d, i), alpha) for i in range(degrees)])
    return (alpha[..., None, :degrees] * diagonal * values / roots).sum(-1)


def distance_squared(d: int, alpha: Array, beta: Array, v: Array, w: Array) -> Array:
    """‖F - Σ_j g_j‖², shape (*B), from all coefficients, including the off-diagonal ones."""
    cross = correlations(d, alpha, beta, v, w).sum(-1)
    return (alpha * alpha).sum(-1) - 2 * cross + separable_gram(d, beta, v, w).sum(-1).sum(-1)


def main_lower_bound(d: int, n: int, alpha: Array, norms: Array) -> Array:
    """‖P_nF‖ (‖P_nF‖ - 2 Σ‖g_j‖/√N_{d,n}), shape (*B), for norms (*B, r)."""
    tail = tail_norm(alpha, n)
    return tail * (tail - 2 * norms.sum(-1) / square_root(multiplicity(d, n), alpha))


def norm_lower_bound(d: int, n: int, alpha: Array, norms: Array) -> Array:
    """‖P_nF‖ - Σ‖Q_n g_j‖/√N_{d,n}, a lower bound of ‖F - Σg_j‖: (*B), for norms (*B, r)."""
    return tail_norm(alpha, n) - norms.sum(-1) / square_root(multiplicity(d, n), alpha)


def best_fit(gram: Tensor, cross: Tensor) -> Tensor:
    """The c (*B, r) that minimises ‖F - Σ_j c_j g_j‖², from ⟨g_i, g_j⟩ and ⟨F, g_j⟩.

    If the Gram matrix is singular, with a cut at 1e-12 of its largest eigenvalue, it is the
    minimiser of least norm.
    """
    return (torch.linalg.pinv(gram, rtol=1e-12, hermitian=True) @ cross.unsqueeze(-1)).squeeze(-1)


# Neurons


def neuron_supremum(w: Array, other: Array, b: Array) -> Array:
    """[‖w‖ + ‖w'‖ + b]_+, the maximum of [⟨w, x⟩ + ⟨w', x'⟩ + b]_+ over S×S."""
    return torch.relu(_norm(w) + _norm(other) + b)


def neuron_second_moment(w: Array, other: Array, b: Array) -> Array:
    """E (⟨w, x⟩ + ⟨w', x'⟩ + b)², an upper bound of the squared L² norm of the neuron: (*B)."""
    return ((w * w).sum(-1) + (other * other).sum(-1)) / w.shape[-1] + b * b


def neuron_norm_bound(d: int, bound: Number, like: Array) -> Array:
    """B(1 + √(4d)), a bound of the neuron on S×S if weights and bias are at most B in size."""
    return scalar(bound, like) * (1 + square_root(4 * d, like))


def neuron_coefficients(
    d: int, w: Tensor, other: Tensor, b: Tensor, degree: int, m: int
) -> tuple[Tensor, Tensor]:
    """β (*B, K, K) of a neuron for degrees below K = degree + 1, and its norm (*B).

    By m × m Gauss quadrature over (⟨v, x⟩, ⟨v', x'⟩), v = w/‖w‖, whose law is μ_d ⊗ μ_d. As the
    neuron has a kink the entries are approximate, but Σβ² <= norm² holds exactly for the measure
    of the quadrature. w, w' (*B, d), b (*B). Raises ValueError unless m > degree.
    """
    if m <= degree:
        raise ValueError(
            f"received m = {m} nodes; degrees up to {degree} need more than {degree} nodes"
        )
    t, weight = (array.to(w.device) for array in quadrature(d, m))
    first, second = _norm(w)[..., None, None] * t.unsqueeze(-1), _norm(other)[..., None, None] * t
    values = torch.relu(first + second + b[..., None, None])
    basis = orthonormal_table(d, degree, t) * weight.unsqueeze(-1)
    norm = power((values * values * weight * weight.unsqueeze(-1)).sum((-2, -1)), Fraction(1, 2))
    return basis.mT @ values @ basis, norm


def _norm(w: Array) -> Array:
    return power((w * w).sum(-1), Fraction(1, 2))
