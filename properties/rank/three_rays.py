"""Three rays from one point cost 3/∛4 a layer: the infinite-depth cost is no integer.

New here, as far as we know; it decides Remark 4 of `rank` and the remark after its Theorem 1.
"""

from fractions import Fraction
from typing import Any

import torch

from rankcheck import (
    Erratum,
    bound,
    construction,
    costs,
    eq,
    leq,
    linalg,
    lt,
    paper,
    refuted,
    witnesses,
)
from rankcheck.instances import (
    Source,
    bent_loops,
    instances,
    loops,
    orthogonal,
    positive,
    slope,
    slope_in_range,
)

CUBE = Fraction(27, 4)
"""The cube of 3/∛4 = 1.88988…"""


@instances
def layers_at_three_rays(source: Source, *, steep: bool = False):
    """Three rays anywhere or near a plane, W, how many units have a kink, and the slope."""
    n, m = source.integer(1, 3), source.integer(1, 4)
    rays = source.tensor(n, 3, low=-4.0, high=4.0)
    flat = source.choice((1.0, 0.125))
    rays = torch.cat((rays[:-1], flat * rays[-1:]))
    W = source.tensor(m, n, low=-2.0, high=2.0)
    a = slope_in_range(source, low=1.5, high=4.0) if steep else slope(source)
    return rays, W, source.integer(0, m), a


def stretched_chain(source: Source, layers: int) -> tuple[Any, list[Any]]:
    """Two opposite rays and one across, and layers that stretch their axis by √2, all of one size."""
    axes = torch.tensor([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]], dtype=torch.float64)
    double = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    turn, size = orthogonal(source, 2), positive(source, 1, 1)
    rays = turn @ axes * positive(source, 3)
    weights = []
    for layer in range(layers):
        stretch = double if layer % 2 == 0 else double.mT
        onward = orthogonal(source, len(stretch))
        weights.append(size * onward @ stretch @ turn.mT)
        turn = onward
    return rays, weights


@instances
def stretched_axes(source: Source):
    """Two opposite rays and one across, and a linear layer that stretches their axis by √2."""
    rays, (W,) = stretched_chain(source, 1)
    return rays, W, 0, slope(source)


@bound(
    "rank.three-rays-at-a-layer",
    paper("rankcheck", "docs/proofs/three-rays.md, Theorem 1"),
    instances=layers_at_three_rays(),
    tight=stretched_axes(),
    needs={"|a| ≤ 1": layers_at_three_rays(steep=True)},
    mutants={"7 for 27/4": {"cube": 7}, "angles beyond 90° as they are": {"obtuse": True}},
)
def test_three_rays_at_a_layer(rays, W, kinked, a, *, cube=CUBE, obtuse=False):
    r"""A layer that makes room for three rays has large weights.

    Let $\Phi(p, q, r)$ be the least $|p|^2 d(q)^2 d(r)^2$ over the three rays as $p$, with the
    distances $d$ from the ray of $p$. For each layer, in which a unit is linear or has the activation
    $\sigma_a$ with $|a| \le 1$,
    $$\|W\|_F^6 \, \Phi(p, q, r) \ge \tfrac{27}4 \, \Phi(\sigma(Wp), \sigma(Wq), \sigma(Wr)) .$$
    """
    power = linalg.frobenius_squared(W) ** 3
    right = power * costs.room_of_three_rays(rays, obtuse=obtuse)
    after = costs.room_of_three_rays(witnesses.activate(W @ rays, kinked, a), obtuse=obtuse)
    size = power * (rays * rays).sum(0).prod()
    return leq(linalg.scalar(cube, right) * after, right, scale=size)


@instances
def loops_of_three_rays(source: Source):
    """Loops around three rays, anywhere or near planar ones; some do not close."""
    return source.choice((loops(rays=(3, 3)), bent_loops(rays=(3, 3))))(source)


@instances
def steep_loops(source: Source):
    """Two kinked layers of slope 3/2 to 4 around three rays."""
    rays, W, kinked, _ = layers_at_three_rays()(source)
    a = slope_in_range(source, low=1.5, high=4.0)
    again = source.tensor(len(rays), len(W), low=-2.0, high=2.0)
    return witnesses.Loop(rays, rays[:, :0], (W, again), (kinked, len(rays)), a)


@instances
def stretched_axes_again(source: Source):
    """Two opposite rays and one across, and two or four layers that stretch their axis by √2."""
    rays, weights = stretched_chain(source, source.choice((2, 4)))
    return witnesses.Loop(rays, rays[:, :0], tuple(weights), (0,) * len(weights), slope(source))


@bound(
    "rank.three-rays",
    paper("rankcheck", "docs/proofs/three-rays.md, Theorem 2"),
    instances=loops_of_three_rays(),
    tight=stretched_axes_again(),
    needs={"|a| ≤ 1": steep_loops()},
    mutants={"7 for 27/4": {"cube": 7}},
    loose={"around three rays": "attained in the limit of long loops only"},
)
def test_three_rays(loop, *, cube=CUBE):
    r"""Every network that is the identity on three segments costs 3/∛4 a layer, or more.

    $\bigl(\tfrac1L \sum_\ell \|W_\ell\|_F^2\bigr)^{3L} \, \Phi(p, q, r) \ge
    \bigl(\tfrac{27}4\bigr)^L \, \Phi(p_L, q_L, r_L)$ for layers that take the rays $p, q, r$ to
    $p_L, q_L, r_L$, with $\Phi$ as in rank.three-rays-at-a-layer. If a network is the identity on three
    segments that meet in one point, its derivatives there are layers that take three rays back to
    themselves. So it costs $\|\theta\|^2 \ge 3L/\sqrt[3]4 = 1.88988\ldots L$, whatever its depth, its
    width and its slope.

    Checked for layers without biases, also those that do not lead back. rank.loops-below-two is as
    cheap in the limit, so $R_\infty = 3/\sqrt[3]4$ for the identity on three segments. This is no
    integer: property 1 of a rank, of which the text after Theorem 1 leaves open whether $R_\infty$
    has it, is false. Proof: docs/proofs/three-rays.md.
    """
    L, mean = loop.length, loop.cost() / loop.length
    power = mean ** (3 * L)
    right = power * costs.room_of_three_rays(loop.rays)
    after = costs.room_of_three_rays(loop.around(loop.rays))
    left = linalg.scalar(Fraction(cube) ** L, right) * after
    size = power * (loop.rays * loop.rays).sum(0).prod()
    closed = loop.closes() & loop.shows_a_star(3)
    return (
        leq(left, right, scale=size, label="on the way"),
        leq(linalg.scalar(cube, mean), mean * mean * mean, where=closed, label="around three rays"),
    )


