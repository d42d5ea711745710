r"""The cost of the part of a network's values that its Jacobian does not span.

Let the columns of T be orthonormal directions at x, and let $u_\ell$ be the squared distance of
$\alpha_\ell(x)$ from $\operatorname{Im} J\alpha_\ell(x) T$, with $\alpha_L = f$. Then, for every
slope in [−1, 1],

$$\|\theta\|^2 \ge L \|Jf(x) T\|_{S^{2/L}}^{2/L}
    + \sum_{\ell=1}^L \frac{u_\ell}{1 + u_{\ell-1}}.$$

The sum is the cost of a chain of numbers, $c_\ell = w c_{\ell-1} + b$ with $c_\ell^2 = u_\ell$:
a path that starts and ends away from the origin and may come near it in between. Such a chain costs
at least ρ(u_L) − ρ(u_0), and at least ρ(u_0) if it returns to u_L = u_0 <= 4 after four steps or
more; ρ(u) = R(min(√u, 2)) is the price of a constant.

How far the offset can get for a given sum of steps is :func:`offset_growth`.

Proofs: docs/proofs/identity-offset.md, and docs/proofs/features-become-nonnegative.md for the last.
Source: this project; it covers the offset case, which the proof of Proposition 12 of A. Jacot,
*Bottleneck structure in learned features*, omits.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import torch

from rankcheck.theory.linalg import Array, power, range_projection
from rankcheck.theory.networks.network import Network
from rankcheck.theory.witnesses.constants import least_constant_cost


def offset_squares(net: Network, x: Array, tangent: Array) -> tuple[Array, ...]:
    """u_0, ..., u_L at the point x (*B, n_0) along the columns of ``tangent`` (*B, n_0, k).

    A pre-activation of zero counts as active, so x may lie on a kink that runs along the tangent.
    Each has shape (*B) and is rational for rational instances.
    """
    at = net.at(x)
    jacobians = (*at.inner_jacobians, at.jacobian)
    values = (*at.activations, at.value)
    squares = []
    for J, value in zip(jacobians, values, strict=True):
        column = value.unsqueeze(-1)
        rest = column - range_projection(J @ tangent) @ column
        squares.append((rest * rest).sum((-2, -1)))
    return tuple(squares)


def offset_cost(squares: Sequence[Array]) -> Array:
    """Σ u_ℓ/(1 + u_{ℓ−1}) for u_0, ..., u_L, of the shape of each u.

    Raises ValueError unless L >= 1.
    """
    if len(squares) < 2:
        raise ValueError(f"received {len(squares)} numbers; a chain is u_0, ..., u_L with L >= 1")
    first, *rest = (here / (1 + before) for before, here in pairwise(squares))
    return sum(rest, start=first)


def offset_growth(steps: Array, layers: int) -> Array:
    r"""A bound of u_L/(1 + u_0) where u_ℓ <= e_ℓ (1 + u_{ℓ−1}) and Σ e_ℓ = e, of the shape of e.

    It is attained for e <= 1, and for L <= 2.

    .. math:: h_L(e) = e \text{ for } e \le 1, \qquad
        h_L(e) = \Bigl(1 + \frac{e - 1}L\Bigr)^L \le \mathrm e^{e - 1} \text{ for } e \ge 1.

    >>> offset_growth(torch.tensor([0.5, 1.0, 3.0]), 2)
    tensor([0.5000, 1.0000, 4.0000])
    """
    one = steps.new_ones(())
    return torch.minimum(steps, one) * power(torch.relu(steps - 1) / layers + 1, layers)


def offset_price(square: Array, most: float = 4) -> Array:
    """ρ(u) = R(min(√u, 2)), of the shape of u >= 0: u up to 1, 2√u − 1 up to 4, and then 3.

    ``most`` is where it becomes constant, 4 for ρ.

    >>> offset_price(torch.tensor([0.25, 4.0, 9.0]))
    tensor([0.2500, 3.0000, 3.0000])
    """
    return least_constant_cost(
        power(torch.minimum(square, square.new_ones(()) * most), Fraction(1, 2))
    )
