r"""A network at points: activations, derivative masks and Jacobians from one forward pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import torch
from torch import nn

from rankcheck.balls import balls, is_ball
from rankcheck.theory.linalg import Array, Number, eye, frobenius_squared

Slope: TypeAlias = Number | Array
"""A number for all networks of a batch, or an array of shape (*B)."""


def leaky(z: Array, slope: Slope) -> Array:
    """σ_a(z): z where z ≥ 0, a·z elsewhere. An array ``slope`` broadcasts against z."""
    if is_ball(z):
        # No sign is decided: a ball around the kink is mapped to a ball.
        return torch.relu(z) - balls(slope) * torch.relu(-z)
    if isinstance(slope, Number):
        # One fused kernel, 20 times as fast as torch.where.
        return torch.relu(z) if slope == 0 else nn.functional.leaky_relu(z, float(slope))
    return torch.where(z >= 0, z, z * slope)


def leaky_derivative(z: Array, slope: Slope) -> Array:
    """σ_a′(z): 1 where z ≥ 0, a elsewhere."""
    if is_ball(z):
        ones = z.new_ones(z.shape)
        return torch.where(z >= 0, ones, balls(slope) * ones)
    positive = (z >= 0).to(z.dtype)
    if isinstance(slope, Number):
        return positive if slope == 0 else positive + float(slope) * (1 - positive)
    return positive + slope * (1 - positive)


def check_array(name: str, array: Any) -> None:
    """Check that an array is of one of the two kinds that networks take.

    Raises:
        TypeError: it is neither a float64 tensor nor a BallArray.
    """
    if is_ball(array):
        return
    if not isinstance(array, torch.Tensor):
        raise TypeError(f"{name} is a {type(array).__name__}; expected a tensor or a BallArray")
    if array.dtype != torch.float64:
        raise TypeError(f"{name} has dtype {array.dtype}; expected torch.float64")
    if array.layout != torch.strided:
        raise TypeError(f"{name} has layout {array.layout}; expected a dense tensor")


@dataclass(frozen=True, eq=False)
class AtPoints:
    """Values, activations and Jacobians of a network at the points ``x``.

    Made by :meth:`rankcheck.networks.Network.at`. The points are (*B, n_0), or (*B, N, n_0); all
    results have those axes, written (*B, [N]) below. Each is computed once, on first use.

    Raises:
        TypeError: x is neither a float64 tensor nor a BallArray.
        ValueError: the shape of x is neither of the two.
    """

    weights: tuple[Array, ...]
    biases: tuple[Array, ...]
    slope: Slope
    x: Array

    def __post_init__(self) -> None:
        check_array("x", self.x)
        batch, n = self.weights[0].shape[:-2], self.weights[0].shape[-1]
        shape = self.x.shape
        if (
            len(shape) not in (len(batch) + 1, len(batch) + 2)
            or shape[: len(batch)] != batch
            or shape[-1] != n
        ):
            raise ValueError(
                f"received points of shape {tuple(shape)}; "
                f"expected (*{tuple(batch)}, {n}) or (*{tuple(batch)}, N, {n})"
            )

    # The private arrays always have the axis N, of length 1 if x has none.

    @property
    def _batch(self) -> int:
        return self.weights[0].ndim - 2

    @property
    def _has_points(self) -> bool:
        return self.x.ndim == self._batch + 2

    @property
    def _points(self) -> tuple[int, ...]:
        return tuple(self._z[-1].shape[:-1])

    def _out(self, array: Array, axes: int) -> Array:
        """Drop the axis N, which precedes the last ``axes``, if x has none."""
        return array if self._has_points else array.squeeze(-1 - axes)

    @cached_property
    def _wide_slope(self) -> Slope:
        return self.slope if isinstance(self.slope, Number) else self.slope[..., None, None]

    @cached_property
    def _hidden(self) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        activations = [self.x if self._has_points else self.x.unsqueeze(-2)]
        preactivations: list[Array] = []
        for w, b in zip(self.weights, self.biases, strict=True):
            if preactivations:
                activations.append(leaky(preactivations[-1], self._wide_slope))
            # Rows times a transpose: half the time of W @ column on batches of small networks.
            preactivations.append(activations[-1] @ w.mT + b.unsqueeze(-2))
        return tuple(activations), tuple(preactivations)

    @property
    def _z(self) -> tuple[Array, ...]:
        return self._hidden[1]

    @cached_property
    def _masks(self) -> tuple[Array, ...]:
        return tuple(leaky_derivative(z, self._wide_slope) for z in self._z[:-1])

    @property
    def preactivations(self) -> tuple[Array, ...]:
        """α̃_1(x), ..., α̃_L(x) = f(x), shapes (*B, [N,] n_l)."""
        return tuple(self._out(z, 1) for z in self._z)

    @property
    def activations(self) -> tuple[Array, ...]:
        """α_0 = x, α_1(x), ..., α_{L−1}(x), shapes (*B, [N,] n_l)."""
        return tuple(self._out(a, 1) for a in self._hidden[0])

    @property
    def value(self) -> Array:
        """f(x), shape (*B, [N,] n_L)."""
        return self._out(self._z[-1], 1)

    @property
    def pattern(self) -> tuple[Array, ...]:
        """Which hidden pre-activations are ≥ 0: L − 1 arrays of bools, shapes (*B, [N,] n_l)."""
        return tuple(z >= 0 for z in self.preactivations[:-1])

    @property
    def masks(self) -> tuple[Array, ...]:
        """The diagonals of D_1(x), ..., D_{L−1}(x), shapes (*B, [N,] n_l)."""
        return tuple(self._out(d, 1) for d in self._masks)

    @property
    def boundary_distance(self) -> Array:
        """min |α̃_ℓ,i(x)| over the hidden neurons, shape (*B, [N]).

        Infinite at depth 1, and then a plain tensor even on balls, because no ball is infinite.
        """
        hidden = [z.abs().amin(-1) for z in self.preactivations[:-1]]
        if not hidden:
            points = self.x.shape[:-1]
            return torch.full(points, math.inf, dtype=torch.float64, device=self.x.device)
        least = hidden[0]
        for distance in hidden[1:]:
            least = torch.minimum(least, distance)
        return least

    @property
    def is_differentiable(self) -> Array:
        """Bools (*B, [N]): no hidden pre-activation vanishes. Sufficient, not necessary."""
        answer = self.x.new_ones(self.x.shape[:-1]) > 0
        for z in self.preactivations[:-1]:
            answer = answer & (z.abs() > 0).all(-1)  # not so where z is NaN
        return answer

    @cached_property
    def jacobian(self) -> Array:
        """Jf(x) = W_L D_{L−1} ··· D_1 W_1, shape (*B, [N,] n_L, n_0).

        The product starts at the narrower end; each factor is applied to all N points at once.
        """
        return self._out(self._product(self.weights, self._masks), 2)

    @property
    def jacobian_noise(self) -> Array:
        """A bound on the rounding error of ``jacobian`` in operator norm, shape (*B, [N]).

        A product computed in any order errs, entrywise and to first order in ε, by at most
        ε Σ_ℓ (n_ℓ + 1) times the same product of absolute values. Pass it as ``noise`` to the
        functions of rankcheck.linalg. Zero on balls.
        """
        if is_ball(self.x):
            return self.x.new_zeros(self.x.shape[:-1])
        absolute = self._product([w.abs() for w in self.weights], [d.abs() for d in self._masks])
        roundings = sum(w.shape[-1] + 1 for w in self.weights)
        size = frobenius_squared(absolute).sqrt()
        return self._out(size * (roundings * torch.finfo(torch.float64).eps), 0).detach()

    def _product(self, weights: Sequence[Array], masks: Sequence[Array]) -> Array:
        if weights[-1].shape[-2] <= weights[0].shape[-1]:
            J = _spread(weights[-1], self._points)
            for w, d in zip(weights[-2::-1], masks[::-1], strict=True):
                J = times(J * d.unsqueeze(-2), w)
            return J
        T = _spread(weights[0].mT, self._points)
        for w, d in zip(weights[1:], masks, strict=True):
            T = times(T * d.unsqueeze(-2), w.mT)
        return T.mT

    @cached_property
    def inner_jacobians(self) -> tuple[Array, ...]:
        """Jα_0(x) = I, Jα_1(x), ..., Jα_{L−1}(x), shapes (*B, [N,] n_l, n_0)."""
        n = self.weights[0].shape[-1]
        inner = [eye(n, self.x).expand(*self._points, n, n)]
        for w, d in zip(self.weights[:-1], self._masks, strict=True):
            inner.append(times(inner[-1], w.mT) * d.unsqueeze(-2))
        return tuple(self._out(t.mT, 2) for t in inner)

    @cached_property
    def outer_jacobians(self) -> tuple[Array, ...]:
        """The Jacobians at x of α̃_1 → f, ..., α̃_L → f (the last is I), (*B, [N,] n_L, n_l)."""
        n = self.weights[-1].shape[-2]
        outer = [eye(n, self.x).expand(*self._points, n, n)]
        if self._masks:
            outer.append(self.weights[-1].unsqueeze(-3) * self._masks[-1].unsqueeze(-2))
        for w, d in zip(self.weights[-2:0:-1], self._masks[-2::-1], strict=True):
            outer.append(times(outer[-1], w) * d.unsqueeze(-2))
        return tuple(self._out(j, 2) for j in outer[::-1])


def times(T: Array, W: Array) -> Array:
    """T W for T (*B, N, k, n) and W (*B, n, m): one product for all N·k rows of a network.

    torch.matmul is the fastest for small matrices in large batches as well: 10^5 products of
    4 × 4 matrices took 11 ms, with a sum over a broadcast axis 46 ms, with a loop over it 14 ms.
    """
    *points, k, n = T.shape
    rows = T.reshape(*points[:-1], points[-1] * k, n)
    return (rows @ W).reshape(*points, k, W.shape[-1])


def _spread(W: Array, points: Sequence[int]) -> Array:
    """W (*B, k, n) repeated for each of the points (*B, N), without a copy."""
    return W.unsqueeze(-3).expand(*points, *W.shape[-2:])
