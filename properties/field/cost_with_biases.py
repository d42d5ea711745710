"""Penalising the biases: what one hidden layer on the line costs is ∫ √(1+x²) d|f''|."""

import torch

from rankcheck import bound, construction, costs, eq, leq, networks, paper, tolerances, witnesses
from rankcheck.instances import Source, breakpoints, instances, positive, signs


@instances
def units_of_one_variable(source: Source):
    """W (K × 1), b and a: any units; or units at two or three kinks, in multiples of 1/8."""
    K = source.integer(1, 5)
    W, a = source.tensor(K, 1), source.tensor(K)
    if source.choice(("any units", "shared kinks")) == "any units":
        return W, source.tensor(K), a
    kinks = (8 * source.tensor(2 if K < 4 else 3, low=-4.0, high=4.0)).round() / 8
    W = (8 * W).round() / 8
    return W, -W[:, 0] * kinks[[k % len(kinks) for k in range(K)]], a


@instances
def balanced_units_with_biases(source: Source):
    """Units with a² = w² + b²: at distinct kinks; or at one, with jumps of one sign."""
    K = source.integer(1, 5)
    size, side = positive(source, K, high=2.0), signs(source, K)
    if source.choice(("distinct kinks", "one kink")) == "distinct kinks":
        u, outer = breakpoints(source, K) / 16, signs(source, K)
    else:
        u, outer = source.tensor(1, low=-0.75, high=0.75) + 0 * size, signs(source, 1) + 0 * size
    # (1 − u², 2u, 1 + u²) are the sides of a right triangle; the kink is −2u/(1 − u²).
    w, b = side * size * (1 - u * u), side * size * 2 * u
    return w[:, None], b, outer * size * (1 + u * u)


def heavier(W, b, a):
    """∫ (1+x²)^{51/100} d|f''|."""
    kinks, sizes = costs.slope_jumps(W, b, a)
    return (1 + kinks * kinks) ** 0.51 @ sizes


def by_the_sum(W, b, a):
    """∫ (1 + |x|) d|f''|."""
    kinks, sizes = costs.slope_jumps(W, b, a)
    return (1 + kinks.abs()) @ sizes


@bound(
    "field.cost-with-biases",
    paper("boursier2023", "on the cost of a function, as recalled"),
    instances=units_of_one_variable(),
    tight=balanced_units_with_biases(),
    mutants={
        "weight (1+x²)^{51/100}": {"variation": heavier},
        "weight 1 + |x|": {"variation": by_the_sum},
    },
)
def test_cost_with_biases(W, b, a, *, variation=costs.variation_with_biases):
    r"""With penalised biases a network on the line costs the weighted variation of its slope.

    $\frac12 \sum_k (a_k^2 + w_k^2 + b_k^2) \ge \int \sqrt{1 + x^2}\,d|f''|(x)$ for
    $f(x) = \sum_k a_k [w_k x + b_k]_+ + px + q$: at each kink $t$ of $f$ the right side has
    $\sqrt{1 + t^2}$ times the size of the jump of $f'$. Several units may have one kink, and their
    jumps may cancel; units with $w_k = 0$ have none. The affine function $px + q$ is free.

    Equality needs $a_k^2 = w_k^2 + b_k^2$, and at each kink jumps of one sign.
    field.least-cost-with-biases has a network that attains it. Not checked: functions with
    infinitely many kinks, which are limits.
    """
    return leq(variation(W, b, a), costs.two_layer_network(W, b, a).cost() / 2)


@instances
def functions_with_kinks(source: Source):
    """Kinks t_1 < … < t_K, the slopes around them (K + 1), f(t_1), and points."""
    K, N = source.integer(1, 5), source.integer(1, 3)
    return breakpoints(source, K), source.tensor(K + 1), source.tensor(), source.tensor(N)


def balanced_without_biases(kinks, jumps):
    """|a| = w, as if the biases were free."""
    w = jumps.abs().sqrt()
    return costs.two_layer_network(w[:, None], -w * kinks, w * jumps.sign())


@construction(
    "field.least-cost-with-biases",
    paper("boursier2023", "on the cost of a function, as recalled"),
    instances=functions_with_kinks(),
    mutants={
        "not balanced": {
            "witness": lambda t, J: costs.two_layer_network(1 + 0 * J[:, None], -t, J)
        },
        "balanced without the biases": {"witness": balanced_without_biases},
        "a jump of the other sign": {
            "witness": lambda t, J: witnesses.kink_network(t, torch.cat((-J[:1], J[1:])))
        },
    },
    witness=witnesses.kink_network,
)
def test_least_cost_with_biases(kinks, slopes, value, x, *, witness=witnesses.kink_network):
    r"""One balanced unit for each kink attains the weighted variation of the slope.

    A continuous $f$ with the kinks $t_k$ and the jumps $J_k$ of the slope is
    $f(x) = px + q + \sum_k a_k [w_k x + b_k]_+$ with
    $\frac12 \sum_k (a_k^2 + w_k^2 + b_k^2) = \sum_k \sqrt{1 + t_k^2}\,|J_k|$, the lower bound of
    field.cost-with-biases: $w_k > 0$, $b_k = -w_k t_k$, $a_k w_k = J_k$, $a_k^2 = w_k^2 + b_k^2$.

    The affine function $px + q$, which is $f$ on the left of all kinks, costs nothing.
    """
    jumps, points = slopes.diff(), x[:, None]
    net = witness(kinks, jumps)
    ends = torch.cat((kinks[:1] - 1, kinks, kinks[-1:] + 1))
    f = networks.PiecewiseLinear.from_slopes(ends, slopes, value)
    affine = value + slopes[0] * (x - ends[0])
    scale = tolerances.network_scale(net, points)[:, 0] + affine.abs() + f(x).abs()
    least = (1 + kinks * kinks).sqrt() @ jumps.abs()
    return (
        eq(net(points)[:, 0] + affine, f(x), scale=scale, label="the function"),
        eq(net.cost() / 2, least, label="the cost"),
    )
