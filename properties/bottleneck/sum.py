"""Theorem 3.2 of `bottleneck`: costs of sums."""

from fractions import Fraction

import torch

from rankcheck import (
    Erratum,
    Network,
    construction,
    costs,
    eq,
    leq,
    linalg,
    paper,
    refuted,
    tolerances,
    witnesses,
)
from rankcheck.instances import Source, instances, positive, semi_orthogonal, slope

from ._active import active_network


@instances
def summands(source: Source):
    """Networks f and g of one depth and slope, with Jacobians of rank one or two, and a point.

    In a third of the draws they are near `orthogonal_summands`, with biases.
    """
    if source.integer(0, 2) == 0:
        near = source.choice((2.0**-10, 2.0**-6))
        f, g, x = orthogonal_summands()(source)
        return moved(source, f, near), moved(source, g, near), x
    k, m, L = source.integer(1, 2), source.integer(1, 2), source.integer(2, 4)
    inputs, outputs = k + m + source.integer(0, 1), k + m + source.integer(0, 1)
    x, a = source.tensor(inputs), slope(source)
    f = active_network(source, x, rank=k, depth=L, outputs=outputs, slope=a)
    return f, active_network(source, x, rank=m, depth=L, outputs=outputs, slope=a, start=k), x


def moved(source: Source, net: Network, near: float):
    """The network with every parameter moved by at most this much."""
    parts = (net.weights, net.biases)
    W, b = ([p + source.tensor(*p.shape, low=-near, high=near) for p in part] for part in parts)
    return net.with_parameters(W, b)


@instances
def orthogonal_summands(source: Source):
    """f and g linear, multiples of isometries in each layer, between orthogonal planes, at a point.

    The singular values of a layer are near 1, or between 1/2 and 2. Or f and f again, whose sum has
    the rank of f, and twice its singular values.
    """
    k, m, L = source.integer(1, 2), source.integer(1, 2), source.integer(2, 4)
    low, high = source.choice(((1.0, 1.0 + 2.0**-20), (0.5, 2.0)))
    into, out = (semi_orthogonal(source, k + m, k + m) for _ in range(2))
    y, a = positive(source, k + m), slope(source)

    def part(units: slice, count: int) -> Network:
        t = torch.diag(positive(source, count, low=low, high=high))
        return Network.linear((t @ into[:, units].mT, *[t] * (L - 2), out[:, units] @ t), a)

    one, first, second = source.integer(0, 3) == 0, slice(k), slice(k, k + m)
    return part(first, k), part(first, k) if one else part(second, m), into @ y


def last_biases(f, g):
    """Twice the inner product of the last biases."""
    return 2 * (f.biases[-1] @ g.biases[-1])


def nothing(f, g):
    """Zero in place of the cross term."""
    return 0 * last_biases(f, g)


def ranks_of_summands(f, g, x):
    """The ranks of Jf(x) and Jg(x)."""
    ranks = (linalg.rank(net.jacobian(x), net.jacobian_noise(x)) for net in (f, g))
    return dict(zip(("rank Jf", "rank Jg"), ranks, strict=True))


@construction(
    "bottleneck.sum",
    paper("bottleneck", "Thm 3.2"),
    instances=summands(),
    tight=orthogonal_summands(),
    mutants={
        "without the cross term of the last biases, as printed": {"cross": nothing},
        "log|J|_+ counted 2.04 times": {"weight": 2.04},
        "singular values to the power 2.04/L": {"exponent": Fraction(51, 25)},
    },
    witness=Network.add,
    reach=ranks_of_summands,
)
def test_sum(f, g, x, *, cross=last_biases, weight=2, exponent=2):
    r"""The excess cost is additive for sums, up to the biases of the last layer.

    The parallel network of depth $L \ge 2$ computes $f + g$. For all $k$ and $m$ its excess
    $\|\theta\|^2 - (k + m) L$ is $\|\theta_f\|^2 - kL$ plus $\|\theta_g\|^2 - mL$ plus
    $2 \langle b_{L,f}, b_{L,g} \rangle$. With $k = \operatorname{rank} Jf(x)$ and
    $m = \operatorname{rank} Jg(x)$ it is at least $2 \log |J(f + g)(x)|_+$ where
    $k + m = \operatorname{rank} J(f+g)(x)$, since
    $$L \|J(f + g)(x)\|_{S^{2/L}}^{2/L} \le \|\theta_f\|^2 + \|\theta_g\|^2 + 2 \langle b_{L,f}, b_{L,g} \rangle$$
    at every $x$: this is an equality for multiples of isometries between orthogonal planes, and the
    logarithm only for isometries.

    Not checked is the limit: with the cheapest networks of $f$ and $g$,
    $R^{(1)}(f + g) \le R^{(1)}(f) + R^{(1)}(g) + 2 \limsup \langle b_{L,f}, b_{L,g} \rangle$ where
    $R^{(0)}(f + g) = R^{(0)}(f) + R^{(0)}(g)$, without the last term if one of the two needs no bias
    in its last layer.
    """
    net = f.add(g)
    k, m = ranks_of_summands(f, g, x).values()
    J, noise = f.jacobian(x) + g.jacobian(x), net.jacobian_noise(x)
    excess, cost = costs.excess(f, k) + costs.excess(g, m), f.cost() + g.cost()
    log_det = weight * linalg.log_pseudo_determinant(J, noise)
    least = net.depth * linalg.schatten_power(J, Fraction(exponent, net.depth), noise)
    together, size = excess + cross(f, g), cost + (k + m) * net.depth
    adds_up = linalg.rank(J, noise) == k + m
    return (
        eq(net(x), f(x) + g(x), scale=tolerances.network_scale(net, x), label="the function"),
        eq(costs.excess(net, k + m), together, scale=size, label="the excess"),
        leq(log_det, together, scale=size, where=adds_up, label="the Jacobian"),
        leq(least, cost + cross(f, g), scale=size, label="the Jacobian at this depth"),
    )


