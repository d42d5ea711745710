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
times the Jacobian, and for trained ones, whose layers have norms near 1, 10^{−11}. The product of
norms still grows by a factor 2 a layer at He-normal weights, and is useless at depth 40. So it is
replaced by $\|J\alpha_{\ell-1}(x)\|_F$, the norm of the product, where that is smaller. This is an
estimate: with `PROBES` Gaussian vectors v, the mean of ‖Jα v‖² is ‖Jα‖_F², and falls below a
hundredth of it with probability 2·10⁻⁴ at rank 1, and less at higher ranks. The other factors
are too large by more than √n, as errors have either sign, so in practice the estimate is a bound.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from rankcheck.theory.linalg import Array, frobenius_squared
from rankcheck.theory.networks.evaluation import AtPoints, times

#: Vectors by which the norm of a Jacobian is estimated.
PROBES = 4


def product_noise(at: AtPoints, norms: Sequence[Array], probes: int = PROBES) -> Array:
    """A bound on the rounding error of G_1 W_1 = Jf(x) in operator norm, shape (*B, [N]).

    G_1 is the first of ``at.outer_jacobians``. Floats only. The bound is proved where the product
    of norms is not much larger than the norm of the product, and estimated elsewhere; see above.

    Args:
        norms: ‖W_ℓ‖_op for ℓ = 1..L, each of shape (*B).
        probes: the number of vectors for the estimate; with 0 the bound is proved at every point.
    """
    points = at.x.shape[:-1]
    wide = len(points) - norms[0].ndim  # the number of axes of points, 0 or 1
    slope = at.slope if isinstance(at.slope, torch.Tensor) else norms[0].new_tensor(float(at.slope))
    steep = slope.abs().clamp_min(1.0)
    total, before = at.x.new_zeros(points), torch.ones_like(norms[0])
    reached = at.x.new_ones(points)  # the norm of the product of the layers before
    images = _probes(at, probes)
    layers = zip(at.weights[:-1], at.outer_jacobians[:-1], norms[:-1], at.masks, strict=True)
    for W, G, norm, mask in layers:
        absolute = W.abs()
        # ‖|W|‖_op² is at most the largest sum of a row times that of a column.
        size = (absolute.sum(-1).amax(-1) * absolute.sum(-2).amax(-1)).sqrt()
        local = size * ((W.shape[-2] + 1) * torch.finfo(torch.float64).eps)
        total = total + frobenius_squared(G).sqrt() * reached * _widened(local, wide)
        before = before * norm * steep
        if not probes:
            reached = _widened(before, wide).expand(points)
            continue
        images = (times(images, W.mT) if wide else images @ W.mT) * mask.unsqueeze(-2)
        reached = torch.minimum(_widened(before, wide), frobenius_squared(images).sqrt())
    return total


def _probes(at: AtPoints, number: int) -> Array:
    """Rows v/√number with independent normal entries, (*B, [N,] number, n_0), always the same."""
    n = at.x.shape[-1]
    draw = torch.Generator().manual_seed(0)
    rows = torch.randn(number, n, generator=draw, dtype=torch.float64) / max(1, number) ** 0.5
    return rows.to(at.x.device).expand(*at.x.shape[:-1], number, n)


def _widened(array: Array, axes: int) -> Array:
    """With a last axis of length 1 for the points."""
    return array.unsqueeze(-1) if axes else array
