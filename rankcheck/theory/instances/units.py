r"""Two-layer functions h(x) = Σ_k a_k [w_k·x + b_k]_+: units with scales, and units with points.

W (K, D), b and a (K); the rows of D_aW are a_k w_k. Everything is a rational function of
what is drawn, so that ranks, laws and hypotheses are exact on balls.
"""

from __future__ import annotations

from typing import Any

import torch

from rankcheck.theory import linalg
from rankcheck.theory.instances.matrices import (
    away_from_zero,
    matrix,
    positive,
    semi_orthogonal,
    signs,
)
from rankcheck.theory.instances.networks import Range
from rankcheck.theory.instances.promises import Promise, inside, promises, same
from rankcheck.theory.instances.source import Source, instances
from rankcheck.theory.separation.legendre import stereographic

#: Depths at which Σ s_i^q with q = 2/(L − 1) is nearly a rank.
DEEP = (200, 256)


def law(source: Source, n: int, *, everywhere: bool = False) -> Any:
    """Probabilities of n points, (n): squares of rationals that sum to 1.

    With `everywhere` each is at least (2.5/(1 + 16(n − 1)))²; otherwise some may be zero.
    """
    if n == 1:
        return source.tensor(1, low=0.0, high=1.0) * 0 + 1
    low, high = (1.25, 4.0) if everywhere else (-3.0, 3.0)
    root = stereographic(source.tensor(n - 1, low=low, high=high))
    return root * root


def depth(source: Source, shallow: Range = (2, 8)) -> int:
    """A depth L ≥ 2: one of the range `shallow`, or more rarely one of `DEEP`."""
    return source.choice((*range(shallow[0], shallow[1] + 1), *DEEP))


# Promises of generators whose instances begin with the rows W and the points x

UNITS = Promise("their number is in the range", lambda o, W, *_: inside(o.units, W.shape[-2]))
INPUTS = Promise("their number is in the range", lambda o, W, *_: inside(o.inputs, W.shape[-1]))
LAW = Promise(
    "the probabilities are ≥ 0 and sum to 1",
    lambda o, W, b, a, x, p, *_: (p >= 0) & same(p.sum(-1, keepdim=True), 1),
)
CROSSED = Promise(
    "from the points 1, ..., k − 1 to the others unit k, and no other unit, changes its sign",
    lambda o, W, b, a, x, p, *_: _crossed_in_order(_values(W, b, x)),
)


def _positive(L: int, scales: Any) -> Any:
    return (scales > 0) & (L >= 2)


def _values(W: Any, b: Any, x: Any) -> Any:
    """w_k·x_j + b_k, (N, K)."""
    return x @ W.mT + b.unsqueeze(-2)


def _crossed_in_order(z: Any) -> Any:
    """Whether the sign of column k is one up to row k, and the other from row k + 1 on."""
    points, units = torch.arange(z.shape[-2]), torch.arange(z.shape[-1])
    before = points[:, None] <= units
    first = (z[..., :1, :] > 0).expand(*z.shape)
    return (z != 0) & ((z > 0) == torch.where(before.to(first.device), first, ~first))


def _sum_of(z: Any, a: Any) -> Any:
    """h at the points, (N)."""
    return (torch.relu(z) * a.unsqueeze(-2)).sum(-1)


def _is_constant(values: Any) -> Any:
    return same(values, values[..., :1])


# Units with scales


@instances
@promises(
    Promise("λ > 0 and L ≥ 2", lambda o, W, a, L, scales: _positive(L, scales)),
    units=UNITS,
    inputs=INPUTS,
    depths=Promise("L is in the range", lambda o, W, a, L, scales: inside(o.depths, L)),
)
def units_with_scales(
    source: Source, *, units: Range = (1, 5), inputs: Range = (1, 4), depths: Range = (2, 8)
) -> tuple[Any, Any, int, Any]:
    """Weights W (K × D), outer weights a (K), a depth L ≥ 2, and λ > 0 (K)."""
    K, D = source.integer(*units), source.integer(*inputs)
    W, a = matrix(source, K, D), source.tensor(K)
    return W, a, source.integer(*depths), positive(source, K)


