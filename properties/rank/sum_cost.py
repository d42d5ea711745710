"""Thm 4.2 of `rank`: the cost of a sum, and the cross term that is missing in print."""

from rankcheck import (
    Erratum,
    Network,
    bound,
    construction,
    eq,
    leq,
    paper,
    step,
    tolerances,
    witnesses,
)
from rankcheck.instances import Source, instances, network


@instances
def summands(source: Source):
    """Networks f and g of one depth, with the same inputs and outputs, and a point."""
    depth = source.integer(2, 4)
    f = network(source, depth=(depth, depth))
    n, m = f.widths[0], f.widths[-1]
    g = network(source, depth=(depth, depth), inputs=n, outputs=m, slopes="relu")
    return f, Network(g.weights, g.biases, f.slope), source.tensor(n)


def last_biases(f, g):
    """Twice the inner product of the last biases."""
    return 2 * (f.biases[-1] @ g.biases[-1])


@construction(
    "rank.sum-cost",
    paper("rank", "Thm 4.2"),
    instances=summands(),
    mutants={"the cross term forgotten, as printed": {"cross": lambda f, g: 0}},
    witness=Network.add,
)
def test_sum_cost(f, g, x, *, cross=last_biases):
    r"""The parallel network computes the sum; its cost has a cross term in the last biases.

    For networks of one depth $L \ge 2$ the block-diagonal network computes $f + g$, and
    $\|\theta\|^2 = \|\theta_f\|^2 + \|\theta_g\|^2 + 2 \langle b_{L,f}, b_{L,g} \rangle$.
    """
    net = f.add(g)
    return (
        eq(net(x), f(x) + g(x), scale=tolerances.network_scale(net, x), label="the function"),
        eq(net.cost(), f.cost() + g.cost() + cross(f, g), scale=net.cost(), label="the cost"),
    )


@construction(
    "rank.sum-cost-at-every-depth",
    paper("rank", "Thm 4.2 (corrected)"),
    instances=summands(),
    mutants={"the last bias kept": {"witness": lambda net: net}},
    witness=witnesses.last_bias_as_unit,
)
def test_sum_cost_at_every_depth(f, g, x, *, witness=witnesses.last_bias_as_unit):
    r"""The cost of a sum is at most the sum of the costs and one, at every depth.

    $R(f + g; \Omega, L) \le R(f; \Omega, L) + R(g; \Omega, L) + 1$ for $L \ge 2$: before the
    networks are put in parallel, the last bias of $f$ is carried by a hidden unit that is constantly
    1. The network computes $f + g$, and
    $\|\theta\|^2 = \|\theta_f\|^2 + \|\theta_g\|^2 + 1$.

    The constant 1 cannot be smaller: $f = g \equiv 1$ (rank.sum-cost-as-printed). Divided by $L$,
    the bound gives Theorem 4.2. Proof: docs/proofs/constants-at-every-depth.md.
    """
    net = witness(f).add(g)
    return (
        eq(net(x), f(x) + g(x), scale=tolerances.network_scale(net, x), label="the function"),
        eq(net.cost(), f.cost() + g.cost() + 1, scale=net.cost(), label="the cost"),
        eq(net.depth, f.depth, label="the depth"),
    )


@instances
def networks_at_the_origin(source: Source):
    """Networks of depth two with one output and any slope."""
    return network(source, depth=(2, 2), outputs=1)


@instances
def cheapest_constants(source: Source):
    """The cheapest network for a constant."""
    return witnesses.constant_network(source.tensor())


@instances
def constants_at_depth_three(source: Source):
    """The constant 2s, s = 1 + p², after two constant layers: depth three is cheaper beyond 2."""
    p = source.tensor(low=0.5, high=1.0)
    s, zero = 1 + p * p, 0 * p
    factor = 2 * s / (1 + s * s)
    weights = [w.reshape(1, 1) for w in (zero, p, factor * s)]
    return Network(weights, [b.reshape(1) for b in (p, zero + 1, factor)])


