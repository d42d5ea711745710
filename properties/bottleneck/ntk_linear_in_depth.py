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
    return networks.Network.linear(weights, slope), torch.cat((r, -r), -2)


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
        "0.51 in place of a half": {"share": Fraction(51, 100)},
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
def test_ntk_linear_in_depth(net, ends, *, norms=1, share=Fraction(1, 2)):
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
    L = net.depth
    values = net(ends)
    rise = values[..., 0, :] - values[..., 1, :]
    slopes = linalg.operator_norm(net.jacobian(ends))
    least = slopes.amin(-1)
    exponent = (net.cost() - L) * linalg.scalar(Fraction(-(L + 1), L) * norms, least)
    size = least * least * (rise * rise).sum(-1) * exponent.exp()
    return leq(size * L * linalg.scalar(share, size), networks.ntk_trace(net, ends).sum(-1))


@instances
def codes(source: Source):
    """K, a depth, and for each of the 4K pieces of [0, 1] a point on it."""
    K, depth = source.integer(1, 5), source.integer(4, 12)
    inside = source.tensor(4 * K, low=0.125, high=0.875)
    t = (torch.arange(4 * K, device=inside.device) + inside) / (4 * K)
    return K, depth, t.unsqueeze(-1)


def uncut(net):
    """The network whose summands do not end at 1."""
    last = net.weights[-1]
    half = last.shape[-1] // 2
    cut = torch.cat((last[..., :half], 0 * last[..., half:]), -1)
    return net.with_parameters((*net.weights[:-1], cut), net.biases)


@construction(
    "bottleneck.ntk-below-linear",
    paper("bottleneck", "§4"),
    instances=codes(),
    mutants={
        "steps that do not end": {"change": uncut},
        "a layer adds 2 % less": {"share": Fraction(49, 50)},
    },
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
    batch = tuple(t.shape[:-2])
    net = change(witnesses.progress_code(K, depth, t, batch))
    deeper = change(witnesses.progress_code(K, depth + 1, t, batch))
    trace = networks.ntk_trace(net, t, biases=True)
    added = networks.ntk_trace(deeper, t, biases=True) - trace
    code = net.activations(t)[2]
    layer = ((code * code).sum(-1) + 1) / K**2
    most = linalg.scalar(Fraction(25, 8 * K) + Fraction(1, K * K), trace)
    return (
        eq(net(t), t, label="the function"),
        eq(added, layer * linalg.scalar(share, layer), scale=trace, label="a layer"),
        leq(layer, most, label="a layer is small"),
        leq(trace, most * (depth - 4) + 8 * K + 12, label="the trace"),
    )
