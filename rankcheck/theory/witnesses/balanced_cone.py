r"""A linear map on a cone at the least possible cost, its spectrum spread evenly over the layers.

Let A = U S Vᵀ with k positive singular values, and let the $U_\ell$ (n_ℓ × k, orthonormal columns)
satisfy $U_\ell S^{\ell/L} V^T \Omega \ge 0$ for 0 < ℓ < L. With $U_0 = V$ and $U_L = U$, the
network of the weights $W_\ell = U_\ell S^{1/L} U_{\ell-1}^T$ equals A on Ω for every slope, at the
least cost that A can have,

$$\|\theta\|^2 = L \operatorname{tr} S^{2/L} = L \|A\|_{S^{2/L}}^{2/L}.$$

Source: A. Jacot, *Bottleneck structure in learned features*, Proposition 4.3, proof of
Proposition 14. Used by bottleneck.second-correction-linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rankcheck.theory.linalg import Array, Number
from rankcheck.theory.networks.network import Network


def balanced_cone_network(
    roots: Array, isometries: Sequence[Array], slope: Number | Array = 0
) -> Network:
    """The network that equals A = U S Vᵀ on a cone at its least cost, L‖A‖_{S^{2/L}}^{2/L}.

    Args:
        roots: (*B, k), the diagonal of S^{1/L}, positive.
        isometries: U_0 = V, U_1, ..., U_L = U, at least two arrays (*B, n_ℓ, k) with orthonormal
            columns (not checked).
        slope: of the activation.

    Raises ValueError for fewer than two isometries.
    """
    if len(isometries) < 2:
        raise ValueError(
            f"received {len(isometries)} isometries; U_0, ..., U_L with L >= 1 are at least two"
        )
    weights = [(U * roots.unsqueeze(-2)) @ V.mT for V, U in pairwise(isometries)]
    return Network(weights, [w.new_zeros(w.shape[:-1]) for w in weights], slope)
