"""Section 4 of `bottleneck`: which parameters have a tangent kernel that grows like the depth."""

from fractions import Fraction

import torch

from rankcheck import Erratum, bound, construction, eq, leq, linalg, networks, paper, witnesses
from rankcheck.instances import Source, instances, networks_with_inputs


@instances
def antipodes(source: Source):
    """Chains of units with weights near ±1 at ±r, without biases, whose slope is 1 or nearly 1.

    The activations at ±r are nearly opposite in every layer, so the sides are equal at depth 1, and as
    the slope tends to 1 at every depth. The exponent ‖θ‖² − L counts in first order of the weights, and
    what is lost in second order.
    """
    depth, r = source.integer(1, 6), source.tensor(1, 1, low=0.25, high=4.0)
    weights = [torch.ones_like(r) * source.choice((1, -1)) for _ in range(depth)]
    if source.integer(0, 1) == 1:
        weights = [w * (1 + source.tensor(1, 1, low=-(2.0**-12), high=2.0**-12)) for w in weights]
    slope = 1 - source.tensor(low=2.0**-26, high=2.0**-24)
    return networks.Network.linear(weights, slope), torch.cat((r, -r))


@instances
def light_networks(source: Source):
    """Networks with ‖θ‖² near L, at two points: unit chains with weights of 1 ± 1/8, or any."""
    if source.integer(0, 2) == 0:
        return networks_with_inputs(depth=(1, 4), width=(1, 3), points=(2, 2))(source)
    depth = source.integer(1, 8)
    weights = [1 + source.tensor(1, 1, low=-0.125, high=0.125) for _ in range(depth)]
    biases = [source.tensor(1, low=0.0, high=0.25) for _ in range(depth)]
    return networks.Network(weights, biases), source.tensor(2, 1, low=2.0**-6, high=4.0)


@bound(
    "bottleneck.ntk-linear-in-depth",
    paper("bottleneck", "§4"),
    instances=light_networks(),
    tight=antipodes(),
    mutants={
        "whatever the norm of the parameters": {"norms": 0},
        "0.51 in place of a half": {"share": 0.51},
    },
    errata=Erratum(
        printed="one can find parameters that learn a function with a NTK that scales linearly "
        "in depth, but it is not possible to represent non-trivial functions with a smaller NTK "
        r"$\Theta^{(L)} \ll L$",
        right="It needs parameters of small norm, as the theorems around it have: for "
        r"$\|\theta\|^2 \le L + c_1$ the kernel is at least $cL$ "
        "(bottleneck.ntk-linear-in-depth). Without a condition the identity of [0, 1] has a "
        r"kernel of at most $12\sqrt{L} + 20$ (bottleneck.ntk-below-linear), and with "
        r"$\|\theta\|^2 \le 2L + O(\log L)$ one of the order $\log L$ "
        "(bottleneck.ntk-with-two-units).",
        survives="All results; none uses the remark.",
    ),
    audit="at pairs: two points, |a| ≤ 1; far apart",
)
def test_ntk_linear_in_depth(net, ends, *, norms=1, share=0.5):
    r"""Parameters with a norm near the depth have a tangent kernel of the order of the depth.

    For every network and points $x$, $y$ with $\|Jf(x)\|_{op}, \|Jf(y)\|_{op} \ge s$, and $\Theta$ over
    the weights:

    $$\operatorname{tr} \Theta(x, x) + \operatorname{tr} \Theta(y, y) \ge
      \tfrac12 L\, s^2 \|f(x) - f(y)\|^2\, e^{-(1 + 1/L)(\|\theta\|^2 - L)}.$$

    For a function that is not constant on a linear piece, and parameters with $\|\theta\|^2 \le L + c_1$,
    the kernel is therefore at least $cL$ somewhere on it. For a function of rank $k \ge 2$ the right
    side decays like $e^{-(k-1)L}$, and says nothing. The sides are equal at depth 1, and at every depth as
    the slope tends to 1. For slopes $a \le 0$ the right side may be
    multiplied by $2^{1 - 1/L}$, as the activations at $x$ and $y$ are never opposite.

    Proof: docs/proofs/ntk-linear-in-depth.md.
    """
    L, (x, y) = net.depth, ends
    rise = net(x) - net(y)
    least = linalg.operator_norm(net.jacobian(ends)).amin()
    exponent = (net.cost() - L) * linalg.scalar(Fraction(-(L + 1), L) * norms, least)
    size = least * least * (rise @ rise) * exponent.exp()
    return leq(share * L * size, networks.ntk_trace(net, ends).sum())


def on_each_piece(source: Source, pieces: int):
    """A point on each of so many equal pieces of [0, 1], shape (pieces, 1)."""
    inside = source.tensor(pieces, low=0.125, high=0.875)
    return ((torch.arange(pieces, device=inside.device) + inside) / pieces)[:, None]


@instances
def codes(source: Source):
    """K, a depth, and for each of the 4K pieces of [0, 1] a point on it."""
    K, depth = source.integer(1, 5), source.integer(4, 12)
    return K, depth, on_each_piece(source, 4 * K)


def uncut(net):
    """The network whose summands do not end at 1."""
    last = net.weights[-1]
    first, second = last.chunk(2, -1)
    return net.with_parameters((*net.weights[:-1], torch.cat((first, 0 * second), -1)), net.biases)


