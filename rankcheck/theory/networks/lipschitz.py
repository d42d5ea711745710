r"""Lipschitz constants of the hidden maps x ↦ α̃_ℓ(x) and α_ℓ ↦ f of a network.

A network is C-uniformly Lipschitz if every α̃_ℓ (ℓ = 1..L) and every α_ℓ → f (ℓ = 0..L − 1) is
C-Lipschitz. On balls the squares are exact wherever the norms are rational.

Source: A. Jacot, *Bottleneck structure in learned features*, Proposition 13.
"""

from __future__ import annotations

import torch

from rankcheck.theory.linalg import Array, frobenius_squared, operator_norm
from rankcheck.theory.networks.network import Network


def lipschitz_square_at(net: Network, x: Array) -> Array:
    """The square of the largest operator norm of the Jacobians of all these maps at the points x.

    x is (*B, N, n_0), the result (*B). It is at most C² if the network is C-uniformly Lipschitz on
    a domain that contains these points.
    """
    partial = net.partial_jacobians(x)
    largest = None
    for W, inner, outer in zip(net.weights, partial.inner, partial.outer, strict=True):
        middle = W.unsqueeze(-3)
        for J in (middle @ inner, outer @ middle):
            norm = operator_norm(J).amax(-1)
            largest = norm if largest is None else torch.maximum(largest, norm)
    assert largest is not None  # a network has a layer
    return largest * largest


def lipschitz_square_above(net: Network) -> Array:
    """C², shape (*B), such that the network is C-uniformly Lipschitz, for every slope in [−1, 1].

    The largest product of ‖W_j‖_F² over the layers 1..ℓ, or ℓ..L, for ℓ = 1..L, which is rational.
    """
    sizes = [frobenius_squared(W) for W in net.weights]
    largest = sizes[0]
    for run in (sizes, sizes[::-1]):
        product = run[0]
        largest = torch.maximum(largest, product)
        for size in run[1:]:
            product = product * size
            largest = torch.maximum(largest, product)
    return largest
