r"""The rounding of a Jacobian, bounded by norms of the layers.

:attr:`AtPoints.jacobian_noise` bounds it by the same product of absolute values. For dense matrices
of width n that product grows by a factor of order √n a layer where the Jacobian does not grow: for
ReLU networks of depth 16 and width 512 with He-normal weights it is 10^5 times the Jacobian. With
G_ℓ the Jacobian of α̃_ℓ → f as it is computed, layer after layer from the last one, the product
G_ℓ W_ℓ errs by at most $(n_\ell + 1)\,\varepsilon\,\|G_\ell\|_F \||W_\ell|\|_{op}$, and the layers
before it enlarge this error by no more than their norms:

.. math::
    \|E\|_F \le \varepsilon \sum_{\ell < L} (n_\ell + 1) \|G_\ell\|_F \, \||W_\ell|\|_{op}
    \prod_{m < \ell} \max(1, |a|) \|W_m\|_{op},

to first order in ε, which is twice the unit of rounding. For the networks above this is 10^{−5}
times the Jacobian, and for trained ones, whose layers have norms near 1, 10^{−11}.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from rankcheck.linalg import Array, frobenius_squared
from rankcheck.networks.evaluation import AtPoints

__all__ = ["product_noise"]


def product_noise(at: AtPoints, norms: Sequence[Array]) -> Array:
    """A bound on the rounding error of G_1 W_1 = Jf(x) in operator norm, shape (*B, [N]).

    G_1 is the first of ``at.outer_jacobians``. Floats only.

    Args:
        norms: ‖W_ℓ‖_op for ℓ = 1..L, each of shape (*B).
    """
    outer, points = at.outer_jacobians, at.x.shape[:-1]
    wide = len(points) - norms[0].ndim  # the axis of the points, if there is one
    slope = at.slope if isinstance(at.slope, torch.Tensor) else norms[0].new_tensor(float(at.slope))
    steep = slope.abs().clamp_min(1.0)
    total, before = at.x.new_zeros(points), torch.ones_like(norms[0])
    for W, G, norm in zip(at.weights[:-1], outer[:-1], norms[:-1], strict=True):
        absolute = W.abs()
        # ‖|W|‖_op² is at most the largest sum of a row times that of a column.
        size = (absolute.sum(-1).amax(-1) * absolute.sum(-2).amax(-1)).sqrt()
        local = before * size * ((W.shape[-2] + 1) * torch.finfo(torch.float64).eps)
        total = total + frobenius_squared(G).sqrt() * (local.unsqueeze(-1) if wide else local)
        before = before * norm * steep
    return total
