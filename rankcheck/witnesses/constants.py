r"""The cheapest network of depth two for a constant.

A network of depth two with $f(0) = v$ has, with $c_\ell = \|W_\ell\|_F^2 + \|b_\ell\|^2$ and
$\alpha_0 = 0$: $\|\alpha_1\|^2 \le \|b_1\|^2 \le c_1$ and, by Cauchy and Schwarz,
$v^2 = |W_2 \alpha_1 + b_2|^2 \le c_2 (1 + \|\alpha_1\|^2) \le c_2 (1 + c_1)$. The least $c_1 + c_2$
under $c_2 (1 + c_1) \ge v^2$ is

$$R(v; 2) = v^2 \ (|v| \le 1), \qquad 2|v| - 1 \ (|v| \ge 1),$$

attained by :func:`constant_network`.

Used by rank.constant-cost and rank.sum-cost-as-printed.
"""

from __future__ import annotations

from fractions import Fraction

import torch

from rankcheck.linalg import Array, power
from rankcheck.networks.network import Network

__all__ = ["constant_network", "least_constant_cost"]


def least_constant_cost(v: Array) -> Array:
    """R(v; 2), the least cost of a depth-two network with f(0) = v, shape (*B).

    >>> least_constant_cost(torch.tensor([0.5, -3.0]))
    tensor([0.2500, 5.0000])
    """
    size = v.abs()
    return torch.where(size <= 1, size * size, 2 * size - 1)


def constant_network(v: Array) -> Network:
    """The constant v, shape (*B), as a depth-two network of cost `least_constant_cost(v)`.

    The hidden unit is the constant h with h² = max(|v| − 1, 0); the outer weights (W_2, b_2) are
    v (h, 1) / (1 + h²).
    """
    square = torch.relu(v.abs() - 1)
    hidden = power(square, Fraction(1, 2))
    outer = v / (1 + square)
    zero = (0 * v)[..., None, None]
    return Network(
        (zero, (outer * hidden)[..., None, None]), (hidden.unsqueeze(-1), outer.unsqueeze(-1))
    )