@instances
def lengths_and_slopes(source: Source):
    """How many layers the phases have, and a slope in [−1/2, 1/2]."""
    return source.choice((0, 2, 19, 24)), slope_in_range(source, low=-0.5, high=0.5)


@instances
def long_loops_more_often(source: Source):
    """The same; of the loops that sweeps and draws take, two of three are long."""
    layers = source.choice((0, 2, 19, 24), weights=(1, 1, 2, 2))
    return layers, slope_in_range(source, low=-0.5, high=0.5)


def without_switches(layers, a):
    """Three times the same phase: two rays grow, and one shrinks."""
    loop = witnesses.switching_loop(layers, a)
    kept = loop.weights[:layers] * 3
    return witnesses.Loop(
        loop.rays, loop.spine, (*kept, loop.weights[0]), (0,) * (3 * layers + 1), a
    )


@construction(
    "rank.loops-below-two",
    paper("rankcheck", "docs/proofs/three-rays.md, Theorem 3"),
    instances=long_loops_more_often(),
    mutants={"no change of places": {"witness": without_switches}},
    witness=witnesses.switching_loop,
    effort=0.2,
)
def test_loops_below_two(layers, a, *, witness=witnesses.switching_loop):
    r"""Loops around three rays that cost less than 2 a layer, for every slope.

    The loop has $M = 3(k + 2)$ layers, takes each point of the three rays back to itself, and costs
    $3k (u^2 + u^{-4}) + 12 + 6 \frac{1 + a^2}{(1 - a^2)^2}$. For $u = 9/8$ this is less than $2M$ once
    $\frac{1 + a^2}{(1 - a^2)^2} < 0.055 k$: for ReLU from $k = 19$, $M = 63$ on, where it is
    $125.725\ldots < 126$. With $u^6 = 2$ and $k \to \infty$ it tends to $3/\sqrt[3]4$ a layer.
    """
    loop = witness(layers, a)
    share = (1 + a * a) / ((1 - a * a) * (1 - a * a))
    cost = 3 * layers * linalg.scalar(Fraction(9, 8) ** 2 + Fraction(8, 9) ** 4, a) + 12 + 6 * share
    size = (1 + 2 * layers) * (1 + share)
    return (
        eq(loop.around(loop.rays), loop.rays, scale=size, label="the rays"),
        eq(loop.cost(), cost, scale=cost, label="the cost"),
        lt(loop.cost(), 2 * loop.length, where=200 * share < 11 * layers),
    )


@refuted(
    "rank.limit-is-bottleneck-rank-as-printed",
    paper("rank", "Remark 4"),
    instances=lengths_and_slopes(),
    errata=Erratum(
        printed=r"we conjecture that $R_\infty(f; \Omega, \sigma_a) = \text{Rank}_{BN}(f; \Omega)$",
        right=r"$R_\infty(f; \Omega, \sigma_a) = 3/\sqrt[3]{4} < 2 = \text{Rank}_{BN}(f; \Omega)$ "
        "for the identity on three segments that meet in one point, and for every slope "
        "(rank.three-rays, rank.loops-below-two). It is a conjecture in print, and not a result.",
        survives="Theorem 1 stands, and the conjecture holds wherever the Jacobian rank is the "
        "bottleneck rank. Four rays or more cost less than 2, too. That the limit does not "
        "depend on the slope, which the remark draws from the conjecture, is true here.",
        weight="formula",
    ),
    readings={
        "for ReLU, or for one slope": "the limit is 3/∛4 for every slope in (−1, 1)",
        "the limit is a lower or an upper limit": "it exists: both bounds are 3/∛4",
        r"$\Omega$ is a domain with interior": "$f$ is the identity after a map of the plane onto the "
        "three segments that keeps their points: its ranks and its limit are the same",
        "biases count": "they cost nothing in the limit (rank.repeated-loops)",
        "for generic functions": "the inequality is strict, and $f$ may be followed and preceded "
        "by bijections",
    },
    corrected_by="rank.three-rays",
)
def test_limit_is_bottleneck_rank_as_printed(layers, a):
    r"""The limiting cost is the bottleneck rank: loops around three rays cost 2 a layer or more.

    $R_\infty(f) = \operatorname{rank}_{BN}(f)$. For the identity on three segments that meet in one
    point, where $\operatorname{rank}_J = 1$ and $\operatorname{rank}_{BN} = 2$, a loop of $M$ layers can
    be repeated (rank.repeated-loops, docs/proofs/repeated-loops.md), so it would say that
    $\sum_\ell \|W_\ell\|_F^2 \ge 2M$ for every loop.
    """
    loop = witnesses.switching_loop(layers, a)
    closed = loop.closes() & loop.shows_a_star(3)
    return leq(2 * loop.length, loop.cost(), where=closed)
