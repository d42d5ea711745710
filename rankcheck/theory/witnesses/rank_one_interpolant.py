r"""A function through $\mathbb R^1$ that fits any N points with distinct inputs.

*To a line.* $g(x) = \langle u, x \rangle - \min_i \langle u, x_i \rangle$ for a direction u with
$\langle u, x_i \rangle$ distinct. Of any $(n-1)N(N-1)/2 + 1$ of the vectors
$u_t = (1, t, t^2, \dots, t^{n-1})$ one has this property, as each difference $x_i - x_j \ne 0$ is
orthogonal to at most n − 1 of them. g has depth 1, and $g \ge 0$ on the convex hull of the inputs.

*From the line.* With $0 = \tau_1 < \dots < \tau_N$ the values of g, $y_1, \dots, y_N$ in that
order, slopes $s_k = (y_{k+1} - y_k)/(\tau_{k+1} - \tau_k)$ and $s_0 = s_N = 0$,

$$h(\tau) = y_1 + \sum_{k=1}^N \frac{s_k - s_{k-1}}{1 - a}\,
  \bigl(\sigma_a(\tau - \tau_k) + a\,\tau_k\bigr)$$

is linear between the knots and constant outside them: the slope of σ_a jumps by 1 − a, and left of
all knots the slopes cancel, as $\sum_k (s_k - s_{k-1}) = 0$. h has depth 2, and any slope a.

So f = h∘g is a network of depth 2, the seam merged, or of any depth L ≥ 3 with identity layers
(:mod:`rankcheck.witnesses.identity_layers`, with lower bound 0). On the hull its Jacobians are the
$s_k u^\top$.

Used by rank.rank-one-interpolant and rank.travelling-salesman. Source: A. Jacot, *Implicit bias of
large depth networks*, Proposition 2/8, Theorem 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import torch

from rankcheck.theory.linalg import Array, Number
from rankcheck.theory.networks.network import Network
from rankcheck.theory.witnesses.deepen import matrix_slope


@dataclass(frozen=True, eq=False)
class RankOneInterpolant:
    """f = h∘g through R¹ with f(x_i) = y_i.

    Attributes:
        g: (*B) networks R^n → R of depth 1, ≥ 0 on the convex hull of the inputs.
        h: (*B) networks R → R^m of depth 2.
        knots: (*B, N), the values g(x_i), ascending from 0.
        slopes: (*B, N − 1, m), the slopes of h between the knots.
    """

    g: Network
    h: Network
    knots: Array
    slopes: Array

    def network(self) -> Network:
        """f as one network of depth 2: the two affine maps at the seam are merged."""
        return self.h.merged_after(self.g)

    def jacobians(self) -> Array:
        """Every value of Jf inside the convex hull of the inputs, shape (*B, N − 1, m, n)."""
        return self.slopes.unsqueeze(-1) * self.g.weights[0].unsqueeze(-3)


def rank_one_interpolant(
    x: Array, y: Array, slope: Number | Array = 0, direction: Array | None = None
) -> RankOneInterpolant:
    """An interpolant of the points (x_i, y_i) of bottleneck rank 1, for distinct inputs x_i.

    Args:
        x: (*B, N, n), the inputs.
        y: (*B, N, m), the outputs.
        slope: of the activation.
        direction: u, (*B, n), by default that of :func:`separating_direction`. The projections
            ⟨u, x_i⟩ have to be distinct (not checked; equal ones give slopes of nan).

    Raises ValueError for shapes that do not fit.
    """
    if x.ndim < 2 or y.ndim != x.ndim or x.shape[:-1] != y.shape[:-1] or x.shape[-2] == 0:
        raise ValueError(
            f"received inputs and outputs of shapes {tuple(x.shape)} and {tuple(y.shape)}; "
            "the shapes are (*B, N, n) and (*B, N, m) with N >= 1"
        )
    u = separating_direction(x) if direction is None else direction
    line = (x @ u.unsqueeze(-1)).squeeze(-1)
    order = line.argsort(-1)
    line = line.gather(-1, order)
    values = y.gather(-2, order.unsqueeze(-1).expand(y.shape))
    first, knots = line[..., :1], line - line[..., :1]
    rises = values[..., 1:, :] - values[..., :-1, :]
    slopes = rises / (knots[..., 1:] - knots[..., :-1]).unsqueeze(-1)
    flat = values.new_zeros((*values.shape[:-2], 1, values.shape[-1]))
    kinks = torch.cat((slopes, flat), -2) - torch.cat((flat, slopes), -2)
    a = matrix_slope(slope, x)
    outgoing = kinks.mT / (1 - a)
    bias = values[..., 0, :] + (a * (outgoing @ knots.unsqueeze(-1))).squeeze(-1)
    ones = x.new_ones((*knots.shape, 1))
    return RankOneInterpolant(
        g=Network((u.unsqueeze(-2),), (-first,), slope),
        h=Network((ones, outgoing), (-knots, bias), slope),
        knots=knots,
        slopes=slopes,
    )


def separating_direction(x: Array) -> Array:
    """The u_t, shape (*B, n), whose projections of the inputs (*B, N, n) lie furthest apart.

    It has the largest min_{i<j} ⟨u, x_i − x_j⟩² / ‖u‖² among the first (n−1)N(N−1)/2 + 1 of
    t = 0, 1, −1, 2, ..., of which one separates any N distinct points. Ties go to the first.
    """
    *_, N, n = x.shape
    count = (n - 1) * N * (N - 1) // 2 + 1
    candidates = torch.tensor(
        [[_alternating(k) ** power for power in range(n)] for k in range(count)],
        dtype=torch.float64,
        device=x.device,
    )
    pairs = list(combinations(range(N), 2))
    if not pairs:
        return x.new_zeros((*x.shape[:-2], n)) + candidates[0]
    line = x @ candidates.mT
    distances = line[..., [i for i, _ in pairs], :] - line[..., [j for _, j in pairs], :]
    scores = (distances * distances).amin(-2) / (candidates * candidates).sum(-1)
    # An index without axes would be read as a number, which torch.func.grad does not do in a map.
    best = candidates[scores.argmax(-1).unsqueeze(-1)].squeeze(-2)
    return x.new_zeros((*x.shape[:-2], n)) + best


def _alternating(k: int) -> int:
    """The k-th of 0, 1, −1, 2, −2, ..."""
    return (k + 1) // 2 if k % 2 else -(k // 2)
