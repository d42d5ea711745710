r"""The unit circle: one-dimensional at every point, but no continuous real function is injective.

The circle is parametrised by $x(m) = ((1 - m^2), 2m) / (1 + m^2)$, m ∈ [−1, 1] being the half from
(0, −1) to (0, 1) through (1, 0): rational points for rational m. For continuous g the function
$\varphi(m) = g(x(m)) - g(-x(m))$ has $\varphi(1) = -\varphi(-1)$, so it vanishes in between:
two antipodes have one value (Borsuk and Ulam in dimension one). So id = h∘g through R¹ has no g,
and the bottleneck rank of the identity on the circle is 2.

Source: A. Jacot, *Bottleneck structure in learned features*, section 3.3.1.
Used by bottleneck.circle.
"""

from __future__ import annotations

import torch

from rankcheck.linalg import Array
from rankcheck.networks.network import Network

__all__ = ["antipodal_bracket", "antipodal_difference", "point", "tangent"]


def point(m: Array) -> Array:
    """x(m) on the unit circle, shape (*B, 2), for m of shape (*B)."""
    return torch.stack((1 - m * m, 2 * m), -1) / (1 + m * m).unsqueeze(-1)


def tangent(m: Array) -> Array:
    """A unit vector orthogonal to x(m), shape (*B, 2)."""
    x = point(m)
    return torch.stack((-x[..., 1], x[..., 0]), -1)


def antipodal_difference(g: Network, m: Array) -> Array:
    """φ(m) = g(x(m)) − g(−x(m)), shape (*B), for g: R² → R.

    Raises ValueError if g has other widths.
    """
    if (g.widths[0], g.widths[-1]) != (2, 1):
        raise ValueError(f"g maps R² to R, received widths {g.widths}")
    x = point(m)
    return (g(x) - g(-x))[..., 0]


def antipodal_bracket(g: Network, steps: int) -> tuple[Array, Array]:
    """m_− <= m_+ at distance 2^(1 − steps) with φ(m_−) φ(m_+) <= 0, by bisection; shapes (*B).

    On balls every m is a dyadic number and every sign is proved (a difference that cannot be told
    from zero raises Undecided).
    """
    one = g.weights[0].new_ones(g.batch)
    low, high = -one, one
    start = antipodal_difference(g, low)
    for _ in range(steps):
        middle = (low + high) / 2
        same = (antipodal_difference(g, middle) >= 0) == (start >= 0)
        low, high = torch.where(same, middle, low), torch.where(same, high, middle)
    return low, high
