r"""A piecewise linear shear whose cheapest networks are not uniformly Lipschitz.

$f(x, y, z) = (x, y, z + c\,[x - y]_+)$ with c >= 0 on $[0, \infty)^3$, by a ReLU network of any
even depth L. With a stretch r >= 1, $q = r^{-(L-2)/2}$:

* layers 1..L/2 − 1: $S = \operatorname{diag}(r, r, r^{-2})$, after which the point is
  $(x/q, y/q, q^2 z)$;
* layer L/2: the identity above the row $(q, -q, 0)$, whose unit is $[x - y]_+$;
* layer L/2 + 1: the identity beside the column $(0, 0, c q^2)^T$;
* layers L/2 + 2..L: $S^{-1}$.

The Jacobians are those of f, of determinant one, and det S = 1, so each stretching layer costs
$\|S\|_F^2 - 3 = O((\log r)^2)$, while the shear itself costs $2q^2 + c^2 q^4$. With
$r = e^\epsilon$, $\epsilon = L^{-\gamma}$ and 1/2 < γ < 1 all of it vanishes as L grows: R⁰ = 3 and
R¹ = 0, although f has two different Jacobians. The operator norm of the hidden maps is 1/q, which
diverges.

In print the ranges of the layers overlap, the cost lacks the factor (L − 2)/2, the number of
stretching layers on either side, and c (there: a) is in the function but not in the network.

Source: A. Jacot, *Bottleneck structure in learned features*, Example 20.
Used by bottleneck.shear-example and bottleneck.shear-example-as-printed.
"""

from __future__ import annotations

import torch

from rankcheck.theory.linalg import Array
from rankcheck.theory.networks.network import Network


def shear(x: Array, strength: Array) -> Array:
    """(x, y, z + c [x − y]_+) at points (x, y, z) of shape (*B, 3), for c = ``strength`` (*B)."""
    up = strength * torch.relu(x[..., 0] - x[..., 1])
    return torch.stack((x[..., 0], x[..., 1], x[..., 2] + up), -1)


def shear_network(depth: int, stretch: Array, strength: Array) -> Network:
    """The shear as a network of even depth with Lipschitz constants of 1/q inside, R⁰ = 3, R¹ = 0.

    ``stretch`` is r > 0 and ``strength`` c >= 0, both of shape (*B). Raises ValueError unless the
    depth is even and positive.
    """
    if depth < 2 or depth % 2:
        raise ValueError(f"received depth {depth}; the shear has an even depth >= 2")
    one, zero = 0 * stretch + 1, 0 * stretch
    there = torch.diag_embed(torch.stack((stretch, stretch, 1 / (stretch * stretch)), -1))
    back = torch.diag_embed(torch.stack((1 / stretch, 1 / stretch, stretch * stretch), -1))
    identity = torch.diag_embed(torch.stack((one, one, one), -1))
    half = depth // 2 - 1
    q = (1 / stretch) ** half
    row = torch.stack((q, -q, zero), -1).unsqueeze(-2)
    column = torch.stack((zero, zero, strength * q * q), -1).unsqueeze(-1)
    weights = [
        *[there] * half,
        torch.cat((identity, row), -2),
        torch.cat((identity, column), -1),
        *[back] * half,
    ]
    return Network(weights, [w.new_zeros(w.shape[:-1]) for w in weights])
