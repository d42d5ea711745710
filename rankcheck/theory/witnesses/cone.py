r"""A linear map on a cone, at a cost of 2 log|A|_+ above kL up to O(1/L), by interpolated kernels.

Let A be an m × n matrix of rank k, and let the isometries O_in of Im Aᵀ and O_out of Im A,
$O_{in}^T O_{in} = P_{Im A^T}$, $O_{out}^T O_{out} = P_{Im A}$, take Ω and AΩ into positive
orthants (Ω and AΩ are *completely positive*). Put, for p ∈ [0, 1],

$$B_p = \begin{pmatrix} \sqrt{1-p}\, O_{in} \\ \sqrt{p}\, O_{out} A \end{pmatrix}, \qquad
  K_p = B_p^T B_p = (1 - p) P_{Im A^T} + p A^T A.$$

With p_ℓ = ℓ/L the weights $W_1 = B_{p_1}$, $W_\ell = B_{p_\ell} B_{p_{\ell-1}}^+$,
$W_L = A B_{p_{L-1}}^+$ have $\alpha_\ell(x) = B_{p_\ell} x \ge 0$ on Ω: the network equals A there,
whatever its slope. It costs $\sum_\ell \operatorname{tr} K_{p_\ell} K_{p_{\ell-1}}^+$, a Riemann
sum of $\int_0^1 \frac{s^2 - 1}{1 + p(s^2 - 1)} dp = 2 \log s$ for each singular value s:

$$2 \log |A|_+ \le \|\theta\|^2 - kL \le
  2 \log |A|_+ + \frac1L \sum_i \Bigl(s_i - \frac1{s_i}\Bigr)^2.$$

In print p runs in the other direction, from K_0 = AᵀA; but the kernel of α_0 = x is the identity.

Source: A. Jacot, *Bottleneck structure in learned features*, Theorem 3.3, proof of Theorem 11.
Used by bottleneck.linear-on-cone and bottleneck.convex-kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import torch

from rankcheck.theory.linalg import Array, Number, eye, power
from rankcheck.theory.networks.network import Network
from rankcheck.theory.scalars import scalar


def stack_kernels(B: Array, C: Array, t: Array) -> Array:
    """The matrix (√t B; √(1 − t) C), shape (*B, m + m', n), whose kernel is t BᵀB + (1 − t) CᵀC.

    B is (*B, m, n), C (*B, m', n), t in [0, 1] of shape (*B) or (). The image of x is non-negative
    if Bx and Cx are. Raises ValueError if the shapes do not fit.
    """
    if B.shape[:-2] != C.shape[:-2] or B.shape[-1] != C.shape[-1]:
        raise ValueError(
            f"received matrices of shapes {tuple(B.shape)} and {tuple(C.shape)}; "
            "they have equal batch axes and columns"
        )
    root, rest = power(t, Fraction(1, 2)), power(1 - t, Fraction(1, 2))
    return torch.cat((root[..., None, None] * B, rest[..., None, None] * C), -2)


def interpolated_shares(depth: int) -> tuple[Fraction, ...]:
    """p_ℓ = ℓ/L for ℓ = 1..L − 1, where L is the depth.

    >>> interpolated_shares(3)
    (Fraction(1, 3), Fraction(2, 3))
    """
    return tuple(Fraction(layer, depth) for layer in range(1, depth))


def cone_network(
    A: Array,
    basis: Array,
    into: Array,
    out: Array,
    shares: Sequence[Fraction],
    slope: Number | Array = 0,
) -> Network:
    """The network that equals A on the cone at cost Σ tr K_{p_ℓ} K_{p_{ℓ−1}}^+.

    Its depth is len(shares) + 1.

    Args:
        A: (*B, m, n), of rank k.
        basis: (*B, n, k), an orthonormal basis of Im Aᵀ.
        into, out: O_in (*B, m_in, n) and O_out (*B, m_out, m), isometries as above.
        shares: p_1, ..., p_{L−1} in [0, 1]; see `interpolated_shares`.
        slope: of the activation.

    It is not checked that O_in and O_out are isometries and take Ω and AΩ into positive orthants.
    Raises ValueError if a share lies outside [0, 1].
    """
    if not all(0 <= p <= 1 for p in shares):
        raise ValueError(f"received shares {list(shares)}; shares lie in [0, 1]")
    image = A @ basis
    gram, identity = image.mT @ image, eye(basis.shape[-1], A)
    weights, back = [], None
    for p in shares:
        B = stack_kernels(into, out @ A, scalar(1 - p, A))
        weights.append(B if back is None else B @ back)
        kernel = identity * scalar(1 - p, A) + gram * scalar(p, A)
        back = basis @ torch.linalg.solve(kernel, (B @ basis).mT)
    weights.append(A if back is None else A @ back)
    return Network(weights, [w.new_zeros(w.shape[:-1]) for w in weights], slope)
