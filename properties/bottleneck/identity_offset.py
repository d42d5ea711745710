"""Proposition 12 of `bottleneck`, a case that its proof omits: the identity beside an offset."""

from fractions import Fraction

import torch

from rankcheck import (
    Need,
    Network,
    bound,
    costs,
    eq,
    leq,
    limit,
    linalg,
    paper,
    tolerances,
    witnesses,
)
from rankcheck.instances import (
    CLEARANCE,
    Source,
    clear_of_boundaries,
    instances,
    isometry_at,
    network,
    nonnegative_isometry,
    positive,
    semi_orthogonal,
    slope,
)


@instances
def networks_along_directions(source: Source):
    """A network, a point, and an orthonormal basis of some or all directions there.

    In a quarter of the draws the first unit of the first layer vanishes along the directions.
    """
    net = network(source, depth=(1, 4), width=(1, 3))
    n = net.widths[0]
    x = source.tensor(n)
    tangent = semi_orthogonal(source, n, source.integer(1, n))
    net = clear_of_boundaries(source, net, x)
    if net.depth > 1 and source.integer(0, 3) == 0:
        W, b = net.weights[0], net.biases[0]
        across = W[0] - W[0] @ tangent @ tangent.mT
        W, b = torch.vstack((across, W[1:])), torch.hstack((-across @ x, b[1:]))
        net = net.with_parameters((W, *net.weights[1:]), (b, *net.biases[1:]))
    return net, x, tangent


def offset_domain(source: Source, c):
    """A plane's basis V, O = NVᵀ, a unit vector e ⊥ V, and a point of the cone beside ce."""
    k = source.integer(1, 3)
    Q = semi_orthogonal(source, k + 1 + source.integer(0, 1), k + 1)
    V, e = Q[:, :k], Q[:, k]
    y = positive(source, k)
    if source.choice(("orthant", "any")) == "orthant":
        N = nonnegative_isometry(source, k, V)
    else:
        y = y - 2
        N = isometry_at(source, y)
    return V, N @ V.mT, e, V @ y + c * e


@instances
def witnesses_along_their_planes(source: Source):
    """The identity beside an offset, at a point inside its cone, along the plane."""
    heights = source.tensor(source.integer(2, 6), low=0.0, high=2.0)
    V, O, e, x = offset_domain(source, heights[0])  # noqa: E741
    return witnesses.offset_identity(O, e, heights, slope(source)), x, V


@instances
def steep_networks(source: Source):
    """The same with slope 3, at a point where some units are on the steep side."""
    net, x, tangent = networks_along_directions()(source)
    steep = Network.unchecked_slope(net.weights, net.biases, 3.0)
    source.require(steep.boundary_distance(x) > CLEARANCE, "the network is differentiable at x")
    return steep, x, tangent


@bound(
    "bottleneck.offset-bound",
    paper("rankcheck", "rankcheck.theory.costs.offsets"),
    instances=networks_along_directions(),
    tight=witnesses_along_their_planes(),
    needs={"the slope lies in [-1, 1]": steep_networks()},
    mutants={"the sum of the u alone": {"price": lambda u: sum(u[1:])}},
    audit="at points: |a| ≤ 1; ranks, directions, heavy",
)
def test_offset_bound(net, x, tangent, *, price=costs.offset_cost):
    r"""A network pays for the part of its values that its Jacobian does not span.

    Let the columns of $T$ be orthonormal directions at $x$ and $u_\ell$ the squared distance of
    $\alpha_\ell(x)$ from $\operatorname{Im} J\alpha_\ell(x) T$, with $\alpha_L = f$. Then
    $$\|\theta\|^2 \ge L \|Jf(x) T\|_{S^{2/L}}^{2/L} + \sum_{\ell=1}^L \frac{u_\ell}{1+u_{\ell-1}}.$$

    This sharpens rank.jacobian-bounds-cost. A unit whose kink runs along $x + \operatorname{Im} T$
    counts as active. Proof: docs/proofs/identity-offset.md.
    """
    J = net.jacobian(x) @ tangent
    slopes = costs.linear_cost(J, net.depth, net.jacobian_noise(x))
    return leq(slopes + price(costs.offset_squares(net, x, tangent)), net.cost())


@instances
def offset_domains(source: Source):
    """A planar cone, a unit vector e beside it, a height c in (0, 2], a depth, a slope, a point."""
    c = positive(source, low=0.125, high=2.0)
    V, O, e, x = offset_domain(source, c)  # noqa: E741
    return V, O, e, c, source.integer(3, 8), slope(source), x


