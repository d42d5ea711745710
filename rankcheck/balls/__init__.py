"""Exact rationals and real balls behind torch's functions: they turn a claim body into a proof.

What lives here: the array type (`array`, `lazy`, `conversion`), what floats of a body stand for
(`constants`), tensors that cannot hold their numbers (`widths`), which calls torch knows (`forms`),
numbers that other rooms bring (`formal`), what is mapped over instances (`mapping`, `batches`),
functions of numbers (`numbers`, `orders`, `complexes`),
of polynomials (`roots`) and of one matrix (`matrices`, `spectra`, `eigenvalues`), and the
implementations of torch's
functions, grouped as torch's documentation groups them (`compositions`, `convolutions`, `creation`,
`decompositions`, `elementwise`, `fourier`, `indexing`, `linalg`, `reductions`, `shapes`; those that
only move numbers leave that to torch, `labels`). docs/balls.md lists them.
May import: `text`, and nothing else of this package.

>>> import torch
>>> A = BallArray.exact([[1, 2], [2, 4]])
>>> torch.linalg.svdvals(A)
BallArray([5, 0])
"""

from rankcheck.balls import (  # noqa: F401 - importing registers them
    compositions,
    convolutions,
    creation,
    fourier,
    indexing,
)
from rankcheck.balls.array import BallArray, balls, is_ball
from rankcheck.balls.batches import as_batch
from rankcheck.balls.choices import OTHERS as OTHER_CONVENTIONS
from rankcheck.balls.choices import Conventions, conventions
from rankcheck.balls.constants import Computed, computed_constants
from rankcheck.balls.decompositions import spectral_function, spectral_projection, spectral_radius
from rankcheck.balls.elementwise import difference_bounds, pi, provably_leq, provably_less
from rankcheck.balls.formal import NoBallForm
from rankcheck.balls.linalg import log_pseudo_determinant, rank, singular_values
from rankcheck.balls.mapping import Mapping, mapped, mapping
from rankcheck.balls.missing import without_transforms
from rankcheck.balls.numbers import Undecided, exact, precision
from rankcheck.balls.widths import noted_wraps, risks, watching, widths, wraps

__all__ = [
    "OTHER_CONVENTIONS",
    "BallArray",
    "Computed",
    "Conventions",
    "Mapping",
    "NoBallForm",
    "Undecided",
    "as_batch",
    "balls",
    "computed_constants",
    "conventions",
    "difference_bounds",
    "exact",
    "is_ball",
    "log_pseudo_determinant",
    "mapped",
    "mapping",
    "noted_wraps",
    "pi",
    "precision",
    "provably_leq",
    "provably_less",
    "rank",
    "risks",
    "singular_values",
    "spectral_function",
    "spectral_projection",
    "spectral_radius",
    "watching",
    "widths",
    "without_transforms",
    "wraps",
]
