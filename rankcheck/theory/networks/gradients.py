r"""Gradients in the parameters, from products of masked weights.

With G_ℓ(x) the Jacobian of α̃_ℓ → f at x, the sum $F = \sum_i \langle u_i, f(x_i) \rangle$ has

$$\frac{\partial F}{\partial W_\ell} = \sum_i G_\ell(x_i)^T u_i\, \alpha_{\ell-1}(x_i)^T,
  \qquad \frac{\partial F}{\partial b_\ell} = \sum_i G_\ell(x_i)^T u_i$$

where no hidden pre-activation vanishes. So has the cost $\frac1N \sum_i \|f(x_i) - y_i\|^2$, with
$u_i = \frac2N (f(x_i) - y_i)$. Runs on floats and on balls.
"""

from __future__ import annotations

from rankcheck.theory.linalg import Array
from rankcheck.theory.networks.evaluation import AtPoints
from rankcheck.theory.networks.network import Network


def backpropagated_errors(net: Network, x: Array, u: Array) -> tuple[Array, ...]:
    """The derivatives of F = Σ ⟨u_i, f(x_i)⟩ in α̃_1(x_i), ..., α̃_L(x_i): G_ℓ(x_i)ᵀ u_i.

    For x (*B, N, n_0) and u (*B, N, n_L) the shapes are (*B, N, n_ℓ); the last is u.

    Raises ValueError if u does not have the shape of the values at x.
    """
    return _errors(net.at(x), u, "directions")


def value_gradient(net: Network, x: Array, u: Array) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """∂F/∂W_1..∂W_L and ∂F/∂b_1..∂b_L of F = Σ ⟨u_i, f(x_i)⟩, for x (*B, N, n_0), u (*B, N, n_L).

    Raises ValueError if u does not have the shape of the values at x.
    """
    return _gradient(net.at(x), u, "directions")


def squared_error_gradient(
    net: Network, x: Array, y: Array
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """∂C/∂W_1..∂W_L and ∂C/∂b_1..∂b_L for points x (*B, N, n_0) and targets y (*B, N, n_L).

    Raises ValueError if y does not have the shape of the values at x.
    """
    at = net.at(x)
    _check_shape("targets", y, at.value)
    return _gradient(at, 2 * (at.value - y) / y.shape[-2], "errors")


def _gradient(at: AtPoints, u: Array, name: str) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    back = _errors(at, u, name)
    weights = [d.mT @ a for d, a in zip(back, at.activations, strict=True)]
    return tuple(weights), tuple(d.sum(-2) for d in back)


def _errors(at: AtPoints, u: Array, name: str) -> tuple[Array, ...]:
    _check_shape(name, u, at.value)
    rows = u.unsqueeze(-1)
    return tuple((G.mT @ rows).squeeze(-1) for G in at.outer_jacobians)


def _check_shape(name: str, received: Array, value: Array) -> None:
    if received.shape != value.shape or received.ndim < 2:
        raise ValueError(
            f"received {name} of shape {tuple(received.shape)} for values of shape "
            f"{tuple(value.shape)}; they are equal, (*B, N, n_L)"
        )