@instances
@promises(
    Promise(
        "⟨w_i, w_j⟩ = λ_i^{2L} for i = j, and 0 otherwise",
        lambda o, W, a, L, t: same(W @ W.mT, torch.diag_embed(t ** (2 * L))),
    ),
    Promise("a = 1, λ > 0", lambda o, W, a, L, t: (a == 1) & (t > 0)),
)
def orthogonal_units(source: Source) -> tuple[Any, Any, int, Any]:
    """Orthogonal rows w_k of length t_k^L, a_k = 1, and λ_k = t_k: the least Φ_L for these rows.

    Half of the time all t_k are one; then the upper end of the sandwich is attained as well.
    """
    K = source.integer(1, 4)
    D = source.integer(K, 4)
    L = source.integer(2, 6)
    t = positive(source, K, low=0.5, high=2.0)
    if source.integer(0, 1) == 1:
        t = 0 * t + 1
    rows = semi_orthogonal(source, D, K).mT
    return t.unsqueeze(-1) ** L * rows, 0 * t + 1, L, t


@instances
@promises(
    Promise(
        "w_k/λ_k² is the same for all k",
        lambda o, W, a, L, t: same(
            W / (t * t).unsqueeze(-1), (W / (t * t).unsqueeze(-1))[..., :1, :]
        ),
    ),
    Promise("a_k = ±1, λ > 0", lambda o, W, a, L, t: (a * a == 1) & (t > 0)),
)
def parallel_units(source: Source) -> tuple[Any, Any, int, Any]:
    """Rows w_k = t_k² v of one direction, a_k = ±1, and λ_k = t_k: the scales of the path norm."""
    K, D = source.integer(1, 4), source.integer(1, 4)
    L = source.integer(2, 8)
    t = positive(source, K, low=0.5, high=2.0)
    v = away_from_zero(source, D)
    a = signs(source, K)
    return (t * t).unsqueeze(-1) * v.unsqueeze(-2), a, L, t


# Units with points


@instances
@promises(
    LAW,
    Promise("λ > 0 and L ≥ 2", lambda o, W, b, a, x, p, L, scales: _positive(L, scales)),
    units=UNITS,
    inputs=INPUTS,
    points=Promise(
        "their number is in the range", lambda o, W, b, a, x, *_: inside(o.points, x.shape[-2])
    ),
)
def units_at_points(
    source: Source, *, units: Range = (1, 5), inputs: Range = (1, 4), points: Range = (1, 5)
) -> tuple[Any, Any, Any, Any, Any, int, Any]:
    """W, b, a; points x (N × D) of probabilities p (N); a depth L ≥ 2, and λ > 0 (K).

    At a kink the Jacobian of `Network` is the one-sided derivative for which the unit is active.
    """
    K, D, N = source.integer(*units), source.integer(*inputs), source.integer(*points)
    W, b, a = matrix(source, K, D), source.tensor(K), source.tensor(K)
    x, p = source.tensor(N, D), law(source, N)
    return W, b, a, x, p, depth(source), positive(source, K)


@instances
@promises(
    LAW,
    Promise("every unit is active at every point", lambda o, W, b, a, x, *_: _values(W, b, x) > 0),
    Promise(
        "w_k/λ_k² is the same for all k",
        lambda o, W, b, a, x, p, L, t: same(
            W / (t * t).unsqueeze(-1), (W / (t * t).unsqueeze(-1))[..., :1, :]
        ),
    ),
    Promise("a = 1", lambda o, W, b, a, *_: a == 1),
)
def aligned_units_at_points(source: Source) -> tuple[Any, Any, Any, Any, Any, int, Any]:
    """Parallel units of one sign, all active at every point, at the scales of the path norm.

    The gradient is v Σ t_k² everywhere: index rank one, and every cost is that of one unit.
    """
    W, _, L, t = parallel_units().build(source)
    N = source.integer(1, 3)
    x, p = source.tensor(N, W.shape[-1]), law(source, N)
    least = (x @ W.mT).amin(-2)
    return W, 1 - least, 0 * t + 1, x, p, L, t


