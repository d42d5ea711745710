r"""Principal angles between two k-planes, and the cost that they force on a last layer.

For k-planes S and T with principal angles $\theta_1, \dots, \theta_k \in [0, \pi/2]$ and any matrix
W whose image contains both,

$$\|W\|_F^2 - k + \log |W^+ P_S|_+ + \log |W^+ P_T|_+ \ge \sum_i \log(1 + \sin \theta_i).$$

As a maximum is at least the mean, this is the least value of
$\|W\|_F^2 - k + \max(2 \log |W^+ P_S|_+, 2 \log |W^+ P_T|_+)$ too: at the minimum both are equal.
The proof is in docs/proofs/identity-curved.md.

Source: A. Jacot, *Bottleneck structure in learned features*, Proposition 12, which states that the
least value is positive; its value is derived here.
"""

from __future__ import annotations

from fractions import Fraction

import torch

from rankcheck.balls import is_ball
from rankcheck.theory.linalg import RANK_FACTOR, Array, eye, power, singular_values


def angle_cost(P: Array, Q: Array) -> Array:
    """Σ log(1 + sin θ_i), shape (*B), for orthogonal projections P and Q (*B, n, n) of one rank.

    The singular values of (1 − P) Q are the sines, and zeros.
    """
    identity = eye(P.shape[-1], P)
    return (1 + singular_values((identity - P) @ Q)).log().sum(-1)


def pull_back(W: Array, U: Array) -> Array:
    """W⁺U, shape (*B, w, k), for W (*B, n, w) and U (*B, n, k): rational for rational arrays."""
    if not is_ball(W):
        rounding = RANK_FACTOR * max(W.shape[-2:]) * torch.finfo(W.dtype).eps
        return torch.linalg.pinv(W, rtol=rounding) @ U
    return torch.linalg.pinv(W) @ U


def best_last_layer(near: Array, far: Array, cosine: Array, sine: Array) -> Array:
    """The last layer W (*B, n, 2k) that attains the bound above, for planes given by bisectors.

    Args:
        near, far: (*B, n, k), orthonormal together: the planes are spanned by the vectors
            cos(θ_i/2) near_i ± sin(θ_i/2) far_i.
        cosine, sine: (*B, k), of θ_i/2 in [0, π/4].
    """
    total = cosine + sine
    roots = power(torch.cat((cosine / total, sine / total), -1), Fraction(1, 2))
    return torch.cat((near, far), -1) * roots.unsqueeze(-2)
