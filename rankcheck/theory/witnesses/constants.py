r"""The cheapest networks for a constant.

Of a network with $f(0) = v$ let $c_\ell = \|W_\ell\|_F^2 + \|b_\ell\|^2$, $\alpha_0 = 0$ and
$u_\ell = 1 + \|\alpha_\ell(0)\|^2$. By Cauchy and Schwarz, and as $|\sigma_a(t)| \le |t|$,
$u_\ell \le 1 + c_\ell u_{\ell-1}$ with $u_0 = 1$, and for the last layer
$1 + |v|^2 \le 1 + c_L u_{L-1}$. The least $\sum c_\ell$ under these conditions is, at depth two,

$$R(v; 2) = v^2 \ (|v| \le 1), \qquad 2|v| - 1 \ (|v| \ge 1),$$

attained by :func:`constant_network`. For $|v| \le 2$ it is the same at every depth
$L \ge 2$ (docs/proofs/constants-at-every-depth.md), attained after $L - 2$ layers of zeros. For
$|v| > 2$ networks of depth three are cheaper.

Used by rank.constant-cost, bottleneck.constant-cost, rank.sum-cost-at-every-depth and
rank.sum-cost-as-printed.
"""

from __future__ import annotations

from fractions import Fraction

import torch

from rankcheck.theory.linalg import Array, power
from rankcheck.theory.networks.network import Network


def least_constant_cost(v: Array) -> Array:
    """R(v; 2), the least cost of a depth-two network with f(0) = v, shape (*B).

    For |v| ≤ 2 it is R(v; L) at every depth L ≥ 2.

    >>> least_constant_cost(torch.tensor([0.5, -3.0]))
    tensor([0.2500, 5.0000])
    """
    size = v.abs()
    return torch.where(size <= 1, size * size, 2 * size - 1)


def constant_network(v: Array, depth: int = 2) -> Network:
    """The constant v, shape (*B), as a network of cost `least_constant_cost(v)`.

    The last hidden unit is the constant h with h² = max(|v| − 1, 0); the outer weights (W_L, b_L)
    are v (h, 1) / (1 + h²). All layers before are zero. Raises ValueError if depth < 2.
    """
    if depth < 2:
        raise ValueError(f"received depth {depth}; the network has depth 2 or more")
    square = torch.relu(v.abs() - 1)
    hidden = power(square, Fraction(1, 2))
    outer = v / (1 + square)
    zero = (0 * v)[..., None, None]
    return Network(
        (*[zero] * (depth - 1), (outer * hidden)[..., None, None]),
        (*[zero[..., 0]] * (depth - 2), hidden.unsqueeze(-1), outer.unsqueeze(-1)),
    )


def last_bias_as_unit(net: Network) -> Network:
    """The same function without a last bias: a hidden unit that is 1 carries b_L. It costs 1 more.

    The unit has no incoming weights, bias 1 and outgoing weights b_L. Raises ValueError if the
    depth is 1.
    """
    if net.depth < 2:
        raise ValueError("received a network of depth 1; the unit takes a hidden layer")
    *weights, before, last = net.weights
    *biases, inner, outer = net.biases
    row, one = torch.zeros_like(before[..., :1, :]), torch.ones_like(inner[..., :1])
    return net.with_parameters(
        (*weights, torch.cat((before, row), -2), torch.cat((last, outer.unsqueeze(-1)), -1)),
        (*biases, torch.cat((inner, one), -1), torch.zeros_like(outer)),
    )