def separate_units(source: Source, *, least: int = 1) -> tuple[Any, Any, Any, Any, Any, Any]:
    """K orthonormal units, the k-th active at the k-th point alone: W, b, a, x, p, t.

    The k-th point has mass u_k² and ∇f(x_k) = a_k w_k with a_k = t/u_k, so that C_f^{1/2} has K
    equal singular values t. K is at least `least`.
    """
    K = source.integer(least, 4)
    D = source.integer(K, 4)
    rows = semi_orthogonal(source, D, K).mT
    t = positive(source, 1, low=0.5, high=2.0)
    u = 0 * t + 1 if K == 1 else stereographic(source.tensor(K - 1, low=1.25, high=2.0))
    # w_k·x_j = 1 for j = k and 0 otherwise
    return rows, 0 * u - 0.5, t / u, rows, u * u, t


@instances
@promises(
    LAW,
    Promise(
        "unit k is active at point k, and at no other",
        lambda o, W, b, a, x, *_: (
            (_values(W, b, x) != 0)
            & ((_values(W, b, x) > 0) == torch.eye(W.shape[-2], dtype=torch.bool))
        ),
    ),
    Promise("there are two units or more", lambda o, W, *_: W.shape[-2] >= 2),
    Promise("λ = 1", lambda o, W, b, a, x, p, L, scales: scales == 1),
)
def separate_units_at_points(source: Source) -> tuple[Any, Any, Any, Any, Any, int, Any]:
    """Two or more separate units, a large depth, uniform λ: MV(h; q)^{2/L} is nearly the cost."""
    W, b, a, x, p, _ = separate_units(source, least=2)
    return W, b, a, x, p, source.choice(DEEP), 0 * b + 1


@instances
@promises(
    LAW,
    CROSSED,
    units=UNITS,
    inputs=INPUTS,
    full_rank=Promise(
        "if True, rank W = min(K, D)",
        lambda o, W, *_: not o.full_rank or linalg.rank(W) == min(W.shape[-2:]),
    ),
)
def units_on_a_line(
    source: Source, *, units: Range = (1, 4), inputs: Range = (1, 4), full_rank: bool = False
) -> tuple[Any, Any, Any, Any, Any]:
    """Units with distinct hyperplanes, and a law on points between them: W, b, a, x, p.

    Finitely many distinct hyperplanes are crossed by some line at distinct points; here it is the
    first coordinate axis. Unit k bends at τ_1 < ... < τ_K (w_k1 ≠ 0, b_k = −w_k1 τ_k), and x holds
    the K + 1 points (ξ, 0, ..., 0) with ξ below, between and above the τ_k, each of positive mass.
    So ∇f(x_k) − ∇f(x_{k−1}) = ±a_k w_k. The a_k and the factors of W are multiples of 1/64, so that
    floats decide the ranks. A bound of the rank of W is drawn first, and the rank is smaller where
    the drawn entries are degenerate. With `full_rank` it is min(K, D): where it would be smaller,
    the rows are e_k, with the same w_k1.
    """
    rank = 1 if full_rank else source.integer(1, min(units[1], inputs[1]))
    K, D = (
        source.integer(max(units[0], rank), units[1]),
        source.integer(max(inputs[0], rank), inputs[1]),
    )
    rank = min(K, D) if full_rank else rank
    W, a = crossing_rows(source, K, D, rank), _in_steps(source.tensor(K))
    if full_rank:
        simple = torch.where(
            torch.arange(D, device=W.device) == 0, W, linalg.eye(max(K, D), like=W)[:K, :D]
        )
        W = torch.where((linalg.rank(W) < rank)[..., None, None], simple, W)
    bends = breakpoints(source, K)
    x = on_the_line(between(bends), D)
    return W, -W[..., 0] * bends, a, x, law(source, K + 1, everywhere=True)


@instances
@promises(
    LAW,
    Promise("λ > 0 and L ≥ 2", lambda o, W, b, a, x, p, L, scales: _positive(L, scales)),
    least=Promise(
        "there are so many units, inputs and points, or more",
        lambda o, W, b, a, x, *_: min(*W.shape[-2:], x.shape[-2]) >= o.least,
    ),
)
def functions_of_any_rank(
    source: Source, *, least: int = 1
) -> tuple[Any, Any, Any, Any, Any, int, Any]:
    """`units_at_points` in a third of the draws, `units_on_a_line` with L and λ in the others.

    At least `least` units, inputs and points.
    """
    if source.integer(0, 2) == 0:
        units, inputs, points = (least, 5), (least, 4), (least, 5)
        return units_at_points(units=units, inputs=inputs, points=points).build(source)
    W, b, a, x, p = units_on_a_line(units=(least, 4), inputs=(least, 4)).build(source)
    return W, b, a, x, p, depth(source), positive(source, W.shape[-2])


