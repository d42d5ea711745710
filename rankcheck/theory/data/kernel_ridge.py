r"""Kernel ridge regression with a radial kernel, and its Jacobian in closed form.

For inputs X (N × d), outputs Y (N × m), a kernel $K(x, y) = k(\|x - y\|)$ and a ridge λ ≥ 0,

$$\hat f(x) = \sum_i k(\|x - x_i\|)\,\alpha_i, \qquad \alpha = (K + \lambda I)^{-1} Y,$$
$$J\hat f(x) = \sum_i \frac{k'(\|x - x_i\|)}{\|x - x_i\|}\,\alpha_i\,(x - x_i)^\top .$$

(In print with X − x in place of x − X, which is the negative of the transpose.) Generically its
rank is min(d, m, dim aff X + 1): ridge regression with a fixed kernel does not find a low rank.

Used by rank.kernel-ridge-jacobian. Source: A. Jacot, *Implicit bias of large depth networks*,
Appendix D.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch

from rankcheck.theory.linalg import Array, Number, eye
from rankcheck.theory.scalars import scalar


@dataclass(frozen=True)
class RadialKernel:
    """A kernel by two functions of the squared distance s = r², entry by entry.

    ``value`` is k(r) and ``pull`` is k′(r)/r. For the kernels here both are smooth at r = 0.
    """

    name: str
    value: Callable[[Array], Array]
    pull: Callable[[Array], Array]


GAUSSIAN = RadialKernel("exp(-r²/2)", lambda s: torch.exp(-s / 2), lambda s: -torch.exp(-s / 2))
RATIONAL = RadialKernel("1/(1 + r²)", lambda s: 1 / (1 + s), lambda s: -2 / ((1 + s) * (1 + s)))
INVERSE_MULTIQUADRIC = RadialKernel(
    "1/√(1 + r²)",
    lambda s: 1 / torch.sqrt(1 + s),
    lambda s: -1 / ((1 + s) * torch.sqrt(1 + s)),
)


@dataclass(frozen=True, eq=False)
class KernelRidge:
    """The predictor f̂ for inputs X (*B, N, d), outputs Y (*B, N, m) and a ridge λ ≥ 0.

    ``ridge`` is a number or an array (*B). The kernel RATIONAL keeps rationals rational, the others
    give balls. Raises ValueError for other shapes, or a number λ < 0.
    """

    inputs: Array
    outputs: Array
    ridge: Number | Array
    kernel: RadialKernel = GAUSSIAN

    def __post_init__(self) -> None:
        if (
            self.inputs.ndim < 2
            or self.outputs.ndim != self.inputs.ndim
            or self.inputs.shape[:-1] != self.outputs.shape[:-1]
        ):
            raise ValueError(
                f"received inputs and outputs of shapes {tuple(self.inputs.shape)} and "
                f"{tuple(self.outputs.shape)}; the shapes are (*B, N, d) and (*B, N, m)"
            )
        if isinstance(self.ridge, Number) and self.ridge < 0:
            raise ValueError(f"received ridge {self.ridge}; a ridge is >= 0")

    @cached_property
    def coefficients(self) -> Array:
        """α, shape (*B, N, m)."""
        X = self.inputs
        K = self.kernel.value(_squared_distances(X, X))
        one = eye(X.shape[-2], X)
        ridge = self.ridge
        ridge = scalar(ridge, X) if isinstance(ridge, Number) else ridge[..., None, None]
        return torch.linalg.solve(K + ridge * one, self.outputs)

    def __call__(self, x: Array) -> Array:
        """f̂ at points (*B, d) or (*B, P, d): (*B, m) or (*B, P, m)."""
        points, many = self._points(x)
        values = self.kernel.value(_squared_distances(points, self.inputs)) @ self.coefficients
        return values if many else values.squeeze(-2)

    def jacobian(self, x: Array) -> Array:
        """Jf̂ at points (*B, d) or (*B, P, d): (*B, m, d) or (*B, P, m, d)."""
        points, many = self._points(x)
        pull = self.kernel.pull(_squared_distances(points, self.inputs))
        # (*B, P, N, d), whose rows times pull_i are the gradients of k(‖x − x_i‖)
        difference = points.unsqueeze(-2) - self.inputs.unsqueeze(-3)
        J = self.coefficients.mT.unsqueeze(-3) @ (pull.unsqueeze(-1) * difference)
        return J if many else J.squeeze(-3)

    def _points(self, x: Array) -> tuple[Array, bool]:
        many = x.ndim == self.inputs.ndim
        if (not many and x.ndim != self.inputs.ndim - 1) or x.shape[-1] != self.inputs.shape[-1]:
            raise ValueError(
                f"received points of shape {tuple(x.shape)} for inputs of shape "
                f"{tuple(self.inputs.shape)}; points have as many coordinates as the inputs, and "
                "their batch axes"
            )
        return (x if many else x.unsqueeze(-2)), many


def _squared_distances(x: Array, y: Array) -> Array:
    """‖x_i − y_j‖² for rows x_i (*B, P, d) and y_j (*B, N, d), shape (*B, P, N).

    They are computed from differences, not from a Gram matrix, so that close points keep their
    digits.
    """
    difference = x.unsqueeze(-2) - y.unsqueeze(-3)
    return (difference * difference).sum(-1)