@bound(
    "rank.constant-cost",
    paper("rank", "Thm 4.2 (corrected)"),
    instances=networks_at_the_origin(),
    tight=cheapest_constants(),
    needs={"the depth is two": constants_at_depth_three()},
    mutants={"the last bias alone": {"least": lambda v: v * v}},
    witness=witnesses.constant_network,
    audit="on the network: |a| ≤ 1, L = 2, one output",
)
def test_constant_cost(net, *, least=witnesses.least_constant_cost):
    r"""The value at the origin bounds the cost of a network of depth two.

    $\|\theta\|^2 \ge R(f(0); 2)$ with $R(v; 2) = v^2$ for $|v| \le 1$ and $2|v| - 1$ beyond: the
    least cost at depth two of a function that takes the value $v$ at $0$, for every $v$.

    For $|v| \le 2$ it is the least cost at every depth (bottleneck.constant-cost). For $|v| > 2$
    depth three is cheaper, which is the control. Proof: docs/proofs/constants-at-every-depth.md.
    """
    (value,) = net(net.weights[0].new_zeros(net.widths[0]))
    return leq(least(value), net.cost())


@instances
def constants(source: Source):
    """A depth L, and two constants of size at most 1 on a domain that contains 0."""
    depth = source.integer(2, 64)
    return depth, source.tensor(low=-1.0, high=1.0), source.tensor(low=-1.0, high=1.0)


@step(
    "rank.sum-cost-as-printed",
    paper("rank", "proof of Thm 4.2"),
    instances=constants(),
    errata=Erratum(
        printed=r"For any sufficiently large depth $L [\ldots]$ This new network represents the "
        r"function $f + g$ and has parameter norm $\|W_f\|^2 + \|W_g\|^2$, which implies the "
        r"bound $R(f + g; \Omega, \sigma_a, L) \le \|W_f\|^2 + \|W_g\|^2 = R(f; \Omega, \sigma_a, "
        r"L) + R(g; \Omega, \sigma_a, L)$",
        right=r"$\|W_f\|^2 + \|W_g\|^2 + 2\langle b_{L,f}, b_{L,g}\rangle$ is the norm: the last "
        "biases are added before they are squared (rank.sum-cost). For $f = g = 1$ on a domain "
        r"with 0, $R(1; L) = 1$ and $R(2; L) = 3$ at every depth $L \ge 2$.",
        survives=r"Theorem 4.2, as $R(f + g; L) \le R(f; L) + R(g; L) + 1$ at every depth $L \ge "
        "2$ (rank.sum-cost-at-every-depth), where the constant 1 is the best one.",
        weight="step",
    ),
    result=r"stands: $R(f + g; L) \le R(f; L) + R(g; L) + 1$ for $L \ge 2$, and the 1 disappears "
    "in the limit (rank.sum-cost-at-every-depth)",
    readings={
        "for large $L$ only": r"$R(1; L)$ and $R(2; L)$ are the same at every $L \ge 2$ "
        "(docs/proofs/constants-at-every-depth.md), so the bound fails at every depth",
        "the norm of the parallel network": "the further term is $2 > 0$ for the cheapest "
        "networks of $f = g = 1$, whose last bias is 1",
        "a cost without biases": "then the norm is additive, but the parameters $W$ of the paper "
        "are all weight matrices and bias vectors, and the cost is their squared norm",
        "another network for $f + g$": "no network of $f + g = 2$ costs less than 3",
    },
    corrected_by="rank.sum-cost-at-every-depth",
)
def test_sum_cost_as_printed(depth, v, w):
    r"""The cost of a sum is at most the sum of the costs, at every large depth.

    $R(f + g; \Omega, L) \le R(f; \Omega, L) + R(g; \Omega, L)$.

    Tested for constants $f \equiv v$, $g \equiv w$ in $[-1, 1]$ on $\Omega \ni 0$, at depth $L$:
    $R(v + w; L)$ is known exactly there (bottleneck.constant-cost), and $R(v; L)$, $R(w; L)$ are at
    most the costs of explicit networks of depth $L$. The counterexample $v = w = 1$ is one at every
    $L \ge 2$. Proof: docs/proofs/constants-at-every-depth.md.
    """
    f, g = witnesses.constant_network(v, depth), witnesses.constant_network(w, depth)
    return leq(witnesses.least_constant_cost(v + w), f.cost() + g.cost())
