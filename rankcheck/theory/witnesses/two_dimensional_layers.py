r"""A balanced network of cost L + O(1) in which no layer is close to rank one.

For a depth L ≥ 1 put $\sigma_\ell = (L+1)/((\ell+1)(L+1-\ell))$ and
$c_\ell = \sigma_\ell/\sigma_{\ell-1}$, and let $u = (1, 1)/\sqrt2$ and $u^\perp = (1, -1)/\sqrt2$.
All layers have width two:

$$W_\ell = c_\ell\, u u^\top, \qquad b_\ell = \beta_\ell u^\perp, \qquad
  \beta_\ell^2 = c_{\ell+1}^2 - c_\ell^2 \ (\ell < L), \quad \beta_L = 1 .$$

* At the points $x_i = t_i u + u^\perp$ with $t_i \ge 3$ every pre-activation is positive, and
  $\alpha_\ell(x_i) = \sigma_\ell t_i u + \beta_\ell u^\perp$. As $\sigma_L = \sigma_0 = 1$, the
  network is $x \mapsto u u^\top x + u^\perp$ there, for every slope.
* It is balanced neuron by neuron: $\|W_{\ell, i\cdot}\|^2 + b_{\ell, i}^2 = c_{\ell+1}^2/2$.
* $\|\theta\|^2 \le L + 10$, and $\tfrac7{18} \sigma_\ell^2 \le \beta_\ell^2 \le 7 \sigma_\ell^2$.

So the hidden representations have two singular values of one order in every layer. The biases are
of no use to the function: the network is no local minimum of a regularised loss.

Used by rank.balanced-layers-of-rank-two. Proof: docs/proofs/one-dimensional-layers.md.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import torch

from rankcheck.theory.linalg import Array, Number, power
from rankcheck.theory.networks.network import Network
from rankcheck.theory.scalars import scalar


def spread(depth: int, layer: int) -> Fraction:
    """σ_ℓ for ℓ = 0..L.

    >>> [str(spread(3, layer)) for layer in range(4)]
    ['1', '2/3', '2/3', '1']
    """
    return Fraction(depth + 1, (layer + 1) * (depth + 1 - layer))


def two_dimensional_layers(depth: int, like: Array, slope: Number | Array = 0) -> Network:
    """The network of depth L ≥ 1, with the kind of number and the batch axes (*B) of ``like``.

    Raises ValueError for a depth below 1.
    """
    if depth < 1:
        raise ValueError(f"received depth {depth}; the depth is at least 1")
    steps = [spread(depth, n) / spread(depth, n - 1) for n in range(1, depth + 1)]
    squares = [
        *((later**2 - step**2) / 2 for step, later in pairwise(steps)),
        Fraction(1, 2),
    ]
    batch = tuple(like.shape)
    weights, biases = [], []
    for step, square in zip(steps, squares, strict=True):
        entry = scalar(step / 2, like)
        weights.append(entry.expand(*batch, 2, 2))
        size = power(scalar(square, like), Fraction(1, 2))
        biases.append(torch.stack((size, -size)).expand(*batch, 2))
    return Network.unchecked_slope(weights, biases, slope)


def points_on_a_line(t: Array) -> Array:
    """The points t_i u + u⊥, shape (*B, N, 2), for t of shape (*B, N)."""
    root = power(scalar(Fraction(1, 2), t), Fraction(1, 2))
    return torch.stack(((t + 1) * root, (t - 1) * root), -1)
