r"""Orthonormal frames along which the weights of a network are nearly projections.

At x with $k = \operatorname{rank} Jf(x)$ let $S_0$ be the row space of $Jf(x)$ and
$S_\ell = D_\ell W_\ell S_{\ell-1}$ ($D_L = I$). All $S_\ell$ have dimension k; $P_\ell$ is the
orthogonal projection onto $S_\ell$. For semi-orthonormal U and V with k columns, V a basis of S,

.. math:: \min_U \|W - UV^T\|_F^2 = \|W\|_F^2 + k - 2\|WP_S\|_*
          = \|W(I - P_S)\|_F^2 + \sum_{i \le k} (s_i(WP_S) - 1)^2,

attained at the polar part $UV^T$ of $WP_S$. There are three families:

* *one-sided*: $U_\ell V_\ell^T$ is the polar part of $W_\ell P_{\ell-1}$, each layer on its own;
* *chained*: one semi-orthonormal $A_\ell$ for each $S_\ell$, rotated one after the other so that
  $A_\ell^T W_\ell A_{\ell-1}$ is positive semi-definite: then it has trace
  $\|P_\ell W_\ell P_{\ell-1}\|_*$, and the squared distance of $W_\ell$ to $A_\ell A_{\ell-1}^T$ is
  $\|W_\ell\|_F^2 + k - 2\|P_\ell W_\ell P_{\ell-1}\|_*$;
* *middle*: for every slope a chain of frames halfway between the polar part U of $W_\ell$ on the
  frame before, and the image of U under $D_\ell$.

The distances are functions of projections, which are rational, and of singular values, so they run
on balls. The frames themselves are irrational and need floats.

Used by the claims bottleneck.weights-near-projections, bottleneck.chained-projections and
bottleneck.chain-for-every-slope. Source: A. Jacot, *Bottleneck structure in learned features*,
Theorem 6/15, with the projections corrected.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from rankcheck.balls import NoBallForm, is_ball
from rankcheck.theory.linalg import (
    Array,
    frobenius_squared,
    log_pseudo_determinant,
    nuclear_norm,
    range_projection,
    rank,
    singular_values,
)
from rankcheck.theory.networks.network import Network


@dataclass(frozen=True, eq=False)
class Bottleneck:
    """The quantities of a network at a point that bound the distances of its weights to frames.

    Attributes:
        rank: k = rank Jf(x), an integer tensor (*B).
        log_determinant: log |Jf(x)|_+, shape (*B).
        excess: c_1 = ‖θ‖² − kL, shape (*B).
        error: in floats, a bound of the angle by which rounding turns the S_ℓ; 0 on balls; (*B).
    """

    rank: Tensor
    log_determinant: Array
    excess: Array
    error: Array

    @property
    def count(self) -> Array:
        """max(k, 1) as a float tensor or a BallArray, for divisions; shape (*B)."""
        return 0 * self.excess + torch.where(self.rank > 0, self.rank, 1)

    @property
    def slack(self) -> Array:
        """c_1 − 2 log |Jf(x)|_+, which is never negative; shape (*B)."""
        return self.excess - 2 * self.log_determinant


def bottleneck(net: Network, x: Array) -> Bottleneck:
    """The :class:`Bottleneck` of a network at x (*B, n_0)."""
    J, noise = net.jacobian(x), net.jacobian_noise(x)
    k = rank(J, noise)
    excess = net.cost() - k * net.depth
    return Bottleneck(k, log_pseudo_determinant(J, noise), excess, _angle(J, k, noise))


def _angle(J: Array, k: Tensor, noise: Array) -> Array:
    """noise / s_k(J), to first order the sine of the angle by which rounding turns S_0."""
    if is_ball(J):
        return J.new_zeros(J.shape[:-2])
    smallest = singular_values(J).gather(-1, (k - 1).clamp_min(0).unsqueeze(-1)).squeeze(-1)
    return (noise / torch.where(k > 0, smallest, 1.0)).detach()


def projection_of_rank(M: Array, k: Tensor) -> Array:
    """The orthogonal projection onto Im M, for M (*B, m, n) of rank k (*B) up to rounding.

    In floats the k largest singular values are kept, and the gradient is the one at constant rank.
    """
    if is_ball(M):
        return range_projection(M)
    s = singular_values(M).detach()
    # The cut lies between s_k and s_{k+1}, where s_0 counts as 2 s_1 + 1 and s_{m+1} as 0.
    ends = torch.cat((2 * s[..., :1] + 1, s, 0 * s[..., :1]), -1)
    place = k.unsqueeze(-1)
    cut = (ends.gather(-1, place) + ends.gather(-1, place + 1)) / 2
    cut = cut.squeeze(-1)
    return M @ torch.linalg.pinv(M, atol=cut, rtol=torch.zeros_like(cut))


def subspaces(net: Network, x: Array, k: Tensor) -> tuple[Array, ...]:
    """P_0, ..., P_L at x (*B, n_0), shapes (*B, n_l, n_l), for k = rank Jf(x)."""
    at = net.at(x)
    first = projection_of_rank(at.jacobian.mT, k)
    images = [inner @ first for inner in at.inner_jacobians[1:]]
    return (first, *(projection_of_rank(M, k) for M in (*images, at.jacobian)))


def offsets(net: Network, x: Array, k: Tensor) -> Array:
    """‖(I − P_ℓ) α_ℓ(x)‖² for ℓ = 0..L, with α_L = f, shape (*B, L + 1).

    The squared distance of the features to the space S_ℓ that their tangents span.
    """
    at = net.at(x)
    features = zip(subspaces(net, x, k), (*at.activations, at.value), strict=True)
    rest = [a - (p @ a.unsqueeze(-1)).squeeze(-1) for p, a in features]
    return torch.stack([(r * r).sum(-1) for r in rest], -1)


def surviving_jacobians(net: Network, x: Array, k: Tensor) -> list[Array]:
    """Jα̃_ℓ(x) P_0 for ℓ = 1..L, shapes (*B, n_l, n_0), all of rank k; the last is Jf(x)."""
    at = net.at(x)
    first = projection_of_rank(at.jacobian.mT, k)
    return [w @ inner @ first for w, inner in zip(net.weights, at.inner_jacobians, strict=True)]


def log_determinant_of_rank(M: Array, k: Tensor) -> Array:
    """log |M|_+ for M (*B, m, n) of rank k (*B) up to rounding."""
    if is_ball(M):
        return log_pseudo_determinant(M)
    s = singular_values(M)
    counted = torch.arange(s.shape[-1], device=s.device) < k.unsqueeze(-1)
    return torch.where(counted, s, 1.0).log().sum(-1)


# Distances


def isometry_distance(s: Array, k: Tensor) -> Array:
    """Σ_i (s_i − 1_{i ≤ k})², shape (*B), for singular values s (*B, r) and integers k (*B).

    The squared distance of a matrix with these singular values to the nearest partial isometry of
    rank k ≤ r, by Mirsky's theorem; attained at that of its k leading singular vectors.
    """
    one = (torch.arange(s.shape[-1], device=s.device) < k.unsqueeze(-1)).to(torch.float64)
    return ((s - one) * (s - one)).sum(-1)


def one_sided_distances(net: Network, x: Array, k: Tensor) -> Array:
    """‖W_ℓ − U_ℓV_ℓᵀ‖_F² for the one-sided family, shape (*B, L)."""
    projections = subspaces(net, x, k)
    parts = [w @ p for w, p in zip(net.weights, projections[:-1], strict=True)]
    return _distances(net, parts, k)


def chained_distances(net: Network, x: Array, k: Tensor) -> Array:
    """‖W_ℓ − A_ℓA_{ℓ−1}ᵀ‖_F² for the chained family, shape (*B, L)."""
    P = subspaces(net, x, k)
    parts = [q @ w @ p for q, w, p in zip(P[1:], net.weights, P[:-1], strict=True)]
    return _distances(net, parts, k)


def chain_turns(net: Network, x: Array, k: Tensor) -> Array:
    """log |P_ℓ W_ℓ P_{ℓ−1}|_+ − log |D_ℓ W_ℓ P_{ℓ−1}|_+ for ℓ = 1..L, shape (*B, L), with D_L = I.

    For slopes in [0, 1] it is log det A_ℓᵀ D_ℓ⁺ A_ℓ ≥ 0, with A_ℓ an orthonormal basis of S_ℓ: what
    the layer loses because D_ℓ turns W_ℓ S_{ℓ−1} into S_ℓ.
    """
    P = subspaces(net, x, k)
    masks = (*net.masks(x), net.weights[-1].new_ones((*x.shape[:-1], net.widths[-1])))
    turns = []
    for q, w, p, d in zip(P[1:], net.weights, P[:-1], masks, strict=True):
        smooth = log_determinant_of_rank(q @ w @ p, k)
        turns.append(smooth - log_determinant_of_rank(d.unsqueeze(-1) * (w @ p), k))
    return torch.stack(turns, -1)


def mask_losses(net: Network, x: Array, k: Tensor) -> Array:
    """k − ‖D_ℓ Q_ℓ‖_F² for ℓ = 1..L, shape (*B, L), with D_L = I, so that the last is 0.

    Q_ℓ is an orthonormal basis of W_ℓ S_{ℓ−1}, the image of Jα̃_ℓ(x) on (ker Jf(x))^⊥. The loss is
    never negative for slopes in [−1, 1], and 0 where D_ℓ is an isometry on that image.
    """
    losses = []
    for M, d in zip(surviving_jacobians(net, x, k)[:-1], net.masks(x), strict=True):
        share = projection_of_rank(M, k).diagonal(dim1=-2, dim2=-1)
        losses.append(k - (d * d * share).sum(-1))
    return torch.stack((*losses, x.new_zeros(x.shape[:-1])), -1)


def two_sided_distances(net: Network, x: Array, k: Tensor) -> Array:
    """‖W_ℓ − U_ℓV_ℓᵀ‖_F² for the frames of the printed proof, shape (*B, L).

    U_ℓV_ℓᵀ is the polar part of P W_ℓ P' with the projections P onto Im J(α̃_ℓ → f)ᵀ and P' onto
    Im Jα_{ℓ−1}. The bound of the theorem is false for it.
    """
    return _distances(net, _two_sided(net, x), k)


def two_sided_log_determinant(net: Network, x: Array) -> Array:
    """The logarithm of the product that the printed proof equates with |Jf(x)|_+, shape (*B).

    Its factors are |P_{Im G_ℓᵀ} W_ℓ P_{Im Jα_{ℓ−1}}|_+ and |P_{Im J(α_ℓ→f)ᵀ} D_ℓ P_{Im Jα̃_ℓ}|_+.
    """
    at = net.at(x)
    first, *rest = map(log_pseudo_determinant, _two_sided(net, x))
    total = sum(rest, start=first)
    inner, outer = at.inner_jacobians, at.outer_jacobians
    for index, mask in enumerate(at.masks):
        leaving = range_projection((outer[index + 1] @ net.weights[index + 1]).mT)
        entering = range_projection(net.weights[index] @ inner[index])
        total = total + log_pseudo_determinant(leaving @ (mask.unsqueeze(-1) * entering))
    return total


def _two_sided(net: Network, x: Array) -> list[Array]:
    at = net.at(x)
    layers = zip(net.weights, at.inner_jacobians, at.outer_jacobians, strict=True)
    return [range_projection(g.mT) @ w @ range_projection(a) for w, a, g in layers]


def _distances(net: Network, parts: list[Array], k: Tensor) -> Array:
    pairs = zip(net.weights, parts, strict=True)
    return torch.stack([frobenius_squared(w) + k - 2 * nuclear_norm(M) for w, M in pairs], -1)


# Frames


def one_sided_frames(net: Network, x: Tensor, k: Tensor) -> list[tuple[Tensor, Tensor]]:
    """U_ℓ and V_ℓ, ℓ = 1..L, at the least distance ‖W_ℓ − U_ℓV_ℓᵀ‖_F, each layer on its own.

    Each has min(n_ℓ, n_{ℓ−1}) columns, of which all but k are zero. Raises NoBallForm on balls.
    """
    projections = _floats(net, x, k)
    return [_polar(w @ p, k) for w, p in zip(net.weights, projections[:-1], strict=True)]


def chained_frames(net: Network, x: Tensor, k: Tensor) -> list[Tensor]:
    """A_0, ..., A_L with W_ℓ near A_ℓA_{ℓ−1}ᵀ: one frame for both layers that meet in S_ℓ.

    Each has min(n_0, n_L) columns, of which all but k are zero. Raises NoBallForm on balls.
    """
    projections = _floats(net, x, k)
    frames = [_polar(net.jacobian(x), k)[1]]
    for w, p in zip(net.weights, projections[1:], strict=True):
        frames.append(_partial_isometry(p @ w @ frames[-1], k))
    return frames


def middle_frames(net: Network, x: Tensor, k: Tensor) -> list[Tensor]:
    """A_0, ..., A_L, each halfway between what W_ℓ makes of the frame before and what D_ℓ leaves.

    B_0 is a basis of S_0. With U the polar part of W_ℓB and E that of D_ℓU, the next B is
    E sign(UᵀE), a basis of S_ℓ, and A_ℓ the polar part of U + B. Shapes as for `chained_frames`.
    Raises NoBallForm on balls.
    """
    _floats(net, x, k)
    B = _polar(net.jacobian(x), k)[1]
    frames = [B]
    masks = (*net.masks(x), net.weights[-1].new_ones((*x.shape[:-1], net.widths[-1])))
    for w, mask in zip(net.weights, masks, strict=True):
        U = _partial_isometry(w @ B, k)
        E = _partial_isometry(mask.unsqueeze(-1) * U, k)
        overlap = U.mT @ E
        values, vectors = torch.linalg.eigh((overlap + overlap.mT) / 2)
        signs = torch.where(values < 0, -1.0, 1.0).unsqueeze(-2)
        B = E @ (vectors * signs) @ vectors.mT
        frames.append(_partial_isometry(U + B, k))
    return frames


def _floats(net: Network, x: Tensor, k: Tensor) -> tuple[Array, ...]:
    if is_ball(x):
        raise NoBallForm("orthonormal frames", "singular vectors are irrational")
    return subspaces(net, x, k)


def _polar(M: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    """The k leading left and right singular vectors, followed by zero columns."""
    U, _, Vh = torch.linalg.svd(M, full_matrices=False)
    counted = torch.arange(U.shape[-1], device=M.device) < k[..., None, None]
    return torch.where(counted, U, 0.0), torch.where(counted, Vh.mT, 0.0)


def _partial_isometry(M: Tensor, k: Tensor) -> Tensor:
    """The polar part of M, up to rank k."""
    U, V = _polar(M, k)
    return U @ V.mT
