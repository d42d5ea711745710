r"""Piecewise-linear bijections of $\mathbb R^d$, and linear maps conjugated by them.

A network whose layers are all d × d and invertible, with a slope a > 0, is a bijection, because σ_a
is one: $\sigma_a^{-1}(y) = -\sigma_a(-y)/a$. Its inverse is a network of the same slope and depth.
For bijections φ of R^n and ψ of R^m and an affine map x ↦ Ax + b, the function ψ∘A∘φ has Jacobian
rank, bottleneck rank and limiting cost rank A.

Used by rank.bijections, and for injective maps by rank.denoising-projection. Source: A. Jacot,
*Implicit bias of large depth networks*, Claim 1.
"""

from __future__ import annotations

import torch

from rankcheck.theory.linalg import Array, Number
from rankcheck.theory.networks.network import Network
from rankcheck.theory.witnesses.deepen import matrix_slope


def inverse(bijection: Network) -> Network:
    """The inverse, as a network, of a network of invertible d × d layers and slope a > 0.

    Layer ℓ of the inverse undoes layer L + 1 − ℓ. On rationals the inverse is exact. An array of
    slopes is not checked: a ≤ 0 gives infinities or a map that is not the inverse.

    Raises:
        ValueError: the layers are not all d × d, or the slope is a number ≤ 0.
        torch.linalg.LinAlgError, or its counterpart on balls: a matrix is singular.
    """
    if len(set(bijection.widths)) > 1:
        raise ValueError(
            f"received widths {bijection.widths}; the layers of a bijection have one width"
        )
    slope = bijection.slope
    if bijection.depth > 1 and isinstance(slope, Number) and slope <= 0:
        raise ValueError(f"received slope {slope}; the activation of a bijection has a slope > 0")
    weights, biases = [], []
    for layer in range(bijection.depth, 0, -1):
        undo = torch.linalg.inv(bijection.weights[layer - 1])
        shift = (undo @ bijection.biases[layer - 1].unsqueeze(-1)).squeeze(-1)
        # From the second layer on, activations are −a times the values that they stand for, and
        # every pre-activation but the last is the negative of its value.
        scale = undo if layer == bijection.depth else -undo / matrix_slope(slope, undo)
        weights.append(scale if layer == 1 else -scale)
        biases.append(-shift if layer == 1 else shift)
    return Network.unchecked_slope(weights, biases, slope)


def conjugate(psi: Network, A: Array, phi: Network, b: Array | None = None) -> Network:
    """The network ψ∘(x ↦ Ax + b)∘φ of depth L_ψ + L_φ − 1; all its ranks are rank A for bijections.

    A is (*B, m, n), b (*B, m) or zero. ψ and φ may be any networks of one slope with inputs R^m and
    outputs R^n. Raises ValueError if they do not fit together.
    """
    offset = A.new_zeros(A.shape[:-1]) if b is None else b
    affine = Network.unchecked_slope((A,), (offset,), phi.slope)
    return psi.merged_after(affine).merged_after(phi)
