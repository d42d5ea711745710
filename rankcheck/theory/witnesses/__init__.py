"""The constructions behind the theorems.

What lives here: networks, frames or functions that prove a claim by existing, one in each file.
May import: `networks`, `separation`, `data`, and what is below them.
"""

from __future__ import annotations

from rankcheck.theory.witnesses.affine_layers import affine_excess, affine_layers
from rankcheck.theory.witnesses.balanced_cone import balanced_cone_network
from rankcheck.theory.witnesses.bijections import conjugate, inverse
from rankcheck.theory.witnesses.caratheodory import (
    cheaper_combination,
    fewer_units,
    fewer_units_in_span,
    null_vector,
)
from rankcheck.theory.witnesses.circle import (
    antipodal_bracket,
    antipodal_difference,
    point,
    tangent,
)
from rankcheck.theory.witnesses.cone import cone_network, interpolated_shares, stack_kernels
from rankcheck.theory.witnesses.constants import (
    constant_network,
    last_bias_as_unit,
    least_constant_cost,
)
from rankcheck.theory.witnesses.convolutional import (
    cheapest_kernels,
    circulant,
    composed_kernel,
    composition_noise,
    convolutional_layers,
    fourier_sizes,
)
from rankcheck.theory.witnesses.cross_example import (
    EqualValues,
    cross,
    cross_as_printed,
    cross_network,
    equal_values,
)
from rankcheck.theory.witnesses.deepen import deepen
from rankcheck.theory.witnesses.denoising import Autoencoder, autoencoder
from rankcheck.theory.witnesses.factorisations import Factorisation, add, affine, compose
from rankcheck.theory.witnesses.finite import all_permutations, all_signs, permuted_units
from rankcheck.theory.witnesses.homogeneous_activation import HomogeneousForm, homogeneous_form
from rankcheck.theory.witnesses.identity_layers import identity_layers, translate
from rankcheck.theory.witnesses.inner_product import (
    DepthThree,
    depth_three,
    depth_three_cells,
    inner_product_cells,
    inner_product_network,
    largest_parameter,
    pair_with_sum,
)
from rankcheck.theory.witnesses.kink_network import kink_network
from rankcheck.theory.witnesses.leaky_representation import leaky_representation, with_slope
from rankcheck.theory.witnesses.lipschitz import (
    LipschitzApproximator,
    cells_needed,
    interpolate,
    interpolate_cells,
    supremum_error,
)
from rankcheck.theory.witnesses.loops import CLOSED, Loop, activate, close, distinct_rays
from rankcheck.theory.witnesses.max_layers import least_hidden_layers, maximum_of
from rankcheck.theory.witnesses.max_of_seven import MAX_OF_SEVEN, MaxSum
from rankcheck.theory.witnesses.maxima import MaxIdentity, MaxTerm
from rankcheck.theory.witnesses.maxima_by_pairs import maximum_by_pairs, means_without_kinks
from rankcheck.theory.witnesses.maxima_on_orders import (
    OrderForm,
    form_on_order,
    is_linear_on_orders,
    is_maximum,
    mean_form,
    values_on_sets,
)
from rankcheck.theory.witnesses.multiples import multiple
from rankcheck.theory.witnesses.padding import pad
from rankcheck.theory.witnesses.piecewise_linear import (
    MaxForm,
    Maximum,
    binary_tree,
    least_depth,
    max_network,
)
from rankcheck.theory.witnesses.planar_identity import (
    cheapest_heights,
    offset_identity,
    planar_identity,
    plane_beside_constant,
)
from rankcheck.theory.witnesses.progress_code import progress_code
from rankcheck.theory.witnesses.projections import (
    Bottleneck,
    bottleneck,
    chain_turns,
    chained_distances,
    chained_frames,
    isometry_distance,
    log_determinant_of_rank,
    mask_losses,
    middle_frames,
    offsets,
    one_sided_distances,
    one_sided_frames,
    surviving_jacobians,
    two_sided_distances,
    two_sided_log_determinant,
)
from rankcheck.theory.witnesses.rank_one_interpolant import (
    RankOneInterpolant,
    rank_one_interpolant,
    separating_direction,
)
from rankcheck.theory.witnesses.sawtooth_code import outer_layers, sawtooth_code
from rankcheck.theory.witnesses.scaled_seam import scaled_seam, seam_cost_bound, seam_cost_estimate
from rankcheck.theory.witnesses.shear import shear, shear_network
from rankcheck.theory.witnesses.switching_loops import switching_loop
from rankcheck.theory.witnesses.tent import tent_network
from rankcheck.theory.witnesses.two_dimensional_layers import (
    points_on_a_line,
    two_dimensional_layers,
)

__all__ = [
    "CLOSED",
    "MAX_OF_SEVEN",
    "Autoencoder",
    "Bottleneck",
    "DepthThree",
    "EqualValues",
    "Factorisation",
    "HomogeneousForm",
    "LipschitzApproximator",
    "Loop",
    "MaxForm",
    "MaxIdentity",
    "MaxSum",
    "MaxTerm",
    "Maximum",
    "OrderForm",
    "RankOneInterpolant",
    "activate",
    "add",
    "affine",
    "affine_excess",
    "affine_layers",
    "all_permutations",
    "all_signs",
    "antipodal_bracket",
    "antipodal_difference",
    "autoencoder",
    "balanced_cone_network",
    "binary_tree",
    "bottleneck",
    "cells_needed",
    "chain_turns",
    "chained_distances",
    "chained_frames",
    "cheaper_combination",
    "cheapest_heights",
    "cheapest_kernels",
    "circulant",
    "close",
    "compose",
    "composed_kernel",
    "composition_noise",
    "cone_network",
    "conjugate",
    "constant_network",
    "convolutional_layers",
    "cross",
    "cross_as_printed",
    "cross_network",
    "deepen",
    "depth_three",
    "depth_three_cells",
    "distinct_rays",
    "equal_values",
    "fewer_units",
    "fewer_units_in_span",
    "form_on_order",
    "fourier_sizes",
    "homogeneous_form",
    "identity_layers",
    "inner_product_cells",
    "inner_product_network",
    "interpolate",
    "interpolate_cells",
    "interpolated_shares",
    "inverse",
    "is_linear_on_orders",
    "is_maximum",
    "isometry_distance",
    "kink_network",
    "largest_parameter",
    "last_bias_as_unit",
    "leaky_representation",
    "least_constant_cost",
    "least_depth",
    "least_hidden_layers",
    "log_determinant_of_rank",
    "mask_losses",
    "max_network",
    "maximum_by_pairs",
    "maximum_of",
    "mean_form",
    "means_without_kinks",
    "middle_frames",
    "multiple",
    "null_vector",
    "offset_identity",
    "offsets",
    "one_sided_distances",
    "one_sided_frames",
    "outer_layers",
    "pad",
    "pair_with_sum",
    "permuted_units",
    "planar_identity",
    "plane_beside_constant",
    "point",
    "points_on_a_line",
    "progress_code",
    "rank_one_interpolant",
    "sawtooth_code",
    "scaled_seam",
    "seam_cost_bound",
    "seam_cost_estimate",
    "separating_direction",
    "shear",
    "shear_network",
    "stack_kernels",
    "supremum_error",
    "surviving_jacobians",
    "switching_loop",
    "tangent",
    "tent_network",
    "translate",
    "two_dimensional_layers",
    "two_sided_distances",
    "two_sided_log_determinant",
    "values_on_sets",
    "with_slope",
]
