"""The identity on the whole line with slopes a > 0: docs/proofs/identity-on-the-line.md."""

import torch

from rankcheck import (
    Network,
    conjecture,
    construction,
    eq,
    leq,
    linalg,
    paper,
    tolerances,
    witnesses,
)
from rankcheck.instances import Source, instances, positive, slope_in_range


def keeping(a, t):
    """The 2 × 2 layer that takes (1, −at), (−at, 1) to (1, −t), (−t, 1), which σ_a takes back."""
    tau = a * t
    same, other = 1 - t * tau, tau - t
    return linalg.matrix(((same, other), (other, same))) / (1 - tau * tau)[..., None, None]


def leaky_identity(depth, a, t):
    """Two units with the outer slopes (1, −at), (−at, 1) in all layers but the first."""
    one = 1 + 0 * a
    ends = linalg.matrix(((one,), (-one,)))
    # From (1, −a), (−a, 1), the outer slopes of the two units of the first layer.
    second = keeping(a, t) @ linalg.matrix(((one, -a * t), (-a * t, one)))
    second = second @ linalg.matrix(((one, a), (a, one))) / (1 - a * a)[..., None, None]
    last = ends.mT / (1 + a * t)[..., None, None]
    return Network.linear((ends, second, *[keeping(a, t)] * (depth - 3), last), a)


def without_the_second(depth, a, t):
    """The same with the layer that is repeated in place of the second one."""
    net = leaky_identity(depth, a, t)
    return Network.linear((net.weights[0], keeping(a, t), *net.weights[2:]), a)


@instances
def depths_slopes_and_points(source: Source):
    """A depth, a slope in [1/8, 7/8], t in [1/8, 7/8], and a point of the line."""
    a = slope_in_range(source, low=0.125, high=0.875)
    return source.integer(3, 9), a, source.tensor(low=0.125, high=0.875), source.tensor(1)


@construction(
    "rank.leaky-identity-on-the-line",
    paper("rankcheck", "docs/proofs/identity-on-the-line.md, Other slopes"),
    instances=depths_slopes_and_points(),
    mutants={"no layer between": {"witness": without_the_second}},
)
def test_leaky_identity_on_the_line(depth, a, t, x, *, witness=leaky_identity):
    r"""With a slope above 1/3 the identity of the line costs less than 2 a layer.

    For $0 < a, t < 1$ a network of slope $a$ and any depth $L \ge 3$ is the identity on $\mathbb R$, and
    each layer but three costs
    $c_a(t) = 2\, \frac{(1 - at^2)^2 + t^2 (1 - a)^2}{(1 - a^2t^2)^2}$.

    The least value is $(6a - 1 - a^2)/(4a^2)$ for $a \ge 1/3$, at $t^2 = \frac{3a - 1}{a^2 (3 - a)}$;
    for smaller slopes it is 2, at $t = 0$.
    """
    net = witness(depth, a, t)
    tau, three = a * t, witness(3, a, t)
    part = (1 - t * tau) * (1 - t * tau) + (t - tau) * (t - tau)
    each = 2 * part / ((1 - tau * tau) * (1 - tau * tau))
    cost = three.cost() + (depth - 3) * each
    return (
        eq(net(x), x, scale=tolerances.network_scale(net, x), label="the function"),
        eq(net.cost(), cost, scale=cost, label="the cost"),
    )


@instances
def kinked_loops(source: Source):
    """Two rays, layers all of whose units have a kink, and a last one that leads back."""
    n, layers = source.integer(2, 3), source.integer(1, 4)
    a = slope_in_range(source, low=0.125, high=0.875)
    across = source.tensor(n, 2, low=-2.0, high=2.0)
    start = u = witnesses.activate(across, n, a)
    weights = []
    for _ in range(layers - 1):
        weights.append(linalg.eye(n, like=u) + source.tensor(n, n, low=-1.0, high=1.0))
        u = witnesses.activate(weights[-1] @ u, n, a)
    weights.append(witnesses.close(across, u))
    return witnesses.Loop(start, start[..., :0], tuple(weights), (n,) * layers, a)


@instances
def kept_pairs(source: Source):
    """Layers that keep the outer slopes (1, −at), (−at, 1), with the best t for a slope in [3/8, 7/8]."""
    a = slope_in_range(source, low=0.375, high=0.875)
    t = ((3 * a - 1) / (a * a * (3 - a))).sqrt()
    one = 1 + 0 * a
    rays = linalg.matrix(((one, -a * t), (-a * t, one))) * positive(source, 2).unsqueeze(-2)
    layers = source.integer(1, 4)
    return witnesses.Loop(rays, rays[..., :0], (keeping(a, t),) * layers, (2,) * layers, a)


@conjecture(
    "rank.leaky-pairs",
    paper("rankcheck", "docs/proofs/identity-on-the-line.md, Other slopes"),
    instances=kinked_loops(),
    tight=kept_pairs(),
    mutants={
        "a twentieth more": {"factor": 1.05},
        "open loops": {"closed": lambda v: v.cost() >= 0},
    },
)
def test_leaky_pairs(loop, *, factor=1, closed=witnesses.Loop.closes):
    r"""The identity of the line costs 2 a layer for slopes up to 1/3, and (6a − 1 − a²)/(4a²) above.

    $\sum_\ell \|W_\ell\|_F^2 \ge M r(a)$ for $M$ layers, all of whose units have the activation
    $\sigma_a$, $0 < a < 1$, that take each of two different rays back to itself, with
    $r(a) = 2$ for $a \le 1/3$ and $(6a - 1 - a^2)/(4a^2)$ for $a \ge 1/3$.

    Then $R_\infty(\mathrm{id}; \mathbb R, \sigma_a) = r(a)$: from above by
    rank.leaky-identity-on-the-line. Found by linear programming on a grid
    (docs/proofs/identity-on-the-line.md).
    """
    a = loop.slope
    above = (6 * a - 1 - a * a) / (4 * a * a)
    rate = torch.where(3 * a >= 1, above, 2 + 0 * a)
    holds = closed(loop) & loop.shows_a_star(2)
    return leq(factor * rate * loop.length, loop.cost(), where=holds)
