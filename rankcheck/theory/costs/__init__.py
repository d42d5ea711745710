"""Representation costs at depth two, at every depth and in the limit, and ranks of functions.

What lives here: a cost, norm or rank of a function: closed forms, bounds, and the solver of Φ_L.
May import: `networks`, `regions`, `witnesses`, and what is below them.
"""

from __future__ import annotations

from rankcheck.theory.costs.convolutional import convolutional_cost
from rankcheck.theory.costs.corrections import (
    cost_expansion,
    distortion,
    excess,
    expansion_remainder,
    linear_cost,
    log_gram_squared,
    secant_cost,
    second_order,
)
from rankcheck.theory.costs.depth import (
    balanced_factors,
    best_scale,
    least_linear_layers_cost,
    linear_layers_cost,
    phi_lower,
    phi_upper,
    winning_depth,
    winning_threshold,
    winning_threshold_by_gradients,
)
from rankcheck.theory.costs.gaussian import egop_gaussian
from rankcheck.theory.costs.identity import cost_of_identity
from rankcheck.theory.costs.index_rank import (
    effective_index_rank,
    effective_rank_bound,
    effective_rank_threshold,
    effective_rank_threshold_as_printed,
    egop,
    egop_root,
    gradient_volume_bound,
    index_rank,
    principal_directions,
)
from rankcheck.theory.costs.offsets import offset_cost, offset_growth, offset_price, offset_squares
from rankcheck.theory.costs.one_dimensional import slope_jumps, variation_with_biases
from rankcheck.theory.costs.path_norms import path_norm
from rankcheck.theory.costs.phi import PhiBracket, phi, phi_at, scaled_schatten_power
from rankcheck.theory.costs.planes import angle_cost, best_last_layer, pull_back
from rankcheck.theory.costs.rank_one_matching import (
    descent_jacobian,
    descent_losses,
    descent_path,
    matching_gradient,
    matching_loss,
    split_along,
    split_losses,
)
from rankcheck.theory.costs.rays import room_of_three_rays, room_of_two_rays
from rankcheck.theory.costs.two_layer import (
    path_norm_lambda,
    path_norm_of_units,
    total_variation_of_derivative,
    two_layer_network,
    unit_rank,
)

__all__ = [
    "PhiBracket",
    "angle_cost",
    "balanced_factors",
    "best_last_layer",
    "best_scale",
    "convolutional_cost",
    "cost_expansion",
    "cost_of_identity",
    "descent_jacobian",
    "descent_losses",
    "descent_path",
    "distortion",
    "effective_index_rank",
    "effective_rank_bound",
    "effective_rank_threshold",
    "effective_rank_threshold_as_printed",
    "egop",
    "egop_gaussian",
    "egop_root",
    "excess",
    "expansion_remainder",
    "gradient_volume_bound",
    "index_rank",
    "least_linear_layers_cost",
    "linear_cost",
    "linear_layers_cost",
    "log_gram_squared",
    "matching_gradient",
    "matching_loss",
    "offset_cost",
    "offset_growth",
    "offset_price",
    "offset_squares",
    "path_norm",
    "path_norm_lambda",
    "path_norm_of_units",
    "phi",
    "phi_at",
    "phi_lower",
    "phi_upper",
    "principal_directions",
    "pull_back",
    "room_of_three_rays",
    "room_of_two_rays",
    "scaled_schatten_power",
    "secant_cost",
    "second_order",
    "slope_jumps",
    "split_along",
    "split_losses",
    "total_variation_of_derivative",
    "two_layer_network",
    "unit_rank",
    "variation_with_biases",
    "winning_depth",
    "winning_threshold",
    "winning_threshold_by_gradients",
]
