"""Proposition 12 of `bottleneck`, a case that its proof omits: the identity beside an offset.

Its first correction is the price of a constant, from below by the bounds in rankcheck.costs.offsets.
"""

from fractions import Fraction

import torch

from rankcheck import Network, bound, eq, leq, limit, paper
from rankcheck.claims.claim import Need
from rankcheck.claims.tolerances import network_scale
from rankcheck.costs.corrections import excess, linear_cost
from rankcheck.costs.offsets import offset_cost, offset_squares
from rankcheck.instances.cones import nonnegative_isometry
from rankcheck.instances.matrices import positive, semi_orthogonal
from rankcheck.instances.networks import CLEARANCE, clear_of_boundaries, network, slope
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import power
from rankcheck.witnesses.constants import constant_network, least_constant_cost
from rankcheck.witnesses.planar_identity import cheapest_heights, offset_identity


@instances
def networks_along_directions(source: Source):
    """A network, a point, and an orthonormal basis of some or all directions there."""
    net = network(source, depth=(1, 4), width=(1, 3))
    n = net.widths[0]
    x = source.tensor(n)
    tangent = semi_orthogonal(source, n, source.integer(1, n))
    return clear_of_boundaries(source, net, x), x, tangent


def offset_domain(source: Source, heights):
    """A plane's basis V, O = NVᵀ, a unit vector e ⊥ V, and a point of the cone beside c_0 e."""
    k = source.integer(1, 3)
    Q = semi_orthogonal(source, k + 1 + source.integer(0, 1), k + 1)
    V, e = Q[..., :k], Q[..., k]
    O = nonnegative_isometry(source, k, V) @ V.mT  # noqa: E741
    y = positive(source, k)
    return V, O, e, (V @ y.unsqueeze(-1)).squeeze(-1) + heights[..., :1] * e


@instances
def witnesses_along_their_planes(source: Source):
    """The identity beside an offset, at a point inside its cone, along the plane."""
    heights = source.tensor(source.integer(2, 6), low=0.0, high=2.0)
    V, O, e, x = offset_domain(source, heights)  # noqa: E741
    return offset_identity(O, e, heights, slope(source)), x, V


@instances
def steep_networks(source: Source):
    """The same with slope 3, at a point where some units are on the steep side."""
    net, x, tangent = networks_along_directions()(source)
    steep = Network.unchecked_slope(net.weights, net.biases, 3.0)
    source.require(steep.boundary_distance(x) > CLEARANCE, "the network is differentiable at x")
    return steep, x, tangent


@bound(
    "bottleneck.offset-bound",
    paper("rankcheck", "rankcheck.costs.offsets"),
    instances=networks_along_directions(),
    tight=witnesses_along_their_planes(),
    needs={"the slope lies in [-1, 1]": steep_networks()},
)
def test_offset_bound(net, x, tangent):
    r"""A network pays for the part of its values that its Jacobian does not span.

    Let $T$ be a space of directions at $x$ and $u_\ell$ the squared distance of $\alpha_\ell(x)$
    from $J\alpha_\ell(x) T$, with $\alpha_L = f$. Then
    $$\|\theta\|^2 \ge L \|Jf(x)|_T\|_{S^{2/L}}^{2/L} + \sum_{\ell=1}^L \frac{u_\ell}{1+u_{\ell-1}}.$$

    This sharpens rank.jacobian-bounds-cost. The proof is in `rankcheck.costs.offsets`.
    """
    J = net.jacobian(x) @ tangent
    slopes = linear_cost(J, net.depth, net.jacobian_noise(x))
    return leq(slopes + offset_cost(offset_squares(net, x, tangent)), net.cost())


@instances
def offset_domains(source: Source):
    """A planar cone, a unit vector e beside it, a height c in (0, 2], a depth, a slope, a point."""
    c = positive(source, low=0.125, high=2.0)
    V, O, e, x = offset_domain(source, c.unsqueeze(-1))  # noqa: E741
    return V, O, e, c, source.integer(3, 8), slope(source), x


def no_height_in_between(c, depth):
    """The chain that falls to zero at once and returns in the last layer."""
    return torch.stack((c, *[torch.zeros_like(c)] * (depth - 1), c), -1)


def staying_up(c, depth):
    """The chain that stays where it is."""
    return torch.stack([c] * (depth + 1), -1)


