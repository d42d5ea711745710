r"""Daniely's network of depth three for a Lipschitz function of the inner product of unit vectors.

For $f: [-1, 1] \to \mathbb R$ with Lipschitz constant L, and $x, x' \in S^{d-1}$,

$$\langle x, x' \rangle = \sum_{i=1}^d \tfrac12 (x_i + x'_i)^2 - 1 .$$

*Depth two.* $q(t) = t^2/2$ is 2-Lipschitz on [-2, 2]. Its approximator $N_q$ with error δ/d
(:mod:`rankcheck.theory.witnesses.lipschitz` with R = L = 2) has at most 8d/δ units, so

$$N_i(x, x') = \sum_i N_q(x_i + x'_i) - 1$$

has error at most δ on $S^{d-1} \times S^{d-1}$ and width at most $8d^2/\delta$.

*Depth three.* With δ = ε/(2L) the width of N_i is at most $16 d^2 L/\varepsilon$. Let $N_f$
approximate f on [-1, 1] with error ε/2: at most 4L/ε units. Then $N_F = N_f \circ N_i$ (the last
map of N_i merged with the first of N_f) satisfies

$$|N_F - f(\langle x, x' \rangle)| \le L\,|N_i - \langle x, x' \rangle| + \varepsilon/2
  \le \varepsilon .$$

The values of N_i may lie outside [-1, 1], but N_f is L-Lipschitz on all of R, so the first step
holds there too.

*Weights.* Layer 1: entries 0, ±1, biases in [-2, 0]. Layer 2: entries ±γ with |γ| at most 4 (chords
of q have slopes at most 2), biases ±1 + β with β in [-1, 0], so at most 2. Layer 3: entries at most
2L, bias f(0). All of them are at most max(4, 2L, |f(0)|).

Source: T. Kocák, *Depth separation for neural networks* (slides, 2019), "Inner product
approximation" and "Inner product function approximation", after A. Daniely, COLT 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import torch

from rankcheck.theory.linalg import Array, Number, eye
from rankcheck.theory.networks.network import Network
from rankcheck.theory.scalars import scalar
from rankcheck.theory.witnesses.lipschitz import cells_needed, interpolate


def inner_product_cells(d: int, error: Number) -> int:
    """The cells of N_q on either side of 0 for a network N_i of the given error.

    Raises ValueError unless d >= 1 and the error is > 0.
    """
    if d < 1:
        raise ValueError(f"received d = {d}; the sphere S^(d-1) has d >= 1")
    return cells_needed(2, 2, Fraction(error) / d)


def inner_product_network(d: int, cells: int, like: Array) -> Network:
    """N_i ≈ ⟨x, x'⟩ as a ReLU network of depth two and widths (2d, 2·d·cells, 1), without batch.

    Its input is (x, x') as one vector; ``like`` is an array that gives the kind of number and the
    device. The error is at most d·h²/8 with h = 2/cells: N_q is the chord of a parabola of
    curvature 1.
    """
    q = interpolate(lambda t: t * t / 2, scalar(2, like), cells)
    units = q.width
    both = torch.cat((eye(d, like), eye(d, like)), -1)
    first = (both.unsqueeze(1) * q.alpha.unsqueeze(-1)).reshape(d * units, 2 * d)
    ones = like.new_ones((d, 1))
    return Network(
        (first, (ones * q.gamma).reshape(1, d * units)),
        ((ones * q.beta).reshape(d * units), (d * q.offset - 1).reshape(1)),
    )


@dataclass(frozen=True, eq=False)
class DepthThree:
    """N_F = outer ∘ inner: N_i on (x, x'), widths (2d, m_1, 1), then N_f, widths (1, m_2, 1).

    ``outer`` may have batch axes *B, one function f for each; ``inner`` has none.
    """

    inner: Network
    outer: Network

    def network(self) -> Network:
        """N_F as one network of depth three, widths (2d, m_1, m_2, 1), batch axes *B.

        Its middle matrix has m_1·m_2 entries and rank one, so calling the pair is cheaper.
        """
        batch = self.outer.batch
        inner = self.inner.map_arrays(lambda a: a.expand(*batch, *a.shape))
        return self.outer.merged_after(inner)

    def __call__(self, x: Array, other: Array) -> Array:
        """N_F(x, x'), shape (*B, P), for P pairs, (P, d) each, the same for all functions."""
        t = self.inner(torch.cat((x, other), -1))
        return self.outer(t.expand(*self.outer.batch, *t.shape)).squeeze(-1)


def depth_three(
    f: Callable[[Array], Array], d: int, inner_cells: int, outer_cells: int, radius: Array
) -> DepthThree:
    """N_F ≈ f(⟨x, x'⟩), with error at most ε for `depth_three_cells(L, d, ε)` cells or more.

    f maps points (*B, P) to values (*B, P); ``radius`` is an array of ones of shape (*B), the batch
    axes of f.
    """
    return DepthThree(
        inner_product_network(d, inner_cells, radius),
        interpolate(f, radius, outer_cells).network(),
    )


def depth_three_cells(lipschitz: Number, d: int, error: Number) -> tuple[int, int]:
    """The cells (of N_q, of N_f) on either side of 0: widths 2d·first <= 16d²L/ε, 2·second <= 4L/ε.

    Raises ValueError unless L > 0, d >= 1 and the error is > 0.
    """
    L, eps = Fraction(lipschitz), Fraction(error)
    if L <= 0:
        raise ValueError(f"received the Lipschitz constant {lipschitz}; it is > 0")
    return inner_product_cells(d, eps / (2 * L)), cells_needed(1, L, eps / 2)


def largest_parameter(net: Network) -> Array:
    """The largest absolute value of a weight or a bias, shape (*B)."""
    largest = 0 * net.biases[-1].sum(-1)
    for W, b in zip(net.weights, net.biases, strict=True):
        if 0 not in W.shape:
            largest = torch.maximum(largest, W.abs().amax((-2, -1)))
            largest = torch.maximum(largest, b.abs().amax(-1))
    return largest


def pair_with_sum(s: Array, u: Array) -> tuple[Array, Array]:
    r"""Unit vectors x, x' with x + x' = s, for |s| <= 2: $s/2 \pm w$, w orthogonal to s.

    w has the direction of the part of u orthogonal to s and the norm $\sqrt{1 - |s|^2/4}$; u must
    not be parallel to s. ⟨x, x'⟩ = |s|²/2 - 1. Shapes (*, d), d >= 2.
    """
    square = (s * s).sum(-1, keepdim=True)
    along = (s * u).sum(-1, keepdim=True) / torch.where(square > 0, square, 1 + 0 * square)
    w = u - along * s
    # |s|² may be rounded to more than 4 where |s| = 2.
    w = w * torch.sqrt(torch.relu(1 - square / 4) / (w * w).sum(-1, keepdim=True))
    return s / 2 + w, s / 2 - w
