r"""Linear convolutional networks: their layers, the predictor that they compose, cheapest kernels.

A network of depth L has kernels w_1, ..., w_L as long as its input, n. Its first L − 1 layers are
circular correlations without padding or stride, h_i ↦ Σ_k w_k h_{i+k mod n}, and the last is the
inner product with w_L. It computes ⟨β, x⟩ with β = w_1 ∗ ... ∗ w_L, the circular convolution. Its
parameters are the entries of the kernels, so ‖θ‖² = Σ ‖w_ℓ‖², although a matrix repeats each n
times.

Kernels are arrays (*B, L, n). Source: Gunasekar, Lee, Soudry, Srebro, NeurIPS 2018, where each
correlation has a factor n^{−1/2} besides.
"""

from __future__ import annotations

from fractions import Fraction

import torch

from rankcheck.balls import is_ball
from rankcheck.theory.linalg import Array, power

EPSILON = 2.0**-52


def circulant(w: Array) -> Array:
    """C(w) with entries w_{i−j mod n}, shape (*B, n, n): C(w)v is the convolution w ∗ v."""
    places = torch.arange(w.shape[-1])
    return w[..., (places[:, None] - places) % w.shape[-1]]


def convolutional_layers(kernels: Array) -> tuple[Array, ...]:
    """The matrices W_1, ..., W_L of the layers: circulant ones (*B, n, n), and a row (*B, 1, n).

    Raises:
        ValueError: unless there is a kernel, and it has an entry.
    """
    if kernels.ndim < 2 or 0 in kernels.shape[-2:]:
        raise ValueError(
            f"received kernels of shape {tuple(kernels.shape)}; "
            f"L kernels of length n are (*B, L, n)"
        )
    *inner, last = kernels.unbind(-2)
    return (*(circulant(w).mT for w in inner), last.unsqueeze(-2))


def composed_kernel(kernels: Array) -> Array:
    """β = w_1 ∗ ... ∗ w_L, shape (*B, n): the row W_L ⋯ W_1. A polynomial, exact on rationals.

    >>> composed_kernel(torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0]]))
    tensor([0., 1., 2.])

    Raises:
        ValueError: as for :func:`convolutional_layers`.
    """
    *inner, row = convolutional_layers(kernels)
    for W in reversed(inner):
        row = row @ W
    return row.squeeze(-2)


def composition_noise(kernels: Array) -> Array:
    """A bound on the rounding error of a Fourier coefficient of β, 4nLε Π ‖w_ℓ‖_1; shape (*B)."""
    L, n = kernels.shape[-2:]
    return 4 * n * L * EPSILON * kernels.abs().sum(-1).prod(-1)


def fourier_sizes(beta: Array, noise: Array | None = None) -> Array:
    """|Σ_j β_j e^{−2πi jk/n}| for k = 0, ..., n − 1, shape (*B, n): the DFT without a factor.

    In floats, sizes of at most 8nε ‖β‖_1 + noise are zero: a small power of a rounding error is
    not small. Balls ignore the noise, and are exact if n is 1, 2 or 4.

    Args:
        noise: a bound on the errors of the coefficients, shape (*B); none if β is exact.
    """
    sizes = torch.fft.fft(beta).abs()
    if is_ball(beta):
        return sizes
    least = 8 * beta.shape[-1] * EPSILON * beta.abs().sum(-1)
    if noise is not None:
        least = least + noise
    return torch.where(sizes <= least.unsqueeze(-1), 0.0, sizes)


def cheapest_kernels(beta: Array, depth: int) -> Array:
    """Real kernels (*B, depth, n) that compose β (*B, n) at the least cost.

    At each frequency all kernels have the size |F_k|^{1/L}, F the DFT of β. All but the last are
    symmetric with nonnegative coefficients; the last one has the phases of β. Sizes and phases at
    k and n − k agree, up to conjugation, so the kernels are real.

    Raises:
        ValueError: unless depth >= 1.
    """
    if depth < 1:
        raise ValueError(f"received depth {depth}; a network has at least one layer")
    sizes = fourier_sizes(beta)
    each = power(sizes, Fraction(1, depth))
    zero = sizes == 0
    phases = torch.where(zero, 0 * sizes, each / torch.where(zero, 1 + 0 * sizes, sizes))
    symmetric = torch.fft.ifft(each).real
    last = torch.fft.ifft(phases * torch.fft.fft(beta)).real
    return torch.stack([symmetric] * (depth - 1) + [last], -2)
