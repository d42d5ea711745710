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
Planar loops without kinks cost 2 for each layer. *A loop of cost less than 2 for each layer refutes
R_∞ = rank_BN*, and exactly, as everything is rational: `switching_loops` has some.

A *spine*, a line through the origin that lies in all pages $\{t u_j + s v\}$, adds one to both
ranks; kinked units must not depend on it.

*Kinks on the rays.* With biases, a unit can have its kink at a point of a ray, a *stop*, and not
only in the centre. The layers then map a star of three or more arcs to itself, with a bend at each
stop. The biases cost nothing in the limit: on the star of length ε they are multiplied by ε. If the
linear units show straight rays of different directions, the arcs meet in the centre only, so every
continuous map of the star into R identifies two points, and the bottleneck rank is 2 or more.

Used by rank.repeated-loops, rank.three-rays and the conjecture rank.short-loops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from rankcheck.balls import is_ball
from rankcheck.theory.linalg import Array, Number, eye, frobenius_squared
from rankcheck.theory.networks.network import Network
from rankcheck.theory.scalars import scalar
from rankcheck.theory.witnesses.deepen import matrix_slope

ANGLE = 2.0**-10
"""Two directions count as different if the squared sine of their angle is more than this."""

CLOSED = 2.0**-30
"""In floats a loop closes if it misses its start by at most this, relatively."""


