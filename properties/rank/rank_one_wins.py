"""App. D of `rank`: from some depth on, rank-one fits cost less than a true function of rank k ≥ 2."""

import torch

from rankcheck import Network, bound, leq, linalg, paper, witnesses
from rankcheck.instances import (
    Source,
    clear_of_boundaries,
    distinct_points,
    instances,
    orthogonal,
    positive,
    slope_in_range,
)


def data_of(source: Source, net: Network):
    """A point where the network is differentiable, and N ≥ 1 distinct inputs."""
    x = source.tensor(net.widths[0])
    points = distinct_points(source, source.integer(1, 5), net.widths[0])
    return clear_of_boundaries(source, net, x), x, points


@instances
def data_of_bijections(source: Source):
    """f* with invertible k × k layers and a slope > 0, so rank Jf* = k ≥ 2; a point, and inputs."""
    k, depth = source.integer(2, 3), source.integer(1, 4)
    weights = [
        orthogonal(source, k) * positive(source, k, low=0.25, high=2.0).unsqueeze(-2)
        for _ in range(depth)
    ]
    biases = [source.tensor(k, low=-4.0, high=4.0) for _ in weights]
    slope = slope_in_range(source, low=0.125, high=0.875)
    net, x, points = data_of(source, Network(weights, biases, slope))
    return net, x, points, source.tensor(low=0.0, high=1.0)


@instances
def data_of_isometries(source: Source):
    """f* orthogonal, and the least depth."""
    net = Network.linear((orthogonal(source, source.integer(2, 3)),))
    net, x, points = data_of(source, net)
    return net, x, points, torch.zeros_like(x[..., 0])


def least_depth(constant, log_determinant, k):
    """(C − 2 log|J|)/(k − 1)."""
    return (constant - 2 * log_determinant) / (k - 1)


def without_the_determinant(constant, log_determinant, k):
    """C/(k − 1)."""
    return constant / (k - 1)


def divided_by_the_rank(constant, log_determinant, k):
    """(C − 2 log|J|)/k."""
    return (constant - 2 * log_determinant) / k


@bound(
    "rank.rank-one-wins",
    paper("rank", "App. D"),
    instances=data_of_bijections(),
    tight=data_of_isometries(),
    mutants={
        "the determinant left out": {"depth": without_the_determinant},
        "k in place of k − 1": {"depth": divided_by_the_rank},
    },
    audit="left out: it is about data that a bijection maps to their targets",
)
def test_rank_one_wins(net, x, points, extra, *, depth=least_depth):
    r"""Beyond an explicit depth a rank-one fit of the data costs less than the true function.

    Let $Jf^*(x)$ have rank $k \ge 2$, and let $g$ of bottleneck rank one fit the data, with networks of
    depth $L$ and cost $L + C$. For $L > (C - 2 \log |Jf^*(x)|_+)/(k - 1)$,
    $$R(g; L) \le L + C < L \|Jf^*(x)\|_{S^{2/L}}^{2/L} \le R(f^*; L).$$

    Checked for real $L \ge 1$ from that depth to twice it, with $C$ the constant of the interpolant of
    rank.rank-one-interpolant, whose networks have every depth $L \ge 3$. The last inequality is
    rank.jacobian-bounds-cost; the middle one follows from $s^{2/L} \ge 1 + \frac2L \log s$.
    """
    fit = witnesses.rank_one_interpolant(points, net(points), net.slope)
    constant = fit.g.cost() + fit.h.cost() - 3
    logs = torch.log(linalg.singular_values(net.jacobian(x)))
    k = logs.shape[-1]
    L = (1 + extra) * depth(constant, logs.sum(-1), k).clamp(min=1)
    schatten = torch.exp(2 * logs / L.unsqueeze(-1)).sum(-1)
    return leq(L + constant, L * schatten, scale=k * L + logs.abs().sum(-1))
