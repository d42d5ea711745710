"""What the claims of Theorem 7/16 and of Corollary 8/17 of `bottleneck` share."""

import torch

from rankcheck import Network, linalg
from rankcheck.instances import Source, orthogonal


def capped(exponent):
    """max(1, e^x): the exponential of the theorem, corrected for c_1 < 0."""
    return torch.relu(exponent).exp()


def ranked(values):
    """m times the m-th largest of the values: the largest says whether most are small."""
    places = torch.arange(1, len(values) + 1, device=values.device)
    return torch.sort(values, descending=True).values * places


def common_rank(net, X):
    """k = rank Jf(x_1), whether all points have it and k ≥ 1, and log |Jf(x_i)|_+ for all points."""
    J, noise = net.jacobian(X), net.jacobian_noise(X)
    ranks = linalg.rank(J, noise)
    k = ranks[0]
    return k, (ranks == k).all() & (k > 0), linalg.log_pseudo_determinant(J, noise)


def divisor(net, k, log, growth):
    """k |J|_+^{2/k} / growth(c_1/k) from log |J|_+; neither overflows for large c_1."""
    count = torch.where(k > 0, k, 1) + 0 * log
    excess = net.cost() - k * net.depth
    return count * (log * 2 / count).exp() / growth(excess / count)


def rotations(source: Source, n, scales, *, out=True):
    """W_1 = t_1 Q, W_ℓ = t_ℓ I, W_L = t_L Q' with given scales, at a point with Qx > 0.

    Q' = I if `out` is false.
    """
    Q = orthogonal(source, n)
    factors = [Q, *[linalg.eye(n, like=Q)] * (len(scales) - 1)]
    if out:
        factors[-1] = orthogonal(source, n) @ factors[-1]
    y = source.tensor(n, low=0.5, high=4.0)
    return Network.linear([t * W for t, W in zip(scales, factors, strict=True)]), Q.mT @ y