@construction(
    "bottleneck.ntk-below-linear",
    paper("bottleneck", "§4"),
    instances=codes(),
    mutants={"steps that do not end": {"change": uncut}, "a layer adds 2 % less": {"share": 0.98}},
    loose={
        "the trace": "the bounds of the four outer layers are added",
        "a layer is small": "the code is smaller than its bound but at t = 1; the ratio tends to 1",
    },
    witness=witnesses.progress_code,
    effort=0.4,
)
def test_ntk_below_linear(K, depth, t, *, change=lambda net: net, share=1):
    r"""The identity of [0, 1] has parameters whose tangent kernel is of the order √L.

    For every $K \ge 1$ and $L \ge 4$ there is a ReLU network of depth $L$ with $f(t) = t$ on $[0, 1]$
    and, with $\Theta$ over weights and biases,

    $$\Theta(t, t) \le \Bigl(\frac{25}8 + \frac1K\Bigr) \frac{L - 4}K + 8K + 12,$$

    so that $\Theta \le 12 \sqrt L + 20$ for $K = \lceil \sqrt L \rceil$. The point is coded by the progress
    of $2K$ steps, one of which matters at each point; an identity layer in between adds
    $(\|\alpha(t)\|^2 + 1)/K^2$. The number of linear pieces and $\|\theta\|^2$ grow with $K$, and for
    $\|\theta\|^2 \le L + c_1$ nothing like it exists (bottleneck.ntk-linear-in-depth).

    Proof: docs/proofs/ntk-linear-in-depth.md.
    """
    net, deeper = (change(witnesses.progress_code(K, L, t)) for L in (depth, depth + 1))
    trace = networks.ntk_trace(net, t, biases=True)
    added = networks.ntk_trace(deeper, t, biases=True) - trace
    layer = (net.activations(t)[2].square().sum(-1) + 1) / K**2
    most = linalg.scalar(Fraction(25, 8 * K) + Fraction(1, K * K), trace)
    return (
        eq(net(t), t, label="the function"),
        eq(added, layer * share, scale=trace, label="a layer"),
        leq(layer, most, label="a layer is small"),
        leq(trace, most * (depth - 4) + 8 * K + 12, label="the trace"),
    )


@instances
def sawtooth_codes(source: Source):
    """n, a number of identity layers, and for each of the 2^(n+2) pieces of [0, 1] a point on it."""
    n, between = source.integer(0, 3), source.integer(0, 4)
    return n, between, on_each_piece(source, 2 ** (n + 2))


def read_by_q_alone(net):
    """The same function, without the term that is zero on the path."""
    last = net.weights[-1]
    first = last.new_tensor([1.0] + [0.0] * (last.shape[-1] - 1))
    return net.with_parameters((*net.weights[:-1], first * last), net.biases)


def without_a_shift(net):
    """The wave by which it is read is not a quarter of a period late."""
    index = max(i for i in range(net.depth - 3) if net.widths[i] == 2)
    b = net.biases[index]
    unshifted = b * b.new_tensor([float(i != 2) for i in range(len(b))])
    return net.with_parameters(
        net.weights, (*net.biases[:index], unshifted, *net.biases[index + 1 :])
    )


@construction(
    "bottleneck.ntk-with-two-units",
    paper("rankcheck", "docs/proofs/ntk-with-two-units.md, Theorem 1"),
    instances=sawtooth_codes(),
    mutants={
        "read by q alone": {"change": read_by_q_alone},
        "read by a wave that is not shifted": {"change": without_a_shift},
        "a layer adds 2 % less": {"share": 0.98},
    },
    loose={
        "a layer is small": "t² + p² is 2 at t = 1 alone, where p has a kink",
        "the trace": "the bounds of the outer layers are added, with all units at their largest",
        "the cost": "rounded",
    },
    witness=witnesses.sawtooth_code,
    effort=0.4,
)
def test_ntk_with_two_units(n, between, t, *, change=lambda net: net, share=1):
    r"""With two units in most layers the identity of [0, 1] has a tangent kernel of the order log L.

    For all $n \ge 0$ and $L \ge 2n + 5$ there is a ReLU network of depth $L$ with $f(t) = t$ on
    $[0, 1]$, which has two units in $L - 2n - 5$ of its layers,

    $$\|\theta\|^2 \le 2L + 80n + 110, \qquad
      \Theta(t, t) \le 3 \cdot 4^{-n} (L - 2n - 5) + 5n + 90,$$

    with $\Theta$ over weights and biases, at all $t$ where the network is differentiable (all but
    finitely many). With $n = \lceil \frac12 \log_2 L \rceil$ the kernel is $O(\log L)$ and the cost
    $2L + O(\log L)$. And for $\|\theta\|^2 \le 2L + c_1$ the largest kernel on $[0, 1]$, divided by $L$, can be
    less than $C e^{-c_1/58}$ for large $L$: no bound $\Theta \ge cL$ holds at rank 2 with a constant that
    does not depend on $c_1$; at rank 1 it is bottleneck.ntk-linear-in-depth.

    The point is carried beside a sawtooth of itself, by which the last layers read it. A layer in
    between adds $(t^2 + p^2 + 1) 4^{-n}$, with p the sawtooth. Proof: docs/proofs/ntk-with-two-units.md.
    """
    depth = witnesses.outer_layers(n) + between
    net, deeper = (change(witnesses.sawtooth_code(n, L, t)) for L in (depth, depth + 1))
    trace = networks.ntk_trace(net, t, biases=True)
    added = networks.ntk_trace(deeper, t, biases=True) - trace
    layer = (net.activations(t)[n + 1].square().sum(-1) + 1) / 4**n
    most = linalg.scalar(Fraction(3 * between, 4**n) + 5 * n + 90, trace)
    return (
        eq(net(t), t, label="the function"),
        eq(added, layer * share, scale=trace, label="a layer"),
        leq(layer, linalg.scalar(Fraction(3, 4**n), layer), label="a layer is small"),
        leq(trace, most, label="the trace"),
        leq(net.cost(), 2 * depth + 80 * n + 110, label="the cost"),
    )
