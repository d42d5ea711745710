"""Theorem 10/19 of `bottleneck` for networks with a waist: a power of c_1 in place of e^{−c_1}."""

from fractions import Fraction

import torch

from rankcheck import Network, bound, leq, linalg, networks, paper, witnesses
from rankcheck.instances import Range, Source, away_from_zero, instances, positive


@instances
def curves(source: Source, *, pieces: Range = (1, 4), start: float = 4.0):
    """Knots of x in [0, D], of z >= 0 and of y, and how many layers have width one."""
    n, m = source.integer(*pieces), source.integer(1, 2)
    layers = source.integer(1, 4)
    steps = positive(source, 2, n)
    offset = positive(source, 1, low=0.125, high=start) if start else steps.new_zeros(1)
    knots = torch.cat((steps.new_zeros(2, 1).expand(*source.batch, 2, 1), steps.cumsum(-1)), -1)
    x, z = knots[..., 0, :], knots[..., 1, :] + offset
    rises = away_from_zero(source, n, m)
    zero = rises.new_zeros((*source.batch, 1, m))
    return x, z, torch.cat((zero, rises.cumsum(-2)), -2), layers


def through(z, y):
    """The piecewise linear function with h(z_i) = y_i, constant beyond its knots."""
    return witnesses.rank_one_interpolant(
        z.unsqueeze(-1), y, direction=torch.ones_like(z[..., :1])
    ).network()


def with_waist(x, z, y, layers) -> Network:
    """h∘g with g(x_i) = z_i and h(z_i) = y_i, and `layers` layers of width and weight one between."""
    g, h = through(x, z.unsqueeze(-1)), through(z, y)
    return witnesses.identity_layers(h, g, g.depth + h.depth + layers, z[..., :1] * 0)


def ratio_log(a, b):
    """log(a/b), and 0 where it is negative."""
    return torch.relu((a / b).log())


@bound(
    "bottleneck.narrow-waist",
    paper("rankcheck", "docs/proofs/narrow-waist.md, Theorem 1"),
    instances=curves(),
    tight=curves(pieces=(1, 1), start=0.0),
    mutants={
        "without the logarithm": {"logarithm": lambda a, b: a * 0},
        "49/50 K": {"share": Fraction(49, 50)},
        "a layer adds h'(z)²": {"power": 0},
        "t without the cost": {"half": 0},
    },
    loose={
        "a layer of the waist": "the other layers add to the trace",
        "the cost": "a shallow g or h costs far more than twice the logarithm of its slope",
        "the kernel": "Θ is taken in the middle of a piece, and two logarithms are bounded by their sum",
    },
)
def test_narrow_waist(
    x, z, y, layers, *, logarithm=ratio_log, share=1, power=2, half=Fraction(1, 2)
):
    r"""A function through a waist of width one that runs along a long path has a large tangent kernel.

    Let $f = h \circ g$ on $[0, D]$ with $g \ge 0$ and $h$ piecewise linear, $S = \int |h'|$ over the
    values of $g$, $K = \sup z\,|h'(z)|$ there and $A = (\max g - \min g) \operatorname{Lip} h$. Then
    $$S \le K \Bigl( 1 + \log_+ \frac AK \Bigr).$$
    In a network of depth $L$ and norm $\|\theta\|^2 = L + c_1$ with $m$ layers of width and weight one
    between $g$ and $h$, each of these adds $|z\,h'(z)|^2$ to $\operatorname{tr} \Theta(x, x)$, $z = g(x)$, and
    $c_1 \ge 2 \log(\operatorname{Lip} g \operatorname{Lip} h)$. So, for some $x$,
    $$\operatorname{tr} \Theta(x, x) \ge \frac{m\,S^2}{16\,t^2}, \qquad
      t = 1 + \frac{c_1}2 + \log \frac DS.$$
    As $S$ is at least the length of a shortest path through the values that $f$ has to take, it is of the
    order $N^{1 - 1/k}$ for $N$ points of a task of dimension $k$: where Theorem 10/19 has the factor
    $e^{-c_1} N^{4 - 4/k}$, this has $N^{2 - 2/k} / t^2$, which is larger unless $c_1$ is within a constant of
    its least value $2 \log S$, where both are of one order.

    Checked with $x$ in the middle of each piece. Proof: docs/proofs/narrow-waist.md.
    """
    net = with_waist(x, z, y, layers)
    run, step = x[..., 1:] - x[..., :-1], z[..., 1:] - z[..., :-1]
    lengths = (y[..., 1:, :] - y[..., :-1, :]).square().sum(-1).sqrt()
    slopes, S = lengths / step, lengths.sum(-1)
    K, A = (z[..., 1:] * slopes).amax(-1) * linalg.scalar(share, S), step.sum(-1) * slopes.amax(-1)
    middle = (x[..., 1:] + x[..., :-1]) / 2
    trace = networks.ntk_trace(net, middle.unsqueeze(-1))
    heights = (z[..., 1:] + z[..., :-1]) / 2
    added = torch.ones_like(heights) if power == 0 else heights.square()
    least = ((step / run).amax(-1) * slopes.amax(-1)).log() * 2
    t = 1 + (net.cost() - net.depth) * linalg.scalar(half, S) + (run.sum(-1) / S).log()
    return (
        leq(S, K * (1 + logarithm(A, K)), label="the path"),
        leq(layers * added * slopes.square(), trace, label="a layer of the waist"),
        leq(net.depth + least, net.cost(), label="the cost"),
        leq(layers * S.square() / (16 * t.square()), trace.amax(-1), label="the kernel"),
    )
