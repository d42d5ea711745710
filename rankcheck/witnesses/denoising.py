r"""An injective piecewise-linear g: R^k → R^d, a left inverse r, and the autoencoder f = g∘r.

For a bijection ψ of R^d (:mod:`rankcheck.witnesses.bijections`) and a matrix K of size k × (d − k),

$$g(z) = \psi(z, 0), \qquad r(x) = [I_k\ K]\,\psi^{-1}(x), \qquad r \circ g = \mathrm{id}.$$

f = g∘r has bottleneck rank k and fixes every point of g(R^k). Where ψ⁻¹ is differentiable at
x_0 = g(z_0), Jf(x_0) is a projection onto the tangent space Im Jg(z_0): with M = Jψ(z_0, 0) it is
M [I K; 0 0] M⁻¹. K turns the direction of the projection.

Used by rank.denoising-projection. Source: A. Jacot, *Implicit bias of large depth networks*, §5.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from rankcheck.linalg import Array, eye
from rankcheck.networks.network import Network
from rankcheck.witnesses.bijections import inverse

__all__ = ["Autoencoder", "autoencoder"]


@dataclass(frozen=True, eq=False)
class Autoencoder:
    """``decoder`` g: R^k → R^d and ``encoder`` r: R^d → R^k with r∘g = id, of one slope."""

    decoder: Network
    encoder: Network

    def network(self) -> Network:
        """f = g∘r as one network, with a layer of width k in the middle."""
        return self.decoder.merged_after(self.encoder)


def autoencoder(psi: Network, kernel: Array) -> Autoencoder:
    """The pair of the bijection ψ of R^d and the matrix K = ``kernel`` (*B, k, d − k).

    Raises ValueError if ψ is no bijection of R^d with k + (d − k) = d, or as
    :func:`rankcheck.witnesses.bijections.inverse` does.
    """
    d, (k, rest) = psi.widths[0], kernel.shape[-2:]
    if k + rest != d or kernel.shape[:-2] != psi.weights[0].shape[:-2]:
        raise ValueError(
            f"the kernel has shape (*{psi.batch}, k, {d} - k), received {tuple(kernel.shape)}"
        )
    batch = psi.batch
    identity = eye(d, kernel).expand(*batch, d, d)
    read = torch.cat((identity[..., :k, :k], kernel), -1)
    embed = identity[..., :k]
    zeros = kernel.new_zeros((*batch, d))
    embedding = Network.unchecked_slope((embed,), (zeros,), psi.slope)
    reading = Network.unchecked_slope((read,), (zeros[..., :k],), psi.slope)
    return Autoencoder(psi.merged_after(embedding), reading.merged_after(inverse(psi)))
