"""Linear maps on cones that an isometry maps into a positive orthant; rational in what is drawn."""

from __future__ import annotations

from typing import Any

import torch

from rankcheck.instances.matrices import positive, semi_orthogonal
from rankcheck.instances.networks import Range, slope
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import eye

__all__ = [
    "linear_maps_on_cones",
    "nonnegative_isometry",
    "planar_domain",
    "triangular",
]


def nonnegative_isometry(source: Source, k: int, like: Any) -> Any:
    """A k × k or 2k × k matrix with non-negative entries and orthonormal columns.

    The columns of such a matrix have disjoint supports: here the pairs (cos, sin) at the rational
    angles with tan(φ/2) in [0, 1], or the identity.
    """
    if source.integer(0, 1) == 0:
        return eye(k, like).expand(*source.batch, k, k)
    t = source.tensor(k, low=0.0, high=1.0)
    cosine, sine = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    return torch.cat((torch.diag_embed(cosine), torch.diag_embed(sine)), -2)


def triangular(source: Source, k: int, *, low: float, high: float, above: float) -> Any:
    """An upper triangular k × k matrix, diagonal in [low, high], entries above it in [0, above]."""
    diagonal = torch.diag_embed(positive(source, k, low=low, high=high))
    if above == 0 or k == 1:
        return diagonal
    entries = source.tensor(k, k, low=0.0, high=above)
    rows = torch.arange(k, device=entries.device)
    return diagonal + torch.where(rows[:, None] < rows, entries, 0 * entries)


def planar_domain(source: Source, dimension: Range = (1, 3)) -> tuple[Any, Any, Any]:
    """An orthonormal basis V (n × k) of a plane, an isometry O = NVᵀ of it, and a point Vy, y ≥ 0.

    N has non-negative entries: O takes the cone {Vy : y ≥ 0} into a positive orthant.
    """
    k = source.integer(*dimension)
    V = semi_orthogonal(source, k + source.integer(0, 2), k)
    into = nonnegative_isometry(source, k, V) @ V.mT
    y = source.tensor(k, low=0.0, high=8.0)
    return V, into, (V @ y.unsqueeze(-1)).squeeze(-1)


@instances
def linear_maps_on_cones(
    source: Source,
    *,
    depth: Range = (1, 8),
    diagonal: tuple[float, float] = (0.25, 4.0),
    above: float = 2.0,
) -> tuple[Any, Any, Any, Any, int, Any, Any]:
    """A, an orthonormal basis V of Im Aᵀ, O_in, O_out, a depth, a slope, and a point of the cone.

    A = QRVᵀ with R triangular and non-negative, so that A takes the cone {Vy : y ≥ 0}, and all that
    lies above it, into {Qy : y ≥ 0}. Near isometries: `diagonal` near one and `above` near zero.
    """
    V, into, x = planar_domain(source)
    n, k = V.shape[-2:]
    Q = semi_orthogonal(source, k + source.integer(0, 1), k)
    R = triangular(source, k, low=diagonal[0], high=diagonal[1], above=above)
    out = nonnegative_isometry(source, k, Q) @ Q.mT
    z = source.tensor(n)
    above_the_plane = z - (V @ (V.mT @ z.unsqueeze(-1))).squeeze(-1)
    return Q @ R @ V.mT, V, into, out, source.integer(*depth), slope(source), x + above_the_plane
