r"""Daniely's approximation of a Lipschitz function by a ReLU network of depth two.

For $f: [-R, R] \to \mathbb R$ with Lipschitz constant L and $\varepsilon > 0$ there is

$$N(x) = f(0) + \sum_{i=1}^m \gamma_i\,\sigma(\alpha_i x + \beta_i)$$

with $\sup_{[-R,R]} |f - N| \le \varepsilon$, N L-Lipschitz on all of R, $m \le 2RL/\varepsilon$,
$\alpha_i = \pm 1$, $|\beta_i| \le R$ and $|\gamma_i| \le 2L$.

*Construction.* Cut [0, R] and [-R, 0] into n equal cells each. On the right let N interpolate f at
the knots $0, R/n, \dots, R$: with $s_i$ the slope of the chord over cell i, the unit that starts at
$t_i = iR/n$, i = 0..n-1, has $\alpha = 1$, $\beta = -t_i$, $\gamma = s_i - s_{i-1}$
($s_{-1} = 0$). On the left take the same for $x \mapsto f(-x)$ with $\alpha = -1$. Units of one
side are zero on the other, and m = 2n.

*Clauses.* Chords of f have slope at most L, so N has slopes at most L everywhere (beyond ±R the
outer chords continue), $|\gamma_i| \le 2L$, and $|\beta_i| = t_i < R$. Over a cell of length h the
chord errs by at most Lh/2: at distance a, b from the ends (a + b = h), f lies between
$\max(f_0 - La, f_1 - Lb)$ and $\min(f_0 + La, f_1 + Lb)$, and with $c = (f_1 - f_0)/h$,
$|c| \le L$, $\min(La - ca, Lb + cb) \le Lh/2 - c^2h/(2L)$ is the most that f can exceed the chord.
The error is at most $\varepsilon$ if $h = R/n \le 2\varepsilon/L$.

*Width.* Let $\rho = RL/\varepsilon$. If $\rho \le 1$, no unit is needed: |f - f(0)| ≤ LR ≤ ε.
Otherwise take $n = \lceil\rho/2\rceil$, so that m = 2⌈ρ/2⌉. For 1 < ρ ≤ 2 this is 2 < 2ρ; for ρ > 2
it is less than 2(ρ/2 + 1) = ρ + 2 < 2ρ. So m ≤ 2ρ always, hence m ≤ ⌊2ρ⌋. Taking ⌈ρ/2⌉ for
ρ < 1 as well would break the bound (ρ = 0.3: 2 units, 0.6 allowed). The proof on the slides has
cells of length ε/L, n = ρ of them on either side, with an error of at most ε/2. This needs a whole
number ρ. For ρ = 7/4, ⌈ρ⌉ cells take 4 units where 3.5 are allowed; beyond ⌊ρ⌋ cells the network
keeps its last slope, and may err by 3ε/2.

Cells are equal, not of length 2ε/L with a shorter one at each end: the shorter cell can be of the
size of rounding, and its slope arbitrarily wrong. If ρ/2 is an integer both are the same.

Source: T. Kocák, *Depth separation for neural networks* (slides, 2019), "Lipschitz function
approximation", after A. Daniely, COLT 2017.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import torch

from rankcheck.theory.linalg import Array, Number
from rankcheck.theory.networks.network import Network
from rankcheck.theory.networks.piecewise_linear import PiecewiseLinear
from rankcheck.theory.scalars import scalar


def cells_needed(radius: Number, lipschitz: Number, error: Number) -> int:
    """The cells n on either side of 0: 0 if ρ = RL/ε <= 1, else ⌈ρ/2⌉; the width is 2n <= 2ρ.

    Exact for the numbers as given (a float is taken as the dyadic rational that it is). Raises
    ValueError unless R > 0, L >= 0 and ε > 0.

    >>> cells_needed(1, 1, 1), cells_needed(1, 3, 1)
    (0, 2)
    """
    ratio = _ratio(radius, lipschitz, error)
    return 0 if ratio <= 1 else math.ceil(ratio / 2)


def _ratio(radius: Number, lipschitz: Number, error: Number) -> Fraction:
    R, L, eps = Fraction(radius), Fraction(lipschitz), Fraction(error)
    if not (R > 0 and L >= 0 and eps > 0):
        raise ValueError(
            f"received R = {radius}, L = {lipschitz}, error = {error}; "
            "the approximator needs R > 0, L >= 0 and an error > 0"
        )
    return R * L / eps


@dataclass(frozen=True, eq=False)
class LipschitzApproximator:
    """N(x) = f(0) + Σ γ_i relu(α_i x + β_i), which approximates an L-Lipschitz f on [-R, R].

    The n units of the right side, starting at 0, h, 2h, ..., come first, then the n of the left.
    :func:`interpolate` makes it from f, and :func:`cells_needed` gives the n for an error ε.

    Attributes:
        offset: f(0), shape (*B).
        alpha, beta, gamma: shape (*B, m), m = 2n.
        knots: the points -R, ..., 0, ..., R at which N equals f, shape (*B, m + 1); only 0 if
            there is no unit.
        radius: R, shape (*B).
    """

    offset: Array
    alpha: Array
    beta: Array
    gamma: Array
    knots: Array
    radius: Array

    @property
    def width(self) -> int:
        """m, the number of units."""
        return self.gamma.shape[-1]

    def __call__(self, x: Array) -> Array:
        """N at P points for each function, shape (*B, P)."""
        z = self.alpha.unsqueeze(-2) * x.unsqueeze(-1) + self.beta.unsqueeze(-2)
        return self.offset.unsqueeze(-1) + (self.gamma.unsqueeze(-2) * torch.relu(z)).sum(-1)

    def network(self) -> Network:
        """The same function as a ReLU network of depth two and widths (1, m, 1)."""
        return Network(
            (self.alpha.unsqueeze(-1), self.gamma.unsqueeze(-2)),
            (self.beta, self.offset.unsqueeze(-1)),
        )

    def slopes(self) -> Array:
        """The slopes of N on R, from left to right, shape (*B, m)."""
        cells = self.width // 2
        right, left = self.gamma[..., :cells], self.gamma[..., cells:]
        return torch.cat((-left.cumsum(-1).flip(-1), right.cumsum(-1)), -1)

    def lipschitz(self) -> Array:
        """The least Lipschitz constant of N on all of R, shape (*B)."""
        if self.width == 0:
            return 0 * self.offset
        return self.slopes().abs().amax(-1)


def interpolate(f: Callable[[Array], Array], radius: Array, cells: int) -> LipschitzApproximator:
    """The network that equals f at the multiples of R/cells in [-R, R], and f(0) if cells = 0.

    f maps points (*B, P) to values (*B, P); ``radius`` is R > 0, of shape (*B). All functions of a
    batch get the same number of units. Raises ValueError if cells < 0.
    """
    if cells < 0:
        raise ValueError(f"received {cells} cells; the number of cells is at least 0")
    grid = radius.new_ones(2 * cells + 1).cumsum(-1) - (cells + 1)
    knots = radius.unsqueeze(-1) * grid / max(cells, 1)
    values = f(knots)
    if cells == 0:
        empty = knots[..., :0]
        return LipschitzApproximator(values[..., 0], empty, empty, empty, knots, radius)
    rises = values[..., 1:] - values[..., :-1]
    slopes = rises * cells / radius.unsqueeze(-1)
    right, left = slopes[..., cells:], -slopes[..., :cells].flip(-1)
    starts = -knots[..., cells:-1]
    ones = torch.ones_like(starts)
    return LipschitzApproximator(
        offset=values[..., cells],
        alpha=torch.cat((ones, -ones), -1),
        beta=torch.cat((starts, starts), -1),
        gamma=torch.cat((_jumps(right), _jumps(left)), -1),
        knots=knots,
        radius=radius,
    )


def interpolate_cells(
    f: Callable[[Array], Array], radius: Array, ratio: Fraction, cells: int
) -> LipschitzApproximator:
    """The network that equals f at the multiples of ε/L up to ±cells·ε/L, for ε/L = R/ρ, ρ = ratio.

    As :func:`interpolate`, with cells of the length ε/L on the slides, which may end before ±R or
    beyond it. Raises ValueError if cells < 0.
    """
    within = interpolate(f, radius * scalar(cells / ratio, radius), cells)
    return replace(within, radius=radius)


def _jumps(slopes: Array) -> Array:
    """s_0, s_1 - s_0, s_2 - s_1, ... along the last axis."""
    return torch.cat((slopes[..., :1], slopes[..., 1:] - slopes[..., :-1]), -1)


def supremum_error(f: PiecewiseLinear, approximation: LipschitzApproximator) -> Array:
    """The supremum of |f - N| over [-R, R], exactly, shape (*B).

    f - N is linear between the breakpoints of both, so the supremum is attained at one of them or
    at ±R.
    """
    R = approximation.radius.unsqueeze(-1)
    # Knots of interpolate_cells may lie beyond ±R, like breakpoints of f.
    inside = [torch.minimum(torch.maximum(k, -R), R) for k in (f.breakpoints, approximation.knots)]
    points = _joined(*inside, -R, R)
    return (f(points) - approximation(points)).abs().amax(-1)


def _joined(*arrays: Array) -> Array:
    """The arrays joined along the last axis, their batch axes broadcast."""
    zero = sum(0 * a[..., :1] for a in arrays)
    return torch.cat([a + zero for a in arrays], -1)
