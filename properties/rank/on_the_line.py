"""Thms 1 and 4.2 of `rank` on the whole line: what constants and the identity cost there."""

import torch

from rankcheck import (
    Network,
    bound,
    conjecture,
    construction,
    eq,
    leq,
    linalg,
    networks,
    paper,
    tolerances,
    witnesses,
)
from rankcheck.instances import Source, instances, network, positive, slope_in_range

from ._networks import relabelled


@instances
def values_and_points(source: Source):
    """A value v and a point of the line."""
    return source.tensor(), source.tensor(1)


def bias_alone(v):
    """The constant as the last bias: the cheapest only for |v| ≤ 1."""
    zero = 0 * v[None, None]
    return Network((zero, zero), (zero[0], v[None]))


@construction(
    "rank.constant-network",
    paper("rank", "Thm 4.2 (corrected)"),
    instances=values_and_points(),
    mutants={"the last bias alone": {"witness": bias_alone}},
    witness=witnesses.constant_network,
)
def test_constant_network(v, x, *, witness=witnesses.constant_network):
    r"""A network of depth two for a constant, at the least cost.

    The network computes the constant $v$ and costs $v^2$ for $|v| \le 1$, $2|v| - 1$ beyond. So
    $R(1; 2) = 1$ and $R(2; 2) = 3$: that no network is cheaper is rank.constant-cost.
    """
    net, least = witness(v), witnesses.least_constant_cost(v)
    return (
        eq(net(x)[0], v, label="the function"),
        eq(net.cost(), least, scale=(v * v).clamp(min=1), label="the cost"),
    )


@instances
def depths_and_points(source: Source):
    """A depth and a point of the line."""
    return source.integer(2, 12), source.tensor(1)


def identity_on_the_line(depth, like, units=(1.0, -1.0)):
    """x = [x]_+ − [−x]_+ through identity layers; for x ≥ 0 the first unit is enough."""
    first = like.new_ones(1) * torch.tensor(units, dtype=torch.float64)[:, None]
    return Network.linear((first, *[linalg.eye(len(units), like)] * (depth - 2), first.mT))


@construction(
    "rank.identity-on-the-line",
    paper("rank", "Thm 1"),
    instances=depths_and_points(),
    mutants={"one unit a layer": {"witness": lambda L, x: identity_on_the_line(L, x, (1.0,))}},
)
def test_identity_on_the_line(depth, x, *, witness=identity_on_the_line):
    r"""On the whole line the identity costs at most 2L.

    $x = [x]_+ - [-x]_+$, carried through identity layers of width two, is a ReLU network of any depth
    $L \ge 2$ with $f(x) = x$ for all $x \in \mathbb R$ and $\|\theta\|^2 = 2L$.
    """
    net = witness(depth, x)
    return eq(net(x), x, label="the function"), eq(net.cost(), 2 * depth, label="the cost")


@instances
def shallow_networks(source: Source):
    """ReLU networks of depth two from R to R."""
    return network(source, depth=(2, 2), width=(1, 5), inputs=1, outputs=1, slopes="relu")


@instances
def balanced_pairs(source: Source):
    """Two units, one for either half-line, with weights ±t inside and outside."""
    t = positive(source, 2, high=2.0) * torch.tensor([1.0, -1.0], dtype=torch.float64)
    return Network.linear((t[:, None], t[None]))


@instances
def leaky_pairs(source: Source):
    """The same with a slope of 1/4 or more: both units have a part in both outer slopes."""
    return relabelled(balanced_pairs()(source)[0], source.tensor(low=0.25, high=0.875))


@bound(
    "rank.bounded-domain",
    paper("rank", "Thm 1"),
    instances=shallow_networks(),
    tight=balanced_pairs(),
    needs={"the activation is ReLU": leaky_pairs()},
    mutants={"half as much again": {"factor": 3}},
    audit="on the network: ReLU, L = 2, one input, one output",
)
def test_bounded_domain(net, *, factor=2):
    r"""A ReLU network of depth two on the line costs at least twice its outer slopes.

    $\|\theta\|^2 \ge 2(|f'(+\infty)| + |f'(-\infty)|)$ for every ReLU network of depth two from
    $\mathbb R$ to $\mathbb R$. So the identity on all of $\mathbb R$ costs $4 = 2L$ at $L = 2$, while
    on a bounded domain it costs $L + O(1)$ at every depth.

    Depth two only: rank.cost-on-the-line has all depths, and there the geometric mean of the two outer
    slopes. rank.identity-on-the-line shows that $2L$ is enough for the identity. The
    control of rank.identity-layers shows that the construction of the proof needs a domain on which
    $g$ is bounded from below, not that the theorem does.
    """
    inner, outer = net.weights[0][:, 0], net.weights[1][0]
    right = outer @ networks.leaky(inner, net.slope)
    left = outer @ networks.leaky(-inner, net.slope)
    return leq(factor * (right.abs() + left.abs()), net.cost())


def keeping(a, t):
    """The 2 × 2 layer that takes (1, −at), (−at, 1) to (1, −t), (−t, 1), which σ_a takes back."""
    tau = a * t
    same, other = 1 - t * tau, tau - t
    return linalg.matrix(((same, other), (other, same))) / (1 - tau * tau)


def leaky_identity(depth, a, t):
    """Two units with the outer slopes (1, −at), (−at, 1) in all layers but the first."""
    one = 1 + 0 * a
    ends = linalg.matrix(((one,), (-one,)))
    # From (1, −a), (−a, 1), the outer slopes of the two units of the first layer.
    second = keeping(a, t) @ linalg.matrix(((one, -a * t), (-a * t, one)))
    second = second @ linalg.matrix(((one, a), (a, one))) / (1 - a * a)
    layers = (ends, second, *[keeping(a, t)] * (depth - 3), ends.mT / (1 + a * t))
    return Network.linear(layers, a)


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
    each = 2 * ((1 - t * tau) ** 2 + (t - tau) ** 2) / (1 - tau * tau) ** 2
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
    return witnesses.Loop(start, start[:, :0], tuple(weights), (n,) * layers, a)


@instances
def kept_pairs(source: Source):
    """Layers that keep the outer slopes (1, −at), (−at, 1), with the best t for a slope in [3/8, 7/8]."""
    a = slope_in_range(source, low=0.375, high=0.875)
    t = ((3 * a - 1) / (a * a * (3 - a))).sqrt()
    one = 1 + 0 * a
    rays = linalg.matrix(((one, -a * t), (-a * t, one))) * positive(source, 2)
    layers = source.integer(1, 4)
    return witnesses.Loop(rays, rays[:, :0], (keeping(a, t),) * layers, (2,) * layers, a)


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
