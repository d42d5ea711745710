"""Depth separation: polynomials on the sphere, separable functions, and the widths of both depths.

What lives here: the parts of the lower bound of `separation`. Its networks are in `witnesses`.
May import: `linalg`, `scalars`, `errors`, `balls`.
"""

from __future__ import annotations

from rankcheck.separation.legendre import (
    density,
    even_moment,
    legendre,
    legendre_table,
    monomials,
    multiplicity,
    orthonormal_table,
    quadrature,
    stereographic,
)
from rankcheck.separation.oscillation import (
    density_lower_bound,
    distance_lower_bound,
    example_tail,
    sign_change_lower_bound,
    sine_coefficients,
    sine_energy,
    sine_tail,
)
from rankcheck.separation.separable import (
    best_fit,
    correlations,
    distance_squared,
    main_lower_bound,
    neuron_coefficients,
    neuron_norm_bound,
    neuron_second_moment,
    neuron_supremum,
    separable_gram,
    separable_norms,
    tail_norm,
)
from rankcheck.separation.spherical import laplace_integral, sphere_rule
from rankcheck.separation.widths import (
    allowed_norms,
    allowed_norms_as_printed,
    depth_three_width,
    depth_two_width,
    guaranteed_error,
    slides_error,
    slides_error_like,
)
from rankcheck.separation.zonal import (
    cross_by_moments,
    cross_by_quadrature,
    cross_inner_product,
    zonal_by_moments,
    zonal_by_quadrature,
    zonal_inner_product,
)

__all__ = [
    "allowed_norms",
    "allowed_norms_as_printed",
    "best_fit",
    "correlations",
    "cross_by_moments",
    "cross_by_quadrature",
    "cross_inner_product",
    "density",
    "density_lower_bound",
    "depth_three_width",
    "depth_two_width",
    "distance_lower_bound",
    "distance_squared",
    "even_moment",
    "example_tail",
    "guaranteed_error",
    "laplace_integral",
    "legendre",
    "legendre_table",
    "main_lower_bound",
    "monomials",
    "multiplicity",
    "neuron_coefficients",
    "neuron_norm_bound",
    "neuron_second_moment",
    "neuron_supremum",
    "orthonormal_table",
    "quadrature",
    "separable_gram",
    "separable_norms",
    "sign_change_lower_bound",
    "sine_coefficients",
    "sine_energy",
    "sine_tail",
    "slides_error",
    "slides_error_like",
    "sphere_rule",
    "stereographic",
    "tail_norm",
    "zonal_by_moments",
    "zonal_by_quadrature",
    "zonal_inner_product",
]