@limit(
    "bottleneck.identity-offset",
    paper("bottleneck", "Prop. 12, the case that its proof passes over"),
    instances=offset_domains(),
    mutants={
        "no height before the last": {"heights": no_height_in_between},
        "a height that stays": {"heights": staying_up},
    },
    witness=offset_identity,
)
def test_identity_offset(V, O, e, c, L, a, x, *, heights=cheapest_heights):  # noqa: E741
    r"""The identity beside an offset costs kL and the price of a constant.

    Let $\Omega = c e + \Omega_0$ with $\Omega_0$ planar of dimension $k$, completely positive
    and orthogonal to the unit vector $e$, and $0 < c \le 2$; an example is $\{1\} \times [0, 1]$. The
    witness is the identity on $\Omega$ for every slope, and at every depth $L \ge 3$
    $$\|\theta\|^2 = kL + R(c), \qquad R(c) = c^2 \ (c \le 1), \quad 2c - 1 \ (c \ge 1).$$

    Every network that is the identity on $\Omega$ has $\|\theta\|^2 \ge kL + R(c) - R(c)/(L - R(c))$,
    by bottleneck.offset-bound along $\Omega$ and bottleneck.offset-chains, which are claims of their
    own. In the limit $R^{(1)}(id; \Omega) = R(c) > 0$: for $R^{(1)}(id; \Omega) = 0$ a domain has to
    be planar, not only affinely planar.
    """
    net = offset_identity(O, e, heights(c, L), a)
    k = V.shape[-1]
    scale = network_scale(net, x.abs() + 1)
    return (
        eq(net(x), x, scale=scale, label="the function"),
        eq(excess(net, k), least_constant_cost(c), scale=net.cost() + k * L, label="the cost"),
    )


@instances
def chains(source: Source):
    """Heights c_0, ..., c_L with c_L = c_0 in (0, 2]: drawn, or those of the witness."""
    L = source.integer(4, 128)
    c = positive(source, low=0.125, high=2.0)
    if source.integer(0, 1) == 0:
        return cheapest_heights(c, L)
    inner = source.tensor(L - 1, low=0.0, high=2.0)
    return torch.cat((c.unsqueeze(-1), inner, c.unsqueeze(-1)), -1)


@bound(
    "bottleneck.offset-chains",
    paper("rankcheck", "rankcheck.costs.offsets"),
    instances=chains(),
)
def test_offset_chains(c):
    r"""A chain of heights that returns to where it began costs a constant, up to O(1/L).

    For $u_0 = u_L = c^2$, $0 < c \le 2$, any $u_1, \dots, u_{L-1} \ge 0$, and $L > R = R(c)$:
    $$\sum_{\ell=1}^L \frac{u_\ell}{1 + u_{\ell-1}} \ge R - \frac{R}{L - R}.$$

    Proof: with $m = \min u_\ell$ the sum is at least $R - m$, since
    $R(\sqrt t) \le R(\sqrt s) + t/(1+s)$ for $t \le 4$, and at least $Lm/(1 + m)$, by the inequality
    of the means. For every $m$ one of the two is at least the right side.
    """
    u = c * c
    L = c.shape[-1] - 1
    total = offset_cost(u.unbind(-1))
    R = least_constant_cost(c[..., 0])
    return leq(R - R / (L - R), total)


@instances
def networks_at_the_origin(source: Source):
    """A network of any slope and of depth up to eight."""
    return network(source, depth=(1, 8), width=(1, 3))


@instances
def cheapest_constants(source: Source):
    """The cheapest network of depth 2 to 8 for a constant of size at most 2, at any slope."""
    net = constant_network(source.tensor(low=-2.0, high=2.0), source.integer(2, 8))
    return Network(net.weights, net.biases, slope(source))


@instances
def cheaper_than_depth_two(source: Source):
    """The constant v = 2s, s = 1 + p², at depth three: it costs 2s − 1 + v²/(1 + s²) < 2v − 1."""
    p = source.tensor(low=0.5, high=0.6875)
    s, zero = 1 + p * p, 0 * p
    factor = 2 * s / (1 + s * s)
    weights = [w[..., None, None] for w in (zero, p, factor * s)]
    return Network(weights, [b.unsqueeze(-1) for b in (p, zero + 1, factor)])


@bound(
    "bottleneck.constant-cost",
    paper("rankcheck", "rankcheck.costs.offsets"),
    instances=networks_at_the_origin(),
    tight=cheapest_constants(),
    needs={"|c| ≤ 2": Need(cheaper_than_depth_two(), {"cap": 3})},
    mutants={"the last bias alone": {"cost": lambda c: c * c}},
    witness=constant_network,
)
def test_constant_cost(net, *, cap=2, cost=least_constant_cost):
    r"""The value at the origin bounds the cost of a network of any depth.

    $\|\theta\|^2 \ge R(\min(\|f(0)\|, 2))$ with $R(c) = c^2$ for $c \le 1$ and $2c - 1$ for
    $1 \le c \le 2$, at every depth. Hence the constant $c \le 2$ on $\Omega \ni 0$ has
    $R(c; \Omega, L) = R(c)$ at every $L \ge 2$, and $R^{(0)} = 0$, $R^{(1)} = R(c)$.

    Beyond 2 deeper networks are cheaper than those of depth two: the control has depth three and
    $c = 3$. Proof: docs/proofs/constants-at-every-depth.md.
    """
    value = net(net.weights[0].new_zeros((*net.batch, net.widths[0])))
    square = (value * value).sum(-1)
    size = power(torch.minimum(square, cap * cap * torch.ones_like(square)), Fraction(1, 2))
    return leq(cost(size), net.cost())