@instances
def offset_domains_outside_the_cone(source: Source):
    """The same at the point that is reflected in the line of e, for slope 0 and depth three or more."""
    V, O, e, c, L, _, x = offset_domains()(source)  # noqa: E741
    return V, O, e, c, L, 0, 2 * c * e - x


@limit(
    "bottleneck.identity-offset",
    paper("bottleneck", "Prop. 12, the case that its proof passes over"),
    instances=offset_domains(),
    needs={"OΩ_0 is non-negative": offset_domains_outside_the_cone()},
    mutants={
        "no height before the last": {
            "heights": lambda c, L: torch.stack((c, *[0 * c] * (L - 1), c))
        },
        "a height that stays": {"heights": lambda c, L: torch.stack([c] * (L + 1))},
    },
    witness=witnesses.offset_identity,
)
def test_identity_offset(V, O, e, c, L, a, x, *, heights=witnesses.cheapest_heights):  # noqa: E741
    r"""The identity beside an offset costs kL and the price of a constant.

    Let $\Omega = c e + \Omega_0$ with $\Omega_0$ planar of dimension $k$, completely positive
    and orthogonal to the unit vector $e$, and $0 < c \le 2$; an example is $\{1\} \times [0, 1]$. The
    witness is the identity on $\Omega$ for every slope, and at every depth $L \ge 3$
    $$\|\theta\|^2 = kL + R(c), \qquad R(c) = c^2 \ (c \le 1), \quad 2c - 1 \ (c \ge 1).$$

    No network that is the identity on $\Omega$ is cheaper at any depth $L \ge 4$, by
    bottleneck.offset-bound along $\Omega$ and bottleneck.offset-chains, which are claims of their
    own. So $R(id; \Omega, L) = kL + R(c)$ and $R^{(1)}(id; \Omega) = R(c) > 0$: for
    $R^{(1)}(id; \Omega) = 0$ a domain has to be planar, not only affinely planar. Proof:
    docs/proofs/identity-offset.md.
    """
    net, k = witnesses.offset_identity(O, e, heights(c, L), a), V.shape[1]
    entries, size = tolerances.network_scale(net, x.abs() + 1), net.cost() + k * L
    least = witnesses.least_constant_cost(c)
    return (
        eq(net(x), x, scale=entries, label="the function"),
        eq(costs.excess(net, k), least, scale=size, label="the cost"),
    )


@instances
def steps(source: Source):
    """Squares s and t of two heights."""
    return source.tensor(low=0.0, high=64.0), source.tensor(low=0.0, high=64.0)


@instances
def cheapest_steps(source: Source):
    """Steps to t = (1 + s)² with s in [0, 1], or just beyond, or from s = 0 to t in [0, 1]."""
    form = source.choice(("cheapest", "just beyond", "from zero"))
    if form == "just beyond":
        s = source.tensor(low=1.0, high=1.0 + 2.0**-6)
        return s, (1 + s) * (1 + s)
    s = source.tensor(low=0.0, high=1.0)
    return (s, (1 + s) * (1 + s)) if form == "cheapest" else (0 * s, s)


@bound(
    "bottleneck.offset-steps",
    paper("rankcheck", "rankcheck.theory.costs.offsets"),
    instances=steps(),
    tight=cheapest_steps(),
    mutants={
        "2√t − 1 beyond t = 4 too": {"most": 64},
        "a price 2 % lower": {"weight": Fraction(49, 50)},
    },
)
def test_offset_steps(s, t, *, most=4, weight=1):
    r"""A step from one height to another costs at least the difference of their prices.

    For $s, t \ge 0$: $\rho(t) \le \rho(s) + t/(1 + s)$, where $\rho(u) = R(\min(\sqrt u, 2))$.
    So a chain costs $\sum_{\ell=1}^L u_\ell/(1 + u_{\ell-1}) \ge \rho(u_L) - \rho(u_0)$ at every
    length. Proof: docs/proofs/identity-offset.md.
    """
    cost = costs.offset_cost((s, t)) * linalg.scalar(weight, t)
    before = costs.offset_price(s, most)
    return leq(costs.offset_price(t, most), before + cost, scale=1 + before + cost)


