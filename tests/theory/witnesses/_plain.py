"""Networks as numpy arrays, evaluated by a loop over the layers: an oracle for the constructions.

Nothing here calls :mod:`rankcheck`; a network is only read, for its weights, biases and slope.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Plain(NamedTuple):
    """A batch of networks: weights (*B, n_l, n_{l-1}), biases (*B, 1, n_l), slope () or (*B, 1, 1).

    ``net(x)`` is f(x), shape (*B, N, n_L), at N points (*B, N, n_0) or (N, n_0).
    """

    weights: list[np.ndarray]
    biases: list[np.ndarray]
    slope: np.ndarray

    def layers(self, x: Any) -> list[np.ndarray]:
        """α_0 = x, α_1, ..., α_{L-1} and f(x), shapes (*B, N, n_l)."""
        values = [np.asarray(x, dtype=float)]
        for index, (w, b) in enumerate(zip(self.weights, self.biases, strict=True), 1):
            z = values[-1] @ np.swapaxes(w, -1, -2) + b
            values.append(z if index == len(self.weights) else np.where(z < 0, self.slope * z, z))
        return values

    def __call__(self, x: Any) -> np.ndarray:
        return self.layers(x)[-1]

    def masks(self, x: Any) -> list[np.ndarray]:
        """D_1(x), ..., D_{L-1}(x) at one point x, for a network without batch axes; σ_a′(0) = 1."""
        before = self.layers(np.asarray(x)[None])[:-1]
        zs = [a @ w.T + b for a, w, b in zip(before, self.weights, self.biases, strict=True)]
        return [np.diag(np.where(z[0] < 0, self.slope, 1.0)) for z in zs[:-1]]

    def jacobian(self, x: Any) -> np.ndarray:
        """W_L D_{L-1} ··· D_1 W_1 at one point x, for a network without batch axes."""
        J = self.weights[0]
        for d, w in zip(self.masks(x), self.weights[1:], strict=True):
            J = w @ d @ J
        return J

    def one(self, index: int) -> Plain:
        """One network of a batch of one axis."""
        slope = self.slope if self.slope.ndim == 0 else self.slope[index, 0, 0]
        return Plain([w[index] for w in self.weights], [b[index] for b in self.biases], slope)

    @property
    def widths(self) -> tuple[int, ...]:
        """(n_0, ..., n_L)."""
        return (self.weights[0].shape[-1], *(w.shape[-2] for w in self.weights))

    @property
    def cost(self) -> np.ndarray:
        """The sum of the squares of all parameters, shape (*B)."""
        arrays = [*self.weights, *self.biases]
        return np.sum([np.square(a).sum((-2, -1)) for a in arrays], axis=0)


def plain(net: Any) -> Plain:
    """The arrays of a network of floats."""
    slope = net.slope
    scale = float(slope) if np.ndim(slope) == 0 else np.asarray(slope)[..., None, None]
    return Plain(
        [w.detach().numpy() for w in net.weights],
        [b.detach().numpy()[..., None, :] for b in net.biases],
        np.asarray(scale),
    )
