r"""The least cost of a linear convolutional network with kernels as long as its input.

Source: Gunasekar, Lee, Soudry, Srebro, NeurIPS 2018; Dai, Karzand, Srebro, NeurIPS 2021.
"""

from __future__ import annotations

from fractions import Fraction

from rankcheck.theory.linalg import Array, Number, power
from rankcheck.theory.witnesses.convolutional import fourier_sizes


def convolutional_cost(
    beta: Array, depth: int, noise: Array | None = None, *, exponent: Number = 2
) -> Array:
    r"""min Σ ‖w_ℓ‖² over L kernels that compose x ↦ ⟨β, x⟩, for β (*B, n); shape (*B).

    With F the DFT of β without a factor, and $\hat\beta = F/\sqrt n$ the unitary one, it is

    .. math:: L \sum_k \Bigl|\frac{\hat\beta_k}{n^{(L-1)/2}}\Bigr|^{2/L}
              = \frac Ln \sum_k |F_k|^{2/L},

    which is 1/n of the least cost of any L linear layers for the circulant matrix of β, whose
    singular values are the |F_k|. Per layer it tends to the share of the frequencies with F_k ≠ 0.

    >>> import torch
    >>> convolutional_cost(torch.tensor([4.0, 0.0]), 2)  # F = (4, 4): 2/2 · (4 + 4)
    tensor(8.)

    Args:
        noise: of the coefficients, as in :func:`rankcheck.witnesses.fourier_sizes`.
        exponent: p in (L/n) Σ |F_k|^{p/L}; the least cost has 2.

    Raises:
        ValueError: unless depth >= 1.
    """
    if depth < 1:
        raise ValueError(f"received depth {depth}; a network has at least one layer")
    sizes = power(fourier_sizes(beta, noise), Fraction(exponent) / depth)
    return depth * sizes.sum(-1) / beta.shape[-1]