@instances
def chains(source: Source, *, length=(4, 64)):
    """Heights c_0, ..., c_L with c_L = c_0 in (0, 2]: near a constant, drawn, or falling at once."""
    L = source.integer(*length)
    c = positive(source, low=0.125, high=2.0)
    inner = source.tensor(L - 1, low=0.0, high=2.0)
    form = source.choice(("near a constant", "drawn", "falling at once"))
    if form == "near a constant":
        inner = c * (1 + inner / 16)
    if form == "falling at once":
        inner = torch.hstack((inner[:1] / 64, inner[1:-1] / 8, inner[-1:]))
    return torch.hstack((c, inner, c))


@instances
def cheapest_chains(source: Source):
    """The heights of the witness, of length 4 to 64."""
    return witnesses.cheapest_heights(positive(source, low=0.125, high=2.0), source.integer(4, 64))


@instances
def short_chains(source: Source):
    """Two or three steps: (2, 2, 2) costs 8/5 and R(2) is 3."""
    return chains(length=(2, 3))(source)


@bound(
    "bottleneck.offset-chains",
    paper("rankcheck", "rankcheck.theory.costs.offsets"),
    instances=chains(),
    tight=cheapest_chains(),
    needs={"the chain has at least four steps": short_chains()},
    mutants={"a cost 2 % lower": {"weight": Fraction(49, 50)}},
)
def test_offset_chains(c, *, weight=1):
    r"""A chain of heights that returns to where it began costs at least a constant.

    For $u_0 = u_L = c^2$, $0 < c \le 2$, any $u_1, \dots, u_{L-1} \ge 0$, and $L \ge 4$:
    $$\sum_{\ell=1}^L \frac{u_\ell}{1 + u_{\ell-1}} \ge R(c).$$

    At $L = 3$ it is false for $c = 2$. Proof: docs/proofs/identity-offset.md.
    """
    total = costs.offset_cost((c * c).unbind()) * linalg.scalar(weight, c)
    return leq(witnesses.least_constant_cost(c[0]), total)


@instances
def networks_at_the_origin(source: Source):
    """A network of any slope and of depth up to eight."""
    return network(source, depth=(1, 8), width=(1, 3))


@instances
def cheapest_constants(source: Source):
    """The cheapest network of depth 2 to 8 for a constant of size at most 2, at any slope."""
    net = witnesses.constant_network(source.tensor(low=-2.0, high=2.0), source.integer(2, 8))
    return Network(net.weights, net.biases, slope(source))


@instances
def cheaper_than_depth_two(source: Source, *, low=0.5, high=0.6875):
    """The constant v = 2s, s = 1 + p², at depth three: it costs 2s − 1 + v²/(1 + s²) < 2v − 1."""
    p = source.tensor(low=low, high=high)
    s, zero = 1 + p * p, 0 * p
    factor = 2 * s / (1 + s * s)
    weights = [w[None, None] for w in (zero, p, factor * s)]
    return Network(weights, [b[None] for b in (p, zero + 1, factor)])


@instances
def constants_up_to_two_and_beyond(source: Source):
    """The cheapest constants up to 2, and constants near 2.04, for which R(2.04) is too much."""
    if source.integer(0, 3) > 0:
        return cheapest_constants()(source)
    return cheaper_than_depth_two(low=0.1396484375, high=0.1416015625)(source)


@bound(
    "bottleneck.constant-cost",
    paper("rankcheck", "rankcheck.theory.costs.offsets"),
    instances=networks_at_the_origin(),
    tight=constants_up_to_two_and_beyond(),
    needs={"|c| ≤ 2": Need(cheaper_than_depth_two(), {"cap": 3})},
    mutants={"the last bias alone": {"cost": lambda c: c * c}},
    witness=witnesses.constant_network,
    audit="on the network: |a| ≤ 1",
)
def test_constant_cost(net, *, cap=2, cost=witnesses.least_constant_cost):
    r"""The value at the origin bounds the cost of a network of any depth.

    $\|\theta\|^2 \ge R(\min(\|f(0)\|, 2))$ with $R(c) = c^2$ for $c \le 1$ and $2c - 1$ for
    $1 \le c \le 2$, at every depth. Hence the constant $c \le 2$ on $\Omega \ni 0$ has
    $R(c; \Omega, L) = R(c)$ at every $L \ge 2$, and $R^{(0)} = 0$, $R^{(1)} = R(c)$.

    Beyond 2 deeper networks are cheaper than those of depth two: the control has depth three and
    $c = 3$. Proof: docs/proofs/constants-at-every-depth.md.
    """
    value = net(net.weights[0].new_zeros(net.widths[0]))
    size = linalg.power((value @ value).clamp_max(cap * cap), Fraction(1, 2))
    return leq(cost(size), net.cost())
