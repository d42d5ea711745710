r"""Singular values, spectra, and functions of them: ranks, Schatten sums, functions of matrices.

Every function takes matrices with any leading batch axes, shape ``(*B, m, n)``, as torch float64
tensors or as :class:`rankcheck.balls.BallArray`. On balls all results are exact or enclosed, and
ranks are proved. In floats a singular value counts as zero when it is at most

.. math:: \tau(A) = 8 \max(m, n)\, \varepsilon\, s_1(A) + \text{noise},

with ε the spacing of floats at 1. ``noise`` bounds the error in the entries of A, in operator norm
(by Weyl's inequality no singular value moves by more): pass
:meth:`rankcheck.networks.Network.jacobian_noise` for a Jacobian, and nothing for a matrix whose
entries are exact. Balls ignore it. :func:`rank_gap` says how clear the decision was.

Gradients are finite everywhere. They are the derivatives wherever the function has one, also at
repeated singular values; a singular value that counts as zero contributes nothing. So are those of
functions of symmetric matrices at repeated eigenvalues, where ``torch.linalg.eigh`` has nan.

>>> import torch
>>> from rankcheck import balls
>>> A = torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=torch.float64)
>>> rank(A), singular_values(balls.BallArray.exact(A))  # the second is exact
(tensor(1), BallArray([5, 0]))

What lives here: `arrays` (kinds of numbers, polynomials in the entries), `singular` (singular
values and ranks), `spectral` (functions of symmetric matrices, the spectral radius).
May import: `balls` and what is below.
"""

from rankcheck.theory.linalg.arrays import (
    Array,
    Number,
    block_diagonal,
    eye,
    frobenius_squared,
    matrix,
    permanent,
    power,
)
from rankcheck.theory.linalg.singular import (
    RANK_FACTOR,
    log_pseudo_determinant,
    nuclear_norm,
    operator_norm,
    pseudo_determinant,
    pseudo_inverse,
    range_projection,
    rank,
    rank_gap,
    rank_threshold,
    schatten_norm,
    schatten_power,
    singular_values,
)
from rankcheck.theory.linalg.spectral import (
    spectral_function,
    spectral_projection,
    spectral_radius,
    symmetric_abs,
    symmetric_log,
    symmetric_power,
    symmetric_sqrt,
)

__all__ = [
    "RANK_FACTOR",
    "Array",
    "Number",
    "block_diagonal",
    "eye",
    "frobenius_squared",
    "log_pseudo_determinant",
    "matrix",
    "nuclear_norm",
    "operator_norm",
    "permanent",
    "power",
    "pseudo_determinant",
    "pseudo_inverse",
    "range_projection",
    "rank",
    "rank_gap",
    "rank_threshold",
    "schatten_norm",
    "schatten_power",
    "singular_values",
    "spectral_function",
    "spectral_projection",
    "spectral_radius",
    "symmetric_abs",
    "symmetric_log",
    "symmetric_power",
    "symmetric_sqrt",
]
