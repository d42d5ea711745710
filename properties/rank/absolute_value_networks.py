"""Remark 1 of `rank`: networks of absolute values do not represent every function."""

import torch

from rankcheck import Network, bound, leq, paper, tolerances
from rankcheck.instances import STEEPEST, Source, instances, network


@instances
def absolute_value_networks(source: Source):
    """Networks of depth ≥ 2 with σ = |·|, a point and a large factor t."""
    net = network(source, depth=(2, 5), slopes="relu")
    x = source.tensor(net.widths[0])
    t = 2.0 ** source.integer(0, 10)
    return Network.unchecked_slope(net.weights, net.biases, -1.0), x, t


@instances
def leaky_networks(source: Source):
    """The same with a slope in (−1, 1) and small biases."""
    net, x, t = absolute_value_networks()(source)
    slope = source.tensor(low=-STEEPEST, high=STEEPEST)
    return Network(net.weights, [b / 64 for b in net.biases], slope), x, t


@instances
def offsets(source: Source):
    """One hidden unit |t x + b| with t|x| ≥ |b|: the difference is 2|b|."""
    b = source.tensor(1, low=-2.0, high=2.0)
    one = torch.ones_like(b).unsqueeze(-1)
    x = source.tensor(1, low=2.0, high=8.0)
    return Network.unchecked_slope((one, one), (b, torch.zeros_like(b)), -1.0), x, 1.0


@bound(
    "rank.absolute-value-networks",
    paper("rank", "Remark 1"),
    instances=absolute_value_networks(),
    tight=offsets(),
    needs={"|a| = 1": leaky_networks()},
    audit="left out: it is about networks for the absolute value",
)
def test_absolute_value_networks(net, x, t):
    r"""Networks of absolute values are even up to a constant.

    With $\sigma = |\cdot|$ and $L \ge 2$:
    $|f(tx) - f(-tx)| \le 2\,|W_L| \cdots |W_2|\,|b_1|$, entry by entry, for every $t$. So
    $\sup_t \|f(tx) - f(-tx)\| < \infty$, and such networks cannot represent every piecewise-linear
    function.

    The proof: $||u + b| - |u - b|| \le 2|b|$ in the first layer, and $||u| - |v|| \le |u - v|$ in
    the layers behind it.
    """
    bound = 2 * net.biases[0].abs()
    for w in net.weights[1:]:
        bound = (w.abs() @ bound.unsqueeze(-1)).squeeze(-1)
    return leq((net(t * x) - net(-t * x)).abs(), bound, scale=tolerances.network_scale(net, t * x))