@dataclass(frozen=True, eq=False)
class Loop:
    """M layers that fix every point of a star: a bound of its limiting cost by cost()/length.

    Attributes:
        rays: (*B, n, m), the ends of the rays as columns.
        spine: (*B, n, p), the directions that all pages share.
        weights: W_1, ..., W_M, with W_1 of shape (*B, n_1, n) and W_M (*B, n, n_{M−1}).
        kinked: for each layer, the number of units with the activation σ_a; they come first.
        slope: a, a number or an array (*B).
        biases: b_1, ..., b_M, or None for layers without biases.
        centre: (*B, n, 1), where the arcs meet, or None for the origin.
        stops: (*B, n, k), the points at which arcs bend, or None.
        bent: for each stop, the arc on which it lies and its position t in (0, 1): in the linear
            units it is the point t of the way from the centre to the end. One stop an arc.

    Raises ValueError unless there is one number of kinked units and one bias for each layer, and
    for a spine beside biases.
    """

    rays: Array
    spine: Array
    weights: tuple[Array, ...]
    kinked: tuple[int, ...]
    slope: Number | Array = 0
    biases: tuple[Array, ...] | None = None
    centre: Array | None = None
    stops: Array | None = None
    bent: tuple[tuple[int, Fraction], ...] = ()

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.kinked) or not self.weights:
            raise ValueError(
                f"received {len(self.kinked)} numbers of kinked units for {len(self.weights)} "
                "layers; there is one for each layer, and at least one layer"
            )
        if self.biases is not None and len(self.biases) != len(self.weights):
            raise ValueError(
                f"received {len(self.biases)} biases for {len(self.weights)} layers; there is one "
                "for each layer, or none at all"
            )
        if self.biases is not None and self.spine.shape[-1] > 0:
            raise ValueError("received biases and a spine; a loop has one of the two")

    @property
    def length(self) -> int:
        """M, the number of layers."""
        return len(self.weights)

    def around(self, u: Array) -> Array:
        """The images of the columns of u (*B, n, m) under the M layers."""
        for z, kinked in self._layers(u):
            u = activate(z, kinked, self.slope)
        return u

    def _layers(self, u: Array) -> Iterator[tuple[Array, int]]:
        """The pre-activations of the columns of u, with the number of kinked units."""
        for index, (W, kinked) in enumerate(zip(self.weights, self.kinked, strict=True)):
            z = W @ u
            if self.biases is not None:
                z = z + self.biases[index].unsqueeze(-1)
            yield z, kinked
            u = activate(z, kinked, self.slope)

    def points(self) -> Array:
        """Columns between which all layers are affine on the star, if the loop closes.

        The centre, the ends of the rays, the stops; without biases the ends of the rays and of the
        spine, whose hull with the centre is the star.
        """
        if self.biases is None:
            return torch.cat((self.rays, self.spine, -self.spine), -1)
        centre = 0 * self.rays[..., :1] if self.centre is None else self.centre
        return torch.cat((centre, self.rays, *([] if self.stops is None else [self.stops])), -1)

    def segments(self) -> list[tuple[int, int]]:
        """Of a loop with biases, the pairs of :meth:`points` that bound one straight piece."""
        m = self.rays.shape[-1]
        stop_on = {ray: 1 + m + index for index, (ray, _) in enumerate(self.bent)}
        pieces = []
        for ray in range(m):
            stop = stop_on.get(ray)
            pieces += [(0, 1 + ray)] if stop is None else [(0, stop), (stop, 1 + ray)]
        return pieces

    def cost(self) -> Array:
        """Σ‖W_ℓ‖_F², shape (*B)."""
        first, *rest = map(frobenius_squared, self.weights)
        return sum(rest, start=first)

    def closes(self) -> Tensor:
        """Bools (*B): whether the loop fixes every page; decided exactly on balls.

        The spine has to be fixed in both directions, and no kinked unit may depend on it. With
        biases, the points have to be fixed, and no unit may have its kink inside a segment.
        """
        ends = self.points()
        allowed = CLOSED**2 if not is_ball(ends) else 0
        missed = self.around(ends) - ends
        back = frobenius_squared(missed) <= allowed * frobenius_squared(ends)
        if self.biases is not None:
            return back & self._bends_at_stops(ends, allowed)
        u = self.spine
        for W, kinked in zip(self.weights, self.kinked, strict=True):
            u = W @ u
            visible = frobenius_squared(u[..., :kinked, :])
            back = back & (visible <= allowed * (1 + frobenius_squared(u)))
        return back

    def _bends_at_stops(self, points: Array, allowed: float) -> Tensor:
        begins, ends = (list(side) for side in zip(*self.segments(), strict=True))
        good = (self.cost() >= 0) & self.shows_its_stops()
        for z, kinked in self._layers(points):
            if kinked == 0:
                continue
            z = z[..., :kinked, :]
            least = -(allowed**0.5) * (z * z).sum(-1, keepdim=True)
            good = good & (z[..., begins] * z[..., ends] >= least).all(-1).all(-1)
        return good

    def shows_its_stops(self) -> Tensor:
        """Bools (*B): whether the linear units see each stop at its position on a straight ray."""
        linear = self.points()[..., self.kinked[-1] :, :]
        allowed = CLOSED**2 if not is_ball(linear) else 0
        good = self.cost() >= 0
        for index, (ray, t) in enumerate(self.bent):
            centre, end = linear[..., 0], linear[..., 1 + ray]
            stop = linear[..., 1 + self.rays.shape[-1] + index]
            missed = stop - centre - scalar(t, end) * (end - centre)
            good = good & ((missed * missed).sum(-1) <= allowed * (end * end).sum(-1))
        return good

    def shows_a_star(self, fewest: int) -> Tensor:
        """Bools (*B): whether there are ``fewest`` rays or more, of different directions.

        With biases these are the rays that the linear units see, and the stops have to lie on them.
        """
        if self.rays.shape[-1] < fewest:
            return self.cost() < 0
        if self.biases is None:
            return distinct_rays(self.rays, self.spine)
        linear = self.points()[..., self.kinked[-1] :, :]
        rays = linear[..., 1 : 1 + self.rays.shape[-1]] - linear[..., :1]
        return distinct_rays(rays) & self.shows_its_stops()

    def network(self, repeats: int, size: Array) -> Network:
        """The repeated loop as a network, the identity on a piece of the star.

        The piece consists of the points t u_j + s v with 0 ≤ t ≤ size and |s| ≤ size, for ``size``
        > 0 of shape (*B); with biases, of ``size`` times the arcs. The loop has to close. The depth
        is M·repeats + 2. The weights do not depend on the size; the biases are proportional to it.
        """
        weights, biases = [], []
        ends = size[..., None, None] * self.points()
        # The first layer makes all units positive, where σ_a is the identity; the layers of the
        # loop make the linear units positive.
        n = self.rays.shape[-2]
        before = first = torch.relu(-ends).sum(-1)
        for _ in range(repeats):
            u = ends
            for index, (W, kinked) in enumerate(zip(self.weights, self.kinked, strict=True)):
                own = 0 * (W @ before.unsqueeze(-1)).squeeze(-1)
                if self.biases is not None:
                    own = size.unsqueeze(-1) * self.biases[index]
                z = W @ u + own.unsqueeze(-1)
                linear = torch.arange(z.shape[-2], device=z.device) >= kinked
                shift = torch.where(linear, torch.relu(-z).sum(-1), 0 * z[..., 0])
                weights.append(W)
                biases.append(own + shift - (W @ before.unsqueeze(-1)).squeeze(-1))
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
