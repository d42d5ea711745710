r"""The gradient of a mean squared error in the parameters, from products of masked weights.

With G_ℓ(x) the Jacobian of α̃_ℓ → f at x and $r_i = f(x_i) - y_i$, the cost
$C = \frac1N \sum_i \|r_i\|^2$ has

$$\frac{\partial C}{\partial W_\ell} = \frac2N \sum_i G_\ell(x_i)^T r_i\, \alpha_{\ell-1}(x_i)^T,
  \qquad \frac{\partial C}{\partial b_\ell} = \frac2N \sum_i G_\ell(x_i)^T r_i$$

where no hidden pre-activation vanishes. Runs on floats and on balls.
"""

from __future__ import annotations

from rankcheck.linalg import Array
from rankcheck.networks.network import Network

__all__ = ["squared_error_gradient"]


def squared_error_gradient(
    net: Network, x: Array, y: Array
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """∂C/∂W_1..∂W_L and ∂C/∂b_1..∂b_L for points x (*B, N, n_0) and targets y (*B, N, n_L).

    Raises ValueError if y does not have the shape of the values at x.
    """
    at = net.at(x)
    value = at.value
    if y.shape != value.shape or y.ndim < 2:
        raise ValueError(
            f"received targets of shape {tuple(y.shape)} for values of shape {tuple(value.shape)}; "
            "they are equal, (*B, N, n_L)"
        )
    errors = (2 * (value - y) / y.shape[-2]).unsqueeze(-1)
    back = [(G.mT @ errors).squeeze(-1) for G in at.outer_jacobians]
    weights = [d.mT @ a for d, a in zip(back, at.activations, strict=True)]
    return tuple(weights), tuple(d.sum(-2) for d in back)
