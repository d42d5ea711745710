"""Prop. 2/8 of `rank`: any N points are fitted by a function of rank one."""

import torch

from rankcheck import Erratum, Network, construction, eq, paper, tolerances, witnesses
from rankcheck.instances import Source, distinct_points, instances, slope


@instances
def data_sets(source: Source):
    """N distinct points x_i, any y_i, a slope, a ridge and a depth L ≥ 3."""
    count, n, m = source.integer(1, 6), source.integer(1, 3), source.integer(1, 3)
    x = distinct_points(source, count, n)
    y = source.tensor(count, m)
    return x, y, slope(source), source.tensor(low=0.125, high=2.0), source.integer(3, 16)


def for_relu(x, y, a):
    """The interpolant for ReLU, used with another slope."""
    found = witnesses.rank_one_interpolant(x, y)
    g, h = (Network(net.weights, net.biases, a) for net in (found.g, found.h))
    return witnesses.RankOneInterpolant(g, h, found.knots, found.slopes)


def not_translated(x, y, a):
    """The interpolant with its projected points moved to both sides of zero."""
    found = witnesses.rank_one_interpolant(x, y, a)
    shift = found.knots.mean(-1, keepdim=True)
    g = Network(found.g.weights, (found.g.biases[0] - shift,), a)
    h = Network(found.h.weights, (found.h.biases[0] + shift, found.h.biases[1]), a)
    return witnesses.RankOneInterpolant(g, h, found.knots, found.slopes)


@construction(
    "rank.rank-one-interpolant",
    paper("rank", "Prop. 2/8"),
    instances=data_sets(),
    mutants={
        "the kink of σ_a taken for that of ReLU": {"witness": for_relu},
        "no translation into the positive half-line": {"witness": not_translated},
    },
    witness=witnesses.rank_one_interpolant,
    errata=Erratum(
        printed=r"there is a depth $\lceil \log_2(n_0 + 1) \rceil$ networks which represents $g$ "
        "and a depth 2 network which represents the function $f$",
        right=r"The second network represents $h$, with $f = h \circ g$.",
        survives="Prop. 8.",
        weight="misprint",
        place="proof of Prop. 8",
    ),
)
def test_rank_one_interpolant(x, y, slope, ridge, depth, *, witness=witnesses.rank_one_interpolant):
    r"""Any N points are fitted through $\mathbb R^1$, at cost $1 + C_N/L$ per layer.

    For $N$ points with distinct inputs there are $g: \mathbb R^n \to \mathbb R$ of depth 1 and
    $h: \mathbb R \to \mathbb R^m$ of depth 2 with $h(g(x_i)) = y_i$. With identity layers of width 1
    in between they form a network of every depth $L \ge 3$ that fits the points, and its loss with ridge
    $\lambda$ is $\frac1N \sum_i \|f(x_i) - y_i\|^2 + \frac\lambda L \|\theta\|^2
    = \lambda (1 + C_N/L)$, $C_N = \|\theta_g\|^2 + \|\theta_h\|^2 - (L_g + L_h)$.

    $g \ge 0$ on the hull of the inputs, so the identity layers need no translation, and $C_N$ does
    not depend on the depth. The paper takes depth $\lceil \log_2(n_0 + 1) \rceil$ for $g$; one affine
    layer is enough.
    """
    f = witness(x, y, slope)
    net = witnesses.identity_layers(f.h, f.g, depth, torch.zeros_like(x[..., 0, :1]))
    errors = net(x) - y
    scale = tolerances.network_scale(net, x)
    constant = f.g.cost() + f.h.cost() - (f.g.depth + f.h.depth)
    loss = (errors * errors).sum(-1).mean(-1) + ridge * net.cost() / depth
    size = ridge * (net.cost() / depth + 1) + (scale * scale).sum(-1).mean(-1) * 2.0**-50
    return (
        eq(f.g.widths[-1], 1, label="the dimension"),
        eq(f.g.depth + f.h.depth, 3, label="the least depth"),
        eq(net(x), y, scale=scale, label="the fit"),
        eq(
            f.network()(x),
            y,
            scale=tolerances.network_scale(f.network(), x),
            label="the fit at depth two",
        ),
        eq(loss, ridge * (1 + constant / depth), scale=size, label="the loss"),
    )
