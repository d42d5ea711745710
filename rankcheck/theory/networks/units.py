"""The hidden units of a network with one hidden layer, f(x) = Σ_k v_k σ(w_k·x + b_k) + c."""

from __future__ import annotations

from fractions import Fraction

from rankcheck.theory.linalg import Array, power
from rankcheck.theory.networks.network import Network


def require_one_hidden_layer(net: Network) -> None:
    """Raises ValueError unless the depth is two."""
    if net.depth != 2:
        raise ValueError(
            f"received a network of depth {net.depth}; units are those of a network of depth 2"
        )


def unit_costs(net: Network) -> Array:
    """‖v_k‖‖w_k‖ for each hidden unit of a network of depth two, without its bias; shape (*B, K).

    Their sum is the least ½ Σ ‖v_k‖² + ‖w_k‖² among rescalings of the units, which keep f. With one
    output it is :func:`rankcheck.costs.path_norm_of_units`.

    >>> net = Network.of([[[3, 4], [0, 1]], [[1, 0], [0, -2]]])
    >>> unit_costs(net)
    tensor([5., 2.], dtype=torch.float64)

    Raises:
        ValueError: unless the depth is two.
    """
    require_one_hidden_layer(net)
    W, V = net.weights
    return power((W * W).sum(-1) * (V * V).sum(-2), Fraction(1, 2))
