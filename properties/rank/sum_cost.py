"""Thm 4.2 of `rank` and its proof: padding, the cost of a sum, and the cross term that is missing."""

import torch

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
from rankcheck.instances import Source, instances, network, network_at_points


@instances
def networks_and_widths(source: Source):
    """A network, larger hidden widths, and a point where the network is differentiable."""
    net, x = network_at_points(source, depth=(2, 5))
    return net, [n + source.integer(0, 3) for n in net.widths[1:-1]], x


@instances
def networks_and_one_unit_less(source: Source):
    """The same with hidden widths that are smaller by one, in a control."""
    net, x = network_at_points(source, depth=(2, 4), width=(2, 4))
    return net, [n - 1 for n in net.widths[1:-1]], x


def pad_or_cut(net, hidden):
    """The padded network; units beyond a smaller width are left out."""
    most = [max(n, m) for n, m in zip(hidden, net.widths[1:-1], strict=True)]
    wide = witnesses.pad(net, most)
    ends = (net.widths[0], *hidden, net.widths[-1])
    return wide.with_parameters(
        [w[:n, :m] for w, n, m in zip(wide.weights, ends[1:], ends[:-1], strict=True)],
        [b[:n] for b, n in zip(wide.biases, ends[1:], strict=True)],
    )


def copies(net, hidden):
    """A network whose added units are copies of the first unit of their layer."""
    padded = witnesses.pad(net, hidden)
    weights, biases = [], []
    for w, b, n in zip(padded.weights, padded.biases, net.widths[1:], strict=True):
        added = torch.arange(len(b), device=b.device) >= n
        weights.append(torch.where(added[:, None], w[0], w))
        biases.append(torch.where(added, b[0], b))
    return padded.with_parameters(weights, biases)


@construction(
    "rank.padding",
    paper("rank", "Remark 2, proof of Thm 4"),
    instances=networks_and_widths(),
    needs={"no hidden width is smaller": networks_and_one_unit_less()},
    mutants={"copies of a unit for zero units": {"witness": copies}},
    witness=witnesses.pad,
    audit="left out: a construction: zero units keep function and cost",
)
def test_padding(net, hidden, x, *, witness=pad_or_cut):
    r"""A network is one of any larger hidden widths, at the same cost.

    For every network of widths $n$ and all $n' \ge n$ with $n'_0 = n_0$, $n'_L = n_L$ there is a
    network of widths $n'$ with the same function and the same $\|\theta\|^2$: the added units have
    zero weights and zero bias. So the least cost of a function, over networks of given widths, does
    not rise with a hidden width, and a result about networks of widths $n^*$ with a constant $C$
    holds for all larger widths with the same $C$.
    """
    wide = witness(net, hidden)
    widths = zip(wide.widths[1:-1], hidden, strict=True)
    return (
        eq(wide(x), net(x), scale=tolerances.network_scale(net, x), label="the function"),
        eq(wide.cost(), net.cost(), label="the cost"),
        eq(wide.jacobian(x), net.jacobian(x), error=net.jacobian_noise(x), label="the Jacobian"),
        *(eq(got, stated, label=f"width {layer}") for layer, (got, stated) in enumerate(widths, 1)),
    )


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
