"""Linear maps on cones that an isometry maps into a positive orthant; rational in what is drawn."""

from __future__ import annotations

from typing import Any

import torch

from rankcheck.theory.instances.matrices import positive, semi_orthogonal
from rankcheck.theory.instances.networks import Range, slope
from rankcheck.theory.instances.promises import (
    Promise,
    at_most,
    inside,
    is_identity,
    promises,
    same,
    within,
)
from rankcheck.theory.instances.source import Source, instances
from rankcheck.theory.linalg import eye


def nonnegative_isometry(source: Source, k: int, like: Any) -> Any:
    """A k × k or 2k × k matrix with non-negative entries and orthonormal columns.

    The columns of such a matrix have disjoint supports: here the pairs (cos, sin) at the rational
    angles with tan(φ/2) in [0, 1], or the identity.
    """
    if source.integer(0, 1) == 0:
        return eye(k, like)
    t = source.tensor(k, low=0.0, high=1.0)
    cosine, sine = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    return torch.cat((torch.diag_embed(cosine), torch.diag_embed(sine)), -2)


def isometry_at(source: Source, y: Any) -> Any:
    """An m × k matrix O with orthonormal columns and Oy ≥ 0, for y (k); k ≤ m ≤ k + 2.

    It is any matrix with orthonormal columns, with the rows negated that take y to a negative
    number. Its cone {z : Oz ≥ 0} contains y and is completely positive. It is exact on balls: O is
    a rational function of what is drawn.
    """
    k = y.shape[-1]
    O = semi_orthogonal(source, k + source.integer(0, 2), k)  # noqa: E741
    return torch.where(O @ y.unsqueeze(-1) < 0, -O, O)


def triangular(source: Source, k: int, *, low: float, high: float, above: float) -> Any:
    """An upper triangular k × k matrix, diagonal in [low, high], entries above it in [0, above]."""
    diagonal = torch.diag_embed(positive(source, k, low=low, high=high))
    if above == 0 or k == 1:
        return diagonal
    entries = source.tensor(k, k, low=0.0, high=above)
    rows = torch.arange(k, device=entries.device)
    return diagonal + torch.where(rows[:, None] < rows, entries, 0 * entries)


def _cone(source: Source, k: int) -> tuple[Any, Any, bool]:
    """An isometry O of R^k, a point y with Oy ≥ 0, and whether O has non-negative entries."""
    y = source.tensor(k, low=0.0, high=8.0)
    if source.choice(("orthant", "any")) == "orthant":
        return nonnegative_isometry(source, k, y), y, True
    y = y - 4
    return isometry_at(source, y), y, False


def planar_domain(source: Source) -> tuple[Any, Any, Any]:
    """An orthonormal basis V (n × k) of a plane, an isometry O = NVᵀ of it, and a point x = Vy.

    NᵀN = 1 and Ny ≥ 0: the cone {Vz : Nz ≥ 0} contains x and is completely positive. In half of the
    draws it is the orthant {Vz : z ≥ 0}, and otherwise the cone of `isometry_at`.
    """
    k = source.integer(1, 3)
    V = semi_orthogonal(source, k + source.integer(0, 2), k)
    N, y, _ = _cone(source, k)
    return V, N @ V.mT, (V @ y.unsqueeze(-1)).squeeze(-1)


def _squares(A: Any, V: Any) -> tuple[Any, Any]:
    """R_ii² (k), and R_ij/R_ii above the diagonal: of AV = QR, by elimination from RᵀR."""
    G = (A @ V).mT @ (A @ V)
    k = G.shape[-1]
    rows, squares = [], []
    for i in range(k):
        squares.append(G[..., i, i])
        row = G[..., i, :] / G[..., i, i].unsqueeze(-1)
        rows.append(torch.where(torch.arange(k, device=row.device) > i, row, 0 * row))
        G = G - squares[-1][..., None, None] * row.unsqueeze(-1) * row.unsqueeze(-2)
    return torch.stack(squares, -1), torch.stack(rows, -2)


def _are_small(squares: Any, ratios: Any, above: float) -> Any:
    return at_most(0, ratios) & at_most(ratios * ratios * squares.unsqueeze(-1), above**2)


def _gram(A: Any) -> Any:
    return A.mT @ A


def _times(A: Any, x: Any) -> Any:
    return (A @ x.unsqueeze(-1)).squeeze(-1)


@instances
@promises(
    Promise("VᵀV = 1", lambda o, A, V, *_: is_identity(V.mT @ V)),
    Promise("AVVᵀ = A", lambda o, A, V, *_: same(A @ V @ V.mT, A)),
    Promise("O_in x ≥ 0", lambda o, A, V, into, out, L, a, x: at_most(0, _times(into, x))),
    Promise(
        "O_out Ax ≥ 0", lambda o, A, V, into, out, L, a, x: at_most(0, _times(out, _times(A, x)))
    ),
    Promise("O_in is an isometry on Im V", lambda o, A, V, into, *_: is_identity(_gram(into @ V))),
    Promise(
        "O_out is an isometry on Im A",
        lambda o, A, V, into, out, *_: same(_gram(out @ A), _gram(A)),
    ),
    depth=Promise("the depth is in the range", lambda o, A, V, *rest: inside(o.depth, rest[2])),
    diagonal=Promise(
        "the diagonal entries of R lie in the range",
        lambda o, A, V, *_: within((o.diagonal[0] ** 2, o.diagonal[1] ** 2), _squares(A, V)[0]),
    ),
    above=Promise(
        "the other entries of R lie in [0, above]",
        lambda o, A, V, *_: _are_small(*_squares(A, V), o.above),
    ),
)
def linear_maps_on_cones(
    source: Source,
    *,
    depth: Range = (1, 8),
    diagonal: tuple[float, float] = (0.25, 4.0),
    above: float = 2.0,
) -> tuple[Any, Any, Any, Any, int, Any, Any]:
    """A, an orthonormal basis V of Im Aᵀ, O_in, O_out, a depth, a slope, and a point x.

    A = QRVᵀ with R triangular and non-negative, and O_in x ≥ 0, O_out Ax ≥ 0: the domain is the
    cone of all such x. In half of the draws the two cones are the orthants of V and Q, and in the
    other half those of `isometry_at`, at an angle to the singular vectors of A. Near isometries:
    `diagonal` near one and `above` near zero.
    """
    k = source.integer(1, 3)
    V = semi_orthogonal(source, k + source.integer(0, 2), k)
    N, y, nonnegative = _cone(source, k)
    Q = semi_orthogonal(source, k + source.integer(0, 1), k)
    R = triangular(source, k, low=diagonal[0], high=diagonal[1], above=above)
    image = (R @ y.unsqueeze(-1)).squeeze(-1)
    out = nonnegative_isometry(source, k, Q) if nonnegative else isometry_at(source, image)
    z = source.tensor(V.shape[-2])
    x = z + (V @ (y.unsqueeze(-1) - V.mT @ z.unsqueeze(-1))).squeeze(-1)
    return Q @ R @ V.mT, V, N @ V.mT, out @ Q.mT, source.integer(*depth), slope(source), x
