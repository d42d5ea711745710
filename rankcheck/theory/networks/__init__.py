"""ReLU-like networks: evaluation, Jacobians, balance, bounds, the tangent kernel.

What lives here: a quantity of one network, or of a network at points. One subject a file.
May import: `linalg`, `scalars`, `text`, `errors`, `balls`.
"""

from __future__ import annotations

from rankcheck.theory.networks.balancing import (
    balance_layers,
    balance_neurons,
    layer_imbalances,
    layer_rescaling,
    neuron_imbalances,
)
from rankcheck.theory.networks.bounds import interval_bounds
from rankcheck.theory.networks.descent import sgd_step
from rankcheck.theory.networks.evaluation import AtPoints, leaky, leaky_derivative
from rankcheck.theory.networks.gradients import (
    backpropagated_errors,
    squared_error_gradient,
    value_gradient,
)
from rankcheck.theory.networks.lipschitz import lipschitz_square_above, lipschitz_square_at
from rankcheck.theory.networks.loss_hessian import HESSIAN_STEP, loss_hessian
from rankcheck.theory.networks.network import Network, PartialJacobians
from rankcheck.theory.networks.piecewise_linear import PiecewiseLinear, zigzag
from rankcheck.theory.networks.tangent_kernel import gram, ntk, ntk_mixed_derivative, ntk_trace
from rankcheck.theory.networks.units import unit_costs

__all__ = [
    "HESSIAN_STEP",
    "AtPoints",
    "Network",
    "PartialJacobians",
    "PiecewiseLinear",
    "backpropagated_errors",
    "balance_layers",
    "balance_neurons",
    "gram",
    "interval_bounds",
    "layer_imbalances",
    "layer_rescaling",
    "leaky",
    "leaky_derivative",
    "lipschitz_square_above",
    "lipschitz_square_at",
    "loss_hessian",
    "neuron_imbalances",
    "ntk",
    "ntk_mixed_derivative",
    "ntk_trace",
    "sgd_step",
    "squared_error_gradient",
    "unit_costs",
    "value_gradient",
    "zigzag",
]
