r"""The cost of the part of a network's values that its Jacobian does not span.

Let T span a space of directions at x, and let $u_\ell$ be the squared distance of $\alpha_\ell(x)$
from $\operatorname{Im} J\alpha_\ell(x) T$, with $\alpha_L = f$. Then, for every slope in [−1, 1],

$$\|\theta\|^2 \ge L \|Jf(x) T\|_{S^{2/L}}^{2/L}
    + \sum_{\ell=1}^L \frac{u_\ell}{1 + u_{\ell-1}}.$$

*Proof.* Let P be the projection onto $\operatorname{Im} J\alpha_{\ell-1}(x) T$ and
$o = (1 - P) \alpha_{\ell-1}(x)$. Modulo $\operatorname{Im} J\tilde\alpha_\ell(x) T$ the
pre-activation is $W_\ell o + b_\ell$, so its squared distance from there is at most
$(\|W_\ell (1 - P)\|_F^2 + \|b_\ell\|^2)(u_{\ell-1} + 1)$. D_ℓ(x) maps $\tilde\alpha_\ell(x)$ to
$\alpha_\ell(x)$, as the activation is homogeneous, and the one space to the other, and it does not
increase distances. The rest of the cost, $\sum \|W_\ell P\|_F^2$, bounds the Schatten power, as
the product of the matrices $D_\ell W_\ell P$ is $Jf(x) T$.

The sum is the cost of a chain of numbers, $c_\ell = w c_{\ell-1} + b$ with $c_\ell^2 = u_\ell$:
a path that starts and ends away from the origin and may come near it in between.

Source: this project; it covers the offset case, which the proof of Proposition 12 of A. Jacot,
*Bottleneck structure in learned features*, omits.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rankcheck.linalg import Array, range_projection
from rankcheck.networks.network import Network

__all__ = ["offset_cost", "offset_squares"]


def offset_squares(net: Network, x: Array, tangent: Array) -> tuple[Array, ...]:
    """u_0, ..., u_L at the point x (*B, n_0) along the columns of ``tangent`` (*B, n_0, k).

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
