r"""Loops: layers that map every point of a star of rays back to itself, and their cost.

Let $u_1, \dots, u_m$ be rays in R^n, and let M layers without biases fix each of them,
$u_j \mapsto \sigma(W_M \cdots \sigma(W_1 u_j)) = u_j$, where some units of a layer are linear and
the others have the activation σ_a. Both are homogeneous, so the loop fixes every point of the star
$\{t u_j : t \ge 0\}$.

A loop can be repeated inside a σ_a-network. For the star cut off at length ε, a constant of order ε
is added to each linear unit, so that its values are positive and σ_a is the identity on them; the
biases that this takes cost O(ε²). The loop repeated p times, between a layer that shifts the star
and one that shifts it back, is a network of depth pM + 2 that is the identity on this piece of the
star (:meth:`Loop.network`), at cost
$p \sum_\ell \|W_\ell\|_F^2 + 2n + (p + 1)\,O(ε^2)$. As ε is free,

$$\inf_{\varepsilon > 0} R_\infty(\mathrm{id}; \mathrm{star}_\varepsilon)
  \le \frac1M \sum_\ell \|W_\ell\|_F^2 .$$

A continuous map of three or more different rays into R identifies two points, but they fit into the
plane: the bottleneck rank of the identity on them is 2 for every ε, and its Jacobian rank is 1.
Planar loops without kinks cost 2 for each layer. *A loop of cost less than 2 for each layer would
refute R_∞ = rank_BN*, and exactly, as everything is rational.

A *spine*, a line through the origin that lies in all pages $\{t u_j + s v\}$, adds one to both
ranks; kinked units must not depend on it.

Used by rank.repeated-loops and the conjectures rank.limit-is-bottleneck-rank, rank.limit-exists and
rank.limit-is-an-integer.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from rankcheck.balls import is_ball
from rankcheck.linalg import Array, Number, eye, frobenius_squared, power
from rankcheck.networks.network import Network
from rankcheck.witnesses.deepen import matrix_slope

__all__ = ["Loop", "close", "distinct_rays"]

ANGLE = 2.0**-10
"""Two directions count as different if the squared sine of their angle is more than this."""

CLOSED = 2.0**-30
"""In floats a loop closes if it misses its start by at most this, relatively."""


@dataclass(frozen=True, eq=False)
class Loop:
    """M layers that fix every point of a star: a bound of its limiting cost by cost()/length.

    Attributes:
        rays: (*B, n, m), the rays as columns.
        spine: (*B, n, p), the directions that all pages share.
        weights: W_1, ..., W_M, with W_1 of shape (*B, n_1, n) and W_M (*B, n, n_{M−1}).
        kinked: for each layer, the number of units with the activation σ_a; they come first.
        slope: a, a number or an array (*B).

    Raises ValueError unless there is one number of kinked units for each layer.
    """

    rays: Array
    spine: Array
    weights: tuple[Array, ...]
    kinked: tuple[int, ...]
    slope: Number | Array = 0

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.kinked) or not self.weights:
            raise ValueError(
                f"received {len(self.kinked)} numbers of kinked units for {len(self.weights)} "
                "layers; there is one for each layer, and at least one layer"
            )

    @property
    def length(self) -> int:
        """M, the number of layers."""
        return len(self.weights)

    def around(self, u: Array) -> Array:
        """The images of the columns of u (*B, n, m) under the M layers."""
        for W, kinked in zip(self.weights, self.kinked, strict=True):
            u = activate(W @ u, kinked, self.slope)
        return u

    def then(self, other: Loop) -> Loop:
        """This loop followed by another one around the same star."""
        return Loop(
            self.rays,
            self.spine,
            self.weights + other.weights,
            self.kinked + other.kinked,
            self.slope,
        )

    def cost(self) -> Array:
        """Σ‖W_ℓ‖_F², shape (*B)."""
        first, *rest = map(frobenius_squared, self.weights)
        return sum(rest, start=first)

    def steepness(self) -> Array:
        """Π‖W_ℓ‖_F, a Lipschitz constant of :meth:`around`, shape (*B)."""
        product = self.cost() * 0 + 1
        for W in self.weights:
            product = product * frobenius_squared(W)
        return power(product, Fraction(1, 2))

    def closes(self) -> Tensor:
        """Bools (*B): whether the loop fixes every page; decided exactly on balls.

        The spine has to be fixed in both directions, and no kinked unit may depend on it.
        """
        ends = torch.cat((self.rays, self.spine, -self.spine), -1)
        missed = self.around(ends) - ends
        allowed = CLOSED**2 if not is_ball(missed) else 0
        back = frobenius_squared(missed) <= allowed * frobenius_squared(ends)
        u = self.spine
        for W, kinked in zip(self.weights, self.kinked, strict=True):
            u = W @ u
            seen = frobenius_squared(u[..., :kinked, :])
            back = back & (seen <= allowed * (1 + frobenius_squared(u)))
        return back

    def network(self, repeats: int, size: Array) -> Network:
        """The repeated loop as a network, the identity on a piece of the star.

        The piece consists of the points t u_j + s v with 0 ≤ t ≤ size and |s| ≤ size, for ``size``
        > 0 of shape (*B). The loop has to close. The depth is M·repeats + 2. The weights do not
        depend on the size; the biases are proportional to it.
        """
        weights, biases = [], []
        ends = size[..., None, None] * torch.cat((self.rays, self.spine, -self.spine), -1)
        # The first layer makes all units positive, where σ_a is the identity; the layers of the
        # loop make the linear units positive.
        n = self.rays.shape[-2]
        before = first = torch.relu(-ends).sum(-1)
        for _ in range(repeats):
            u = ends
            for W, kinked in zip(self.weights, self.kinked, strict=True):
                z = W @ u
                linear = torch.arange(z.shape[-2], device=z.device) >= kinked
                shift = torch.where(linear, torch.relu(-z).sum(-1), 0 * z[..., 0])
                weights.append(W)
                biases.append(shift - (W @ before.unsqueeze(-1)).squeeze(-1))
                before, u = shift, activate(z, kinked, self.slope)
        one = eye(n, self.rays).expand(*ends.shape[:-2], n, n)
        return Network((one, *weights, one), (first, *biases, -before), self.slope)


def activate(z: Array, kinked: int, slope: Number | Array) -> Array:
    """σ_a in the first ``kinked`` rows of z (*B, n, m), the identity in the others."""
    rows = (torch.arange(z.shape[-2], device=z.device) < kinked).unsqueeze(-1)
    return torch.where(rows & (z < 0), matrix_slope(slope, z) * z, z)


def close(start: Array, end: Array) -> Array:
    """The cheapest W with W · end = start, shape (*B, n, k): start · end⁺.

    ``start`` is (*B, n, m) and ``end`` (*B, k, m). Such a W exists if the columns of ``end`` are
    independent; if none exists, a loop with this layer does not close.
    """
    return start @ torch.linalg.pinv(end)


def distinct_rays(rays: Array, spine: Array | None = None) -> Tensor:
    """Bools (*B): no ray is 0, and no two of the rays (*B, n, m) have nearly the same direction.

    With a spine (*B, n, 1) the condition is that of the rays modulo the spine; moreover the spine
    is not 0, and no ray has nearly its direction.
    """
    whole = (rays * rays).sum(-2)
    if spine is not None and spine.shape[-1] > 0:
        square = (spine * spine).sum(-2, keepdim=True)
        rays = rays - spine @ ((spine.mT @ rays) / torch.where(square > 0, square, 1 + 0 * square))
        whole = torch.where(square.squeeze(-2) > 0, whole, 0 * whole)
    gram = rays.mT @ rays
    squares = (rays * rays).sum(-2)
    near = gram * gram >= (1 - ANGLE) * squares.unsqueeze(-1) * squares.unsqueeze(-2)
    others = ~torch.eye(rays.shape[-1], dtype=torch.bool, device=rays.device)
    apart = ~((gram > 0) & near & others).any(-1).any(-1)
    return apart & ((whole > 0) & (squares >= ANGLE * whole)).all(-1)
