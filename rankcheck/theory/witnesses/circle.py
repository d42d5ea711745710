r"""The unit circle: Jacobian rank 1 everywhere, but no injective continuous real function.

The circle is parametrised by $x(m) = ((1 - m^2), 2m) / (1 + m^2)$, rational for rational m; m in
[−1, 1] gives the half from (0, −1) to (0, 1) through (1, 0). For continuous g the function
$\varphi(m) = g(x(m)) - g(-x(m))$ has $\varphi(1) = -\varphi(-1)$, so it has a zero: two antipodes
have the same value (Borsuk and Ulam in dimension one). So there is no g with id = h∘g through R¹,
and the bottleneck rank of the identity on the circle is 2.

Source: A. Jacot, *Bottleneck structure in learned features*, section 3.3.1.
Used by bottleneck.circle.
"""

from __future__ import annotations

import torch

from rankcheck.theory.linalg import Array
from rankcheck.theory.networks.network import Network


def point(m: Array) -> Array:
    """x(m) on the unit circle, shape (*B, 2), for m of shape (*B)."""
    return torch.stack((1 - m * m, 2 * m), -1) / (1 + m * m).unsqueeze(-1)


def tangent(m: Array) -> Array:
    """A unit vector orthogonal to x(m), shape (*B, 2)."""
    x = point(m)
    return torch.stack((-x[..., 1], x[..., 0]), -1)


def antipodal_difference(g: Network, m: Array) -> Array:
    """φ(m) = g(x(m)) − g(−x(m)), shape (*B), for g: R² → R.

    Raises ValueError for a network between other spaces.
    """
    if (g.widths[0], g.widths[-1]) != (2, 1):
        raise ValueError(f"received a network of widths {g.widths}; g maps R² to R")
    x = point(m)
    return (g(x) - g(-x))[..., 0]


def antipodal_bracket(g: Network, steps: int) -> tuple[Array, Array]:
    """m_− <= m_+, (*B), that enclose two antipodes of the circle where g has one value.

    φ(m_−) φ(m_+) <= 0, and m_+ − m_− = 2^(1 − steps), by bisection. On balls every m is a dyadic
    number and every sign is proved; raises Undecided if the sign of a difference cannot be decided.
    """
    one = g.weights[0].new_ones(g.batch)
    low, high = -one, one
    start = antipodal_difference(g, low)
    for _ in range(steps):
        middle = (low + high) / 2
        same = (antipodal_difference(g, middle) >= 0) == (start >= 0)
        low, high = torch.where(same, middle, low), torch.where(same, high, middle)
    return low, high
