"""Two layers at right angles, chains of orthonormal frames, and their distances: Theorem 6 for a < 0."""

import torch

from rankcheck import Network, linalg
from rankcheck.instances import Source, orthogonal, semi_orthogonal


def right_angles(side, slope, k, depth, sign=1):
    """W_1 = t(I; −I), W_2 = t(I  ±I), W_ℓ = I_k for ℓ > 2, no biases; t is the side."""
    one = linalg.eye(k, like=side)
    first, second = torch.vstack((one, -one)), torch.hstack((one, sign * one))
    return Network.linear((side * first, side * second, *[one] * (depth - 2)), slope)


def drawn_chain(source: Source, k, depth):
    """A_0, ..., A_L with orthonormal columns for the widths k, 2k, k, ..., k."""
    ends = [orthogonal(source, k) for _ in range(depth)]
    return ends[0], semi_orthogonal(source, 2 * k, k), *ends[1:]


def best_chain(chain):
    """A_1 = (I; 0), and A_ℓ = I otherwise, in place of a chain."""
    one = linalg.eye(chain[0].shape[0], like=chain[0])
    return one, torch.vstack((one, 0 * one)), *[one] * (len(chain) - 2)


def chain_distance(net, chain):
    """Σ ‖W_ℓ − A_ℓA_{ℓ−1}ᵀ‖_F²."""
    steps = zip(net.weights, chain[1:], chain[:-1], strict=True)
    return sum(linalg.frobenius_squared(W - after @ before.mT) for W, after, before in steps)


def norms_and_overlap(net, k):
    """‖W_1‖_F² + ‖W_2‖_F² and √2 Σ_{i ≤ k} s_i((W_1 W_2ᵀ)), at depth two."""
    first, second = net.weights
    s = linalg.singular_values(torch.hstack((first, second.mT)))
    leading = torch.where(torch.arange(len(s), device=s.device) < k, s, 0)
    norms = linalg.frobenius_squared(first) + linalg.frobenius_squared(second)
    return norms, leading.sum() * linalg.square_root(2, s)
