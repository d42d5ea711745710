r"""Second moments of a set of points: the covariance, and its trace, the total variance.

The points are the rows of Z (*B, N, n), with the mean $m$:

$$\operatorname{Cov}(Z) = \frac1N \sum_i (z_i - m)(z_i - m)^\top, \qquad
  V(Z) = \operatorname{tr} \operatorname{Cov}(Z) = \frac1{2N^2} \sum_{i,j} \|z_i - z_j\|^2 .$$

Used by rank.one-dimensional-layers and the claims beside it.
"""

from __future__ import annotations

from rankcheck.theory.linalg import Array


def covariance(Z: Array) -> Array:
    """Cov(Z), shape (*B, n, n), for the rows of Z (*B, N, n), N ≥ 1."""
    centred = Z - Z.mean(-2, keepdim=True)
    return centred.mT @ centred / Z.shape[-2]


def total_variance(Z: Array) -> Array:
    """V(Z), shape (*B): half the mean squared distance of two rows, zero if all rows are equal.

    It is computed from the distances: the mean of equal floats can be another float, and the
    logarithm of such a variance would be a large negative number in place of −∞.
    """
    difference = Z.unsqueeze(-2) - Z.unsqueeze(-3)
    return (difference * difference).sum((-3, -2, -1)) / (2 * Z.shape[-2] ** 2)
