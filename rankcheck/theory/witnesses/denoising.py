r"""An autoencoder f = g∘r of bottleneck rank k that fixes a piecewise-linear surface g(R^k).

For a bijection ψ of R^d (:mod:`rankcheck.theory.witnesses.bijections`) and a matrix K of size
k × (d − k), let g: R^k → R^d be injective with the left inverse r:

$$g(z) = \psi(z, 0), \qquad r(x) = [I_k\ K]\,\psi^{-1}(x), \qquad r \circ g = \mathrm{id}.$$

f = g∘r has bottleneck rank k and fixes every point of g(R^k). Where ψ⁻¹ is differentiable at
x_0 = g(z_0), Jf(x_0) is a projection onto the tangent space Im Jg(z_0): with M = Jψ(z_0, 0) it is
M [I K; 0 0] M⁻¹. K determines the direction of the projection.

Used by rank.denoising-projection. Source: A. Jacot, *Implicit bias of large depth networks*, §5.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from rankcheck.theory.linalg import Array, eye
from rankcheck.theory.networks.network import Network
from rankcheck.theory.witnesses.bijections import inverse


@dataclass(frozen=True, eq=False)
class Autoencoder:
    """``decoder`` g: R^k → R^d and ``encoder`` r: R^d → R^k with r∘g = id, of one slope."""

    decoder: Network
    encoder: Network

    def network(self) -> Network:
        """f = g∘r as one network, with a layer of width k in the middle."""
        return self.decoder.merged_after(self.encoder)


def autoencoder(psi: Network, kernel: Array) -> Autoencoder:
    """The autoencoder of bottleneck rank k that fixes ψ(R^k × 0), for a bijection ψ of R^d.

    ``kernel`` is K, (*B, k, d − k).

    Raises ValueError if ψ and the kernel do not fit together, and what
    :func:`rankcheck.theory.witnesses.bijections.inverse` raises.
    """
    d, (k, rest) = psi.widths[0], kernel.shape[-2:]
    if k + rest != d or kernel.shape[:-2] != psi.weights[0].shape[:-2]:
        raise ValueError(
            f"received a kernel of shape {tuple(kernel.shape)} for a bijection of R^{d} "
            f"with batch axes {psi.batch}; the kernel has shape (*B, k, d - k)"
        )
    batch = psi.batch
    identity = eye(d, kernel).expand(*batch, d, d)
    read = torch.cat((identity[..., :k, :k], kernel), -1)
    embed = identity[..., :k]
    zeros = kernel.new_zeros((*batch, d))
    embedding = Network.unchecked_slope((embed,), (zeros,), psi.slope)
    reading = Network.unchecked_slope((read,), (zeros[..., :k],), psi.slope)
    return Autoencoder(psi.merged_after(embedding), reading.merged_after(inverse(psi)))
