"""Quantities of data sets: paths, growing point clouds, kernel ridge regression.

What lives here: quantities of points, not of networks.
May import: `linalg`, `scalars`, `errors`, `balls`.
"""

from __future__ import annotations

from rankcheck.theory.data.crossings import crossing_angles
from rankcheck.theory.data.growth import (
    Exponent,
    fitted_exponent,
    nearest_neighbours,
    serpentine,
    serpentine_path,
)
from rankcheck.theory.data.kernel_ridge import (
    GAUSSIAN,
    INVERSE_MULTIQUADRIC,
    RATIONAL,
    KernelRidge,
    RadialKernel,
)
from rankcheck.theory.data.moments import covariance, total_variance
from rankcheck.theory.data.path_tail import likely_length, log_path_tail
from rankcheck.theory.data.tours import MOST_POINTS, distances, path_lower_bound, shortest_path

__all__ = [
    "GAUSSIAN",
    "INVERSE_MULTIQUADRIC",
    "MOST_POINTS",
    "RATIONAL",
    "Exponent",
    "KernelRidge",
    "RadialKernel",
    "covariance",
    "crossing_angles",
    "distances",
    "fitted_exponent",
    "likely_length",
    "log_path_tail",
    "nearest_neighbours",
    "path_lower_bound",
    "serpentine",
    "serpentine_path",
    "shortest_path",
    "total_variance",
]