@instances
@promises(
    LAW,
    CROSSED,
    Promise(
        "the two functions differ by the same number at all points",
        lambda o, W, b, a, x, p, V, d, e: _is_constant(
            _sum_of(_values(W, b, x), a) - _sum_of(_values(V, d, x), e)
        ),
    ),
    units=UNITS,
    inputs=INPUTS,
)
def two_networks_on_a_line(
    source: Source, *, units: Range = (1, 3), inputs: Range = (1, 4)
) -> tuple[Any, Any, Any, Any, Any, Any, Any, Any]:
    """W, b, a, x, p of `units_on_a_line`, and V, d, e: another network for the same function + c.

    In a third of the draws each V, d, e is the same network; has one unit split into two, and two
    more that cancel; or has four more, whose linear parts cancel. The rows of those are drawn, so
    that the rank of D_eV is often larger than that of D_aW.
    """
    W, b, a, x, p = units_on_a_line(units=units, inputs=inputs).build(source)
    kind = source.choice(("the same", "units that cancel", "linear parts that cancel"))
    if kind == "the same":
        return W, b, a, x, p, W, b, a
    u, c = source.tensor(1, W.shape[-1], low=-2.0, high=2.0), away_from_zero(source, 1)
    beta = source.tensor(1)
    rows: tuple[Any, ...]
    biases: tuple[Any, ...]
    if kind == "units that cancel":
        rows, biases = (W[..., :1, :], u, u), (b[..., :1], beta, beta)
        outer = (1.875 * a[..., :1], a[..., 1:], -0.875 * a[..., :1], c, -c)
    else:
        # c(u·x + β) − c(u·x + β + 1) = −c
        rows, biases = (u, -u, u, -u), (beta, -beta, beta + 1, -beta - 1)
        outer = (a, c, -c, -c, c)
    V, d = torch.cat((W, *rows), -2), torch.cat((b, *biases), -1)
    return W, b, a, x, p, V, d, torch.cat([part for part in outer if part.shape[-1]], -1)


def crossing_rows(source: Source, K: int, D: int, rank: int) -> Any:
    """K rows w_k in R^D with |w_k1| ≥ 1/8, of at most this rank.

    The product of a K × rank and a rank × D matrix; the first column of the latter is e_1.
    """
    left, right = away_from_zero(source, K, 1), away_from_zero(source, 1, 1) * 0 + 1
    if rank > 1:
        left = torch.cat((left, source.tensor(K, rank - 1, low=-2.0, high=2.0)), -1)
        right = torch.cat((right, right.new_zeros((rank - 1, 1))), -2)
    if D > 1:
        right = torch.cat((right, source.tensor(rank, D - 1, low=-2.0, high=2.0)), -1)
    return _in_steps(left) @ _in_steps(right)


def _in_steps(entries: Any) -> Any:
    """The entries, rounded to multiples of 1/64."""
    return (64 * entries).round() / 64


def breakpoints(source: Source, K: int) -> Any:
    """τ_1 < ... < τ_K with gaps of at least 1/8, (K)."""
    first = source.tensor(1, low=-4.0, high=4.0)
    if K == 1:
        return first
    gaps = positive(source, K - 1, high=2.0)
    return torch.cat((first, first + gaps.cumsum(-1)), -1)


def between(bends: Any) -> Any:
    """A number below, between each two of, and above the breakpoints: (K) to (K + 1)."""
    below, above = bends[..., :1] - 1, bends[..., -1:] + 1
    return torch.cat((below, (bends[..., 1:] + bends[..., :-1]) / 2, above), -1)


def on_the_line(positions: Any, D: int) -> Any:
    """The points (ξ, 0, ..., 0) of R^D: (N) to (N, D)."""
    if D == 1:
        return positions.unsqueeze(-1)
    rest = positions.new_zeros((*positions.shape, D - 1))
    return torch.cat((positions.unsqueeze(-1), rest), -1)
