r"""Two-layer functions h(x) = aᵀ[Wx + b]_+ + c: the path norm, the rank, the total variation.

W (*B, K, D), a and b (*B, K). The path norm Σ |a_k| ‖w_k‖ is Φ_2(W, a), the cost at depth two.
Everything runs on floats, with gradients, and on balls.

Source: Ongie & Willett, arXiv 2305.15598; slides A and B of `linear`.
"""

from __future__ import annotations

from fractions import Fraction

import torch
from torch import Tensor

from rankcheck.theory.costs.one_dimensional import slope_jumps
from rankcheck.theory.costs.path_norms import vector_norm
from rankcheck.theory.linalg import Array, power, rank
from rankcheck.theory.networks.network import Network


def two_layer_network(W: Array, b: Array, a: Array, c: Array | None = None) -> Network:
    """h(x) = aᵀ[Wx + b]_+ + c for W (*B, K, D), a and b (*B, K), c (*B) or 0."""
    c = (0 * a[..., 0]) if c is None else c
    return Network((W, a.unsqueeze(-2)), (b, c.unsqueeze(-1)))


def _unit_sizes(W: Array, a: Array) -> Array:
    """|a_k| ‖w_k‖, shape (*B, K)."""
    return a.abs() * vector_norm(W, 2)


def path_norm_of_units(W: Array, a: Array) -> Array:
    """Σ_k |a_k| ‖w_k‖ = Φ_2(W, a), shape (*B): `path_norm` with inputs=2 and without biases.

    >>> path_norm_of_units(torch.tensor([[3.0, 4.0], [0.0, 1.0]]), torch.tensor([1.0, -2.0]))
    tensor(7.)
    """
    return _unit_sizes(W, a).sum(-1)


def path_norm_lambda(W: Array, a: Array) -> Array:
    """The λ on the unit sphere with λ_k² ∝ |a_k| ‖w_k‖, shape (*B, K); 0 if the path norm is 0.

    It minimises the objective of Φ_2, and at every L that objective is at most
    :func:`rankcheck.costs.phi_upper` there.
    """
    sizes = _unit_sizes(W, a)
    total = sizes.sum(-1, keepdim=True)
    return power(
        sizes / torch.where(total == 0, total.new_ones(total.shape), total), Fraction(1, 2)
    )


def unit_rank(W: Array, a: Array) -> Tensor:
    """rank D_a W, an integer tensor (*B), decided on rows whose largest entry is scaled to 1.

    Scaling the rows does not change the rank, but in floats a short row beside a long one would
    count as rounding.
    """
    largest = W.abs().amax(-1)
    silent = (a == 0) | (largest == 0)
    scale = torch.where(silent, largest.new_ones(largest.shape), largest)
    rows = W / scale.unsqueeze(-1)
    return rank(torch.where(silent.unsqueeze(-1), rows.new_zeros(rows.shape), rows))


def total_variation_of_derivative(W: Array, b: Array, a: Array) -> Array:
    """∫|f''| of f(x) = Σ a_k [w_k x + b_k]_+ over the line, from the slopes beside each breakpoint.

    W (*B, K, 1), b and a (*B, K); shape (*B). It is the sum of the sizes of
    :func:`rankcheck.costs.slope_jumps`. With distinct breakpoints it equals
    :func:`path_norm_of_units`; at coinciding ones jumps can cancel.

    Raises ValueError unless D = 1.
    """
    return slope_jumps(W, b, a)[1].sum(-1)
