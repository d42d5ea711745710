"""Section 4 of `bottleneck`: without biases the value of a network bounds its tangent kernel from below."""

from fractions import Fraction

import torch

from rankcheck import Network, bound, leq, linalg, networks, paper
from rankcheck.instances import (
    Source,
    instances,
    networks_at_points,
    networks_with_inputs,
    orthogonal,
    signs,
)

from ._slopes import least_slope


@instances
def chains_with_signs(source: Source, *, points=None, outputs=(1, 1)):
    """x ↦ one unit, weights of size t, outputs ±√n_L t times it, so that all layers add as much.

    The units are active, or all on the negative side of a slope with |a| between 1/8 and 1/2. With
    points, these are on one ray.
    """
    depth, n, k = source.integer(2, 6), source.integer(1, 3), source.integer(*outputs)
    side = source.choice((0, 1, -1))
    slope = source.tensor(low=0.125, high=0.5) * side
    t = source.tensor(1, 1, low=0.5, high=2.0)
    along = orthogonal(source, n)[..., :1]
    into = t * along.mT * (1 if side == 0 else -1)
    turn = -1 if side < 0 else 1
    out = turn * t * signs(source, k, 1)
    net = Network.linear((into, *[turn * t] * (depth - 2), out), slope)
    lengths = source.tensor(points or 1, 1, low=0.25, high=4.0)
    x = lengths * along.mT
    return net, x if points else x.squeeze(-2)


def from_the_values(net, x, outputs=1, of_slope=2):
    """L m^{2 − 2/L} n_L^{1/L} ‖x‖^{2/L} ‖f(x)‖^{2 − 2/L}, of the shape of the points."""
    L, value = net.depth, net(x)
    slopes = linalg.power(least_slope(net, x), Fraction(of_slope * (L - 1), L))
    if x.ndim > len(net.batch) + 1:
        slopes = slopes[..., None] if slopes.ndim else slopes
    count = linalg.power(linalg.scalar(net.widths[-1], value), Fraction(outputs) / L)
    rest = linalg.power((x * x).sum(-1), Fraction(1, L))
    return L * slopes * count * rest * linalg.power((value * value).sum(-1), Fraction(L - 1, L))


@bound(
    "bottleneck.ntk-trace-from-the-value",
    paper("rankcheck", "docs/proofs/ntk-trace.md, Theorem 1"),
    instances=networks_at_points(biases=False),
    tight=chains_with_signs(outputs=(1, 3)),
    needs={"no biases": networks_at_points(depth=(2, 3), width=(1, 2))},
    mutants={
        "the outputs to the power 1.04/L": {"outputs": Fraction(26, 25)},
        "the slope to the power 1.96 - 1.96/L": {"of_slope": Fraction(49, 25)},
    },
    audit="left out: it is about networks without biases",
)
def test_ntk_trace_from_the_value(net, x, *, outputs=1, of_slope=2):
    r"""Without biases the tangent kernel is large where the point and the value are.

    For a network of depth $L$ without biases, $\Theta$ over the weights, and $m = |a|$ for
    $a \ne 0$, $m = 1$ for ReLU:

    $$\operatorname{tr} \Theta(x, x) \ge L\,m^{2 - 2/L}\,n_L^{1/L}\,\|x\|^{2/L} \|f(x)\|^{2 - 2/L},$$

    and along the value $f(x)^\top \Theta(x, x) f(x) \ge
    L\,m^{2 - 2/L}\,\|x\|^{2/L} \|f(x)\|^{4 - 2/L}$, hence a bound of $\|\Theta(x, x)\|_{op}$ without
    $n_L^{1/L}$. So a network of large depth cannot learn a function with a kernel $\Theta \ll L$,
    whatever the norm of its parameters, unless it uses biases (bottleneck.ntk-below-linear).
    Equality: chains of one unit, at every depth and slope.

    Proof: docs/proofs/ntk-trace.md.
    """
    kernel, value = networks.ntk(net, x, x), net(x).unsqueeze(-1)
    trace = torch.diagonal(kernel, dim1=-2, dim2=-1).sum(-1)
    along = (value.mT @ kernel @ value).squeeze(-1).squeeze(-1)
    square = (value * value).sum((-2, -1))
    single = linalg.power(linalg.scalar(net.widths[-1], square), -Fraction(outputs) / net.depth)
    size = from_the_values(net, x, outputs, of_slope)
    return (
        leq(size, trace, label="the trace"),
        leq(size * single * square, along, label="along the value"),
    )


@bound(
    "bottleneck.flatness-without-biases",
    paper("rankcheck", "docs/proofs/ntk-trace.md, Corollary 2"),
    instances=networks_with_inputs(biases=False, slopes="relu", depth=(1, 4), points=(1, 3)),
    tight=chains_with_signs(points=2, outputs=(1, 3)),
    needs={"no biases": networks_with_inputs(depth=(2, 3), width=(1, 2), slopes="relu")},
    mutants={"the outputs to the power 1.04/L": {"outputs": Fraction(26, 25)}},
    audit="left out: it is about networks without biases",
)
def test_flatness_without_biases(net, X, *, outputs=1):
    r"""Every interpolation by a network without biases is at least as sharp as its data demand.

    Let a ReLU network of depth $L$ without biases fit $f(x_i) = y_i$ for $i \le N$, and $H$ be the
    Hessian of $\frac1{2N} \sum_i \|f_\theta(x_i) - y_i\|^2$ in the weights, with the formula for slopes
    $a \ne 0$ as in bottleneck.ntk-trace-from-the-value. Then

    $$\operatorname{tr} H = \frac1N \sum_i \operatorname{tr} \Theta(x_i, x_i) \ge
      \frac{L\,n_L^{1/L}}N \sum_{i=1}^N \|x_i\|^{2/L} \|y_i\|^{2 - 2/L}.$$

    The first equation is bottleneck.hessian-at-interpolation; the trace of the kernel is what is
    computed. No minimum is flatter, whatever its parameters; data on a ray have minima with equality.

    Proof: docs/proofs/ntk-trace.md.
    """
    kernel = networks.ntk(net, X, X)
    traces = torch.diagonal(kernel, dim1=-2, dim2=-1).sum(-1)
    return leq(from_the_values(net, X, outputs).mean(-1), traces.mean(-1))
