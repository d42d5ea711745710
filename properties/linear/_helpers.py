"""What claims of `linear` share: units and laws, gradients and projections, products of layers."""

import torch

from rankcheck import costs, linalg
from rankcheck.instances import Source, low_rank


def nonzero_weights(source: Source):
    """W ≠ 0 (K × D) of any rank."""
    K, D = source.integer(1, 4), source.integer(1, 4)
    W = low_rank(source, K, D, source.integer(1, min(K, D)))
    return torch.where((W == 0).all(), torch.ones_like(W), W)


def with_copies(W, b, a, factor):
    """The units, and each once more, its outer weight times a factor."""
    return torch.cat((W, W)), torch.cat((b, b)), torch.cat((a, factor * a))


def without_an_end(source: Source, p):
    """The masses p, with 0 for the region below all bends, or for the one above."""
    end = source.choice((0, len(p) - 1))
    return torch.where(torch.arange(len(p), device=p.device) != end, p, torch.zeros_like(p))


def members(sets, n, like):
    """A row for each set of numbers below n: 1 at its members, 0 elsewhere."""
    return like.new_tensor([[float(k in set_) for k in range(n)] for set_ in sets])


def product(factors):
    """W_n ··· W_1 of (W_1, ..., W_n)."""
    result = factors[0]
    for factor in factors[1:]:
        result = factor @ result
    return result


def gradients(W, b, a, x):
    """∇f at points x (N, D), for units W, b, a."""
    return costs.two_layer_network(W, b, a).jacobian(x)[:, 0]


def root_and_noise(W, b, a, x, p):
    """A root A of C_f, AᵀA = C_f, for units at points x of masses p, and a bound of its rounding."""
    noise = costs.two_layer_network(W, b, a).jacobian_noise(x).amax()
    return costs.egop_root(gradients(W, b, a, x), p), noise


def index_ranks(W, b, a, x, p, *_):
    """The rank of C_f for units at points x of masses p: what instances reach."""
    return {"index rank": linalg.rank(*root_and_noise(W, b, a, x, p))}


def projected(V, root):
    """VP, with P the projection onto the range of C_f, for a root A, AᵀA = C_f."""
    P = linalg.range_projection(root.mT)
    # In floats the second factor takes what the first one leaves outside the range.
    return V @ P @ P


def as_given(V, root):
    """V itself, without the projection."""
    return V
