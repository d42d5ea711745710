r"""A linear map with its spectrum spread evenly over the layers of a network.

Let A = U S Vᵀ with k positive singular values, and let the $U_\ell$ (n_ℓ × k, orthonormal columns)
take the powers of it into orthants, $U_\ell S^{\ell/L} V^T \Omega \ge 0$ for 0 < ℓ < L. With
$U_0 = V$ and $U_L = U$ the weights $W_\ell = U_\ell S^{1/L} U_{\ell-1}^T$ equal A on Ω, whatever
the slope, at the least possible cost of A,

$$\|\theta\|^2 = L \operatorname{tr} S^{2/L} = L \|A\|_{S^{2/L}}^{2/L}.$$

Source: A. Jacot, *Bottleneck structure in learned features*, Proposition 4.3, proof of
Proposition 14. Used by bottleneck.second-correction-linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rankcheck.linalg import Array, Number
from rankcheck.networks.network import Network

__all__ = ["balanced_cone_network"]


def balanced_cone_network(
    roots: Array, isometries: Sequence[Array], slope: Number | Array = 0
) -> Network:
    """The network with S^{1/L} = diag(roots) and U_0 = V, U_1, ..., U_L = U.

    Args:
        roots: (*B, k), positive: the L-th roots of the singular values.
        isometries: L + 1 >= 2 arrays (*B, n_ℓ, k) with orthonormal columns, as is not checked.

    Raises ValueError for fewer than two isometries.
    """
    if len(isometries) < 2:
        raise ValueError(f"U_0, ..., U_L with L >= 1 are at least two, received {len(isometries)}")
    weights = [(U * roots.unsqueeze(-2)) @ V.mT for V, U in pairwise(isometries)]
    return Network(weights, [w.new_zeros(w.shape[:-1]) for w in weights], slope)