@instances
def planes_beside_constants(source: Source):
    """Ranks k, m >= 1, a depth, a slope, and the values v, w in [0, 1] of two constants."""
    k, m, L = source.integer(1, 2), source.integer(1, 2), source.integer(2, 8)
    v, w = source.tensor(low=0.0, high=1.0), source.tensor(low=0.0, high=1.0)
    return k, m, L, slope(source), v, w


@refuted(
    "bottleneck.sum-as-printed",
    paper("bottleneck", "Thm 3.2/11.2"),
    instances=planes_beside_constants(),
    errata=Erratum(
        printed=r"If $R^{(0)}(f+g) = R^{(0)}(f) + R^{(0)}(g)$, then $R^{(1)}(f+g) \le R^{(1)}(f) "
        r"+ R^{(1)}(g)$. Proof: Since $R(f+g;\Omega,L) \le R(f;\Omega,L) + R(g;\Omega,L)$, ...",
        right=r"$R^{(1)}(f+g) \le R^{(1)}(f) + R^{(1)}(g) + 2 \limsup \langle b_f, b_g\rangle$, "
        "with the biases of the two last layers, which are added before they are squared "
        "(bottleneck.sum). For $f = (x_1, 0, 1)$ and $g = (0, x_2, 1)$ on [0, 1]² the ranks are "
        r"1, 1 and 2, $R(f; L) = R(g; L) = L + 1$ and $R(f + g; L) = 2L + 3$ for every $L \ge 2$, "
        "so that $R^{(1)}(f + g) = 3 > 2$.",
        survives="The rule holds if $f$ or $g$ needs no bias in its last layer, as linear maps on "
        "cones do. Prop. 4.2 inherits this condition, as its proof uses the same inequality.",
        weight="theorem",
    ),
    readings={
        "all ranks, zero included": "constants $f = g = 1$ on a domain with 0: $R^{(1)} = 1$, 1 "
        "and 3",
        "positive ranks only": r"the instances here have the ranks $k$, $m \ge 1$ and $k + m$",
        "at finite depth, as in the proof": r"the sides differ by the same amount at every $L \ge "
        "2$",
        "in the limit of large depth, as in the theorem": "the costs are affine in $L$, so the "
        "difference is that of the first corrections",
        "bounded domains in the positive orthant only": "the domain is $[0, 1]^{k + m}$",
        r"$\theta$ without the biases": r"section 2 defines $\theta$ with them; the printed inequality "
        "is true if they do not count, but $R$ is then another cost",
    },
    corrected_by="bottleneck.sum",
)
def test_sum_as_printed(k, m, L, a, v, w):
    r"""The first correction is subadditive under sums whose ranks add up.

    If $R^{(0)}(f + g) = R^{(0)}(f) + R^{(0)}(g)$ then
    $R^{(1)}(f + g) \le R^{(1)}(f) + R^{(1)}(g)$.

    Tested for $f(x, y) = (x, 0, v)$ and $g(x, y) = (0, y, w)$ with $x \in [0, 1]^k$,
    $y \in [0, 1]^m$, and $v, w \in [0, 1]$, at finite depth: the right side is at most the cost of two
    networks, and $R(f + g; \Omega, L) \ge (k + m) L + R(v + w)$ for every network
    (bottleneck.plane-beside-a-constant, where the costs are shown to be affine in $L$).
    """
    f, g = witnesses.plane_beside_constant(k, v, L, a), witnesses.plane_beside_constant(m, w, L, a)
    size = f.cost() + g.cost()
    return leq(witnesses.least_constant_cost(v + w) + (k + m) * L, size, scale=size)
