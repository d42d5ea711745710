r"""Path norms of any depth: sums over the paths of a network, of products of the weights on them.

A path takes one weight of each layer, from an input to an output. With biases, paths begin at a
bias as well, as if it were the weight of an input that is always 1. The path norm of exponent p is

.. math:: \Bigl(\sum_{\text{paths}} \ \prod_{w \text{ on the path}} |w|^p\Bigr)^{1/p},

which takes one pass through the layers: with $u_{\ell, i}$ that of the paths that end in neuron i
of layer ℓ, $u_{\ell, i}$ is the p-norm of the numbers $W_{\ell, ij} u_{\ell-1, j}$ and
$b_{\ell, i}$. Rescaling neurons, which keeps f, keeps it; W_ℓ → α_ℓ W_ℓ multiplies f and it by Πα.

Source: Neyshabur, Tomioka, Srebro, arXiv 1503.00036; with biases Gonon et al., arXiv 2310.01225.
"""

from __future__ import annotations

import math
from fractions import Fraction

import torch

from rankcheck.balls import balls, is_ball
from rankcheck.theory.linalg import Array, Number, power
from rankcheck.theory.networks.network import Network


def path_norm(
    net: Network, p: Number = 1, *, inputs: Number | None = None, biases: bool = True
) -> Array:
    """The path norm of a network, over the paths to all its outputs; shape (*B), p > 0.

    At p = 1, ‖f(x)‖_1 ≤ path_norm · max(1, ‖x‖_∞); without the biases it bounds Σ |Jf(x)_ij|.

    >>> net = Network.of([[[1, -2], [3, 0]], [[4, -5]]], [[0, 1], [7]])
    >>> path_norm(net, biases=False).item()  # 4·1 + 4·2 + 5·3
    27.0
    >>> path_norm(net).item()  # and 5·1 + 7
    39.0
    >>> path_norm(net, math.inf).item()  # the largest product
    15.0

    Args:
        p: the exponent, `math.inf` for the largest product. On balls a float is a decimal.
        inputs: another exponent for the first layer: each row of W_1, with its bias, enters by its
            norm of this exponent. With 2, a network aᵀ[Wx]_+ has Σ |a_k| ‖w_k‖.
        biases: whether paths begin at the biases as well, the last one included.

    Raises:
        ValueError: if an exponent is not positive.
    """
    sizes = net.weights[0].new_ones((*net.batch, net.widths[0]))
    exponent = p if inputs is None else inputs
    for w, b in zip(net.weights, net.biases, strict=True):
        terms = w * sizes.unsqueeze(-2)
        if biases:
            terms = torch.cat((terms, b.unsqueeze(-1)), -1)
        sizes, exponent = vector_norm(terms, exponent), p
    return vector_norm(sizes, p)


def vector_norm(x: Array, p: Number) -> Array:
    """(Σ |x_i|^p)^{1/p} along the last axis, 0 < p ≤ ∞ (a quasi-norm below 1).

    Raises:
        ValueError: if p is not positive.
    """
    if not p > 0:
        raise ValueError(f"received the exponent {p}; the exponent of a norm is positive")
    if p == math.inf:
        return x.abs().amax(-1)
    if p == 1:
        return x.abs().sum(-1)
    if p == 2:
        return power((x * x).sum(-1), Fraction(1, 2))
    inverse: Number | Array = 1 / p if isinstance(p, float) else 1 / Fraction(p)
    if is_ball(x):  # where a float stands for a decimal, whose inverse a float does not
        inverse = 1 / balls(p)
    return power(power(x.abs(), p).sum(-1), inverse)
